//! Turns a panic in a request into an error of that request, so that the shared retriever goes on.
//! It needs unwinding, so the release profile must not abort. Not here: the request.

use std::panic::{AssertUnwindSafe, catch_unwind};

use requests::ApiError;
use writer::exit::Exit;

/// Runs one request. A panic becomes [`ApiError::Failed`]. Its message is already on standard
/// error.
///
/// # Errors
/// Those of the request.
pub fn catch_panic<T>(request: impl FnOnce() -> Result<T, ApiError>) -> Result<T, ApiError> {
    // Data shared between requests is behind locks, and each lock handles a panic of its holder.
    catch_unwind(AssertUnwindSafe(request)).unwrap_or_else(|_| {
        let message = "a bug in this program stopped this request; other requests go on";
        Err(ApiError::Failed { exit: Exit::Internal, message: message.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_of_its_request() {
        let failed = catch_panic::<()>(|| panic!("on purpose"));
        let is_internal = |error: &ApiError| matches!(error, ApiError::Failed { exit: Exit::Internal, message } if message.contains("bug"));
        assert!(failed.as_ref().is_err_and(is_internal), "{failed:?}");
        assert_eq!(catch_panic(|| Ok(1)).ok(), Some(1));
    }

    #[test]
    fn the_release_profile_unwinds() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
        assert!(manifest["profile"]["release"].get("panic").is_none(), "{manifest:?}");
    }
}
