//! The answer to a request for a file of the page, if this build has one. Not here: the files (`static_files`), who may ask
//! (`request_guard`).

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Body as _;
use hyper::body::Incoming;
use hyper::http::request::Parts;

use crate::request_guard::Refusal;
use crate::response_body::Body;

/// Answers a request for a file of the page. It takes none of the calls, and keeps no retriever running: a page that is
/// open and asks nothing is no client.
pub(super) fn page(parts: &Parts, body: &Incoming) -> Result<Response<Body>, Refusal> {
    Ok(crate::static_files::answer(parts, !body.is_end_stream()).map(BodyExt::boxed))
}
