//! The body of every response. Not here: what is in it.

use std::convert::Infallible;

use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;

pub type Body = BoxBody<Bytes, Infallible>;
