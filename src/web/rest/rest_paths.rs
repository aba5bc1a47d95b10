//! Which paths of REST there are, known before anybody is let in. Not here: who may use them (`request_guard`), their answers.

use crate::rest::sign_in::{SIGN_IN, SIGN_IN_CODE};
use requests::rest_forms::PREFIX;
use requests::verbs::VERBS;

/// The path of the stream of events, below [`PREFIX`].
pub const EVENTS_PATH: &str = "events";

/// The path of the document, below [`PREFIX`].
pub const OPENAPI_PATH: &str = "openapi.json";

/// Tells whether there is something at a path.
pub fn has_path(path: &str) -> bool {
    let Some(path) = path.strip_prefix(PREFIX) else { return false };
    let is_own = [SIGN_IN, SIGN_IN_CODE, OPENAPI_PATH, EVENTS_PATH].contains(&path);
    is_own || VERBS.iter().any(|verb| verb.place_in(path).is_some())
}
