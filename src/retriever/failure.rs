//! Turns errors of the rooms below into errors of a command. Not here: exit codes (`writer::exit`).

use requests::ApiError;
use sessions::session_store::SessionError;
use settings::{Config, ConfigTable};
use store::StoreError;
use writer::RecordError;
use writer::exit::Exit;

/// Returns the error of something that this machine lacks.
pub fn unavailable_error(message: String) -> ApiError {
    ApiError::Failed { exit: Exit::Unavailable, message }
}

/// Returns the error of kept sessions that cannot be read or written.
pub fn session_store_error(error: &SessionError) -> ApiError {
    ApiError::Failed { exit: Exit::Io, message: error.to_string() }
}

/// Returns the error of a store that cannot be read or written.
pub fn store_error(error: &StoreError) -> ApiError {
    ApiError::Failed { exit: Exit::of_store(error), message: format!("failed to {error}") }
}

/// Says why nothing was written.
pub fn write_error(error: &RecordError) -> ApiError {
    match error {
        RecordError::Invalid(problems) => ApiError::Invalid(problems.clone()),
        RecordError::Store(error) => store_error(error),
        RecordError::NotSaved { .. } => {
            ApiError::Failed { exit: Exit::of_record(error), message: error.to_string() }
        }
    }
}

/// Refuses what a table of the settings allows while it holds something that this version does not know: it may be a rule of a
/// newer version about what stays on this machine.
pub fn refuse_unknown_keys(config: &Config, section: ConfigTable) -> Result<(), ApiError> {
    config.hold(section).map_or(Ok(()), |finding| {
        Err(ApiError::Failed { exit: Exit::Config, message: finding.to_string() })
    })
}
