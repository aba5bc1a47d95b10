//! Turns a panic in one request into an error of that request, so that the retriever of all agents goes on.
//! Needs unwinding: the release profile must not abort. Not here: what a request does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use api::ApiError;
use writer::exit::Exit;

/// Runs one request. A panic in it becomes [`ApiError::Failed`]; the panic's own message is on standard error
/// already.
///
/// # Errors
/// As the request.
pub fn survive<T>(request: impl FnOnce() -> Result<T, ApiError>) -> Result<T, ApiError> {
    // What a request shares with others is behind locks, and each of those says what a panic means for it.
    catch_unwind(AssertUnwindSafe(request)).unwrap_or_else(|_| {
        let message = "this request met a bug of ours and was given up; others are answered";
        Err(ApiError::Failed { exit: Exit::Internal, message: message.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_its_request_alone() {
        let failed = survive::<()>(|| panic!("on purpose"));
        let is_internal = |error: &ApiError| matches!(error, ApiError::Failed { exit: Exit::Internal, message } if message.contains("bug"));
        assert!(failed.as_ref().is_err_and(is_internal), "{failed:?}");
        assert_eq!(survive(|| Ok(1)).ok(), Some(1));
    }

    #[test]
    fn the_release_profile_unwinds() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
        assert!(manifest["profile"]["release"].get("panic").is_none(), "{manifest:?}");
    }
}
