//! How a command ends when the model of `[judge]` gives no answer. Not here: the words (`providers::chat_model`).

use providers::chat_model::ChatError;
use requests::ApiError;
use writer::exit::Exit;

/// Returns the failure of the command.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub(super) fn chat_error(error: ChatError) -> ApiError {
    let exit = match error {
        ChatError::NotConfigured(_) => Exit::Config,
        ChatError::PrivateMemory => Exit::Invalid,
        ChatError::Unavailable(_) => Exit::Unavailable,
    };
    ApiError::Failed { exit, message: error.to_string() }
}
