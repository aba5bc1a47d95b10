//! The answer to a request for a file of the page, if this build has one. Not here: the files (`static_files`), who may ask
//! (`request_guard`).

#[cfg(feature = "web")]
use http_body_util::BodyExt;
use hyper::Response;
#[cfg(feature = "web")]
use hyper::body::Body as _;
use hyper::body::Incoming;
use hyper::http::request::Parts;

use super::super::request_guard::Refusal;
use super::Body;

/// Answers a request for a file of the page. It takes none of the calls, and keeps no retriever running: a page that is
/// open and asks nothing is no client.
#[cfg(feature = "web")]
pub(super) fn page(parts: &Parts, body: &Incoming) -> Result<Response<Body>, Refusal> {
    Ok(super::super::static_files::answer(parts, !body.is_end_stream()).map(BodyExt::boxed))
}

/// This build has no page, and the check of the head lets no such path through.
#[cfg(not(feature = "web"))]
pub(super) fn page(_: &Parts, _: &Incoming) -> Result<Response<Body>, Refusal> {
    Err(Refusal::Path)
}
