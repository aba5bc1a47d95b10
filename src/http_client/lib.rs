//! The one HTTP client, for every server that the settings may name: external models, an engine for memories, a team's server. Each
//! request has a deadline and a bound on its answer, and follows no redirect.
//!
//! In reading order: `server_url` (where a request may go), `tls_trust` (who is believed there), `http_exchange` (one request and its
//! answer). It blocks: a caller that must go on sends from another thread. Not here: when a request is sent again and what an answer
//! means (`providers`, `corpus`, `remote`), our own servers (`web`, `grpc`).

mod http_exchange;
mod server_url;
#[cfg(test)]
mod tests;
mod tls_trust;

pub use http_exchange::{HttpAnswer, HttpClient, HttpError, HttpRequest, KeyHeader, ServerAccess};
pub use server_url::{PlainHttp, ServerUrl, UrlFault};
pub use tls_trust::{Authorities, TlsTrust};
pub use ureq::http::Method;
