//! The error of a store as that of a command. Not here: reading stores (`exchange`).

use crate::commands::import::import_site::neutral_line;
use exchange::error::ExchangeError;
use requests::ApiError;
use writer::exit::Exit;

/// Turns the error of a store into that of a command.
pub(crate) fn exchange_error(error: &ExchangeError) -> ApiError {
    let exit = match error {
        ExchangeError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound => {
            Exit::NotFound
        }
        ExchangeError::Io { .. } | ExchangeError::Database(_) => Exit::Io,
        ExchangeError::Form { .. } => Exit::NotFound,
    };
    ApiError::Failed { exit, message: neutral_line(&error.to_string()) }
}
