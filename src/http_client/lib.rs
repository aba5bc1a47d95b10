//! The one HTTP client, for every server that the settings may name: models of others, an engine for memories. Each request has a
//! deadline and a bound on its answer, follows no redirect, and leaves this machine inside TLS alone.
//!
//! In reading order: `server_url` (where a request may go), `http_exchange` (one request and its answer). Not here: when a request is
//! sent again and what an answer means (`providers`, `corpus`), our own servers (`web`, `grpc`).

mod http_exchange;
mod server_url;

pub use http_exchange::{HttpAnswer, HttpClient, HttpError, HttpRequest, KeyHeader, ServerAccess};
pub use server_url::{PlainHttp, ServerUrl, UrlFault};
pub use ureq::http::Method;
