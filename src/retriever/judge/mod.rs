//! The judge of possible contradictions: a language model, if the configuration names one. Only
//! `review --judge` asks it; its decisions are shown, and applied only with `--apply`. Not here:
//! finding the pairs (`search`), writing the changes (`api::local`).

mod decision;
mod program;
mod question;
mod server;

use std::ffi::OsString;

pub use decision::{Decided, Decision};

use api::ApiError;
use question::Question;
use store::Judge;
use writer::exit::Exit;

/// How long one answer may take, in seconds: a large model on a small machine is slow.
const ANSWER_SECONDS_MAX: u64 = 60;
/// The longest answer, in bytes: a decision is a few lines.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// Asks about two memories, given as the JSON of a review.
///
/// # Errors
/// [`ApiError::Failed`] where the judge does not answer, or its answer has no decision.
pub fn decided(
    judge: &Judge,
    pair: &serde_json::Value,
    lookup: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Decided, ApiError> {
    let question = Question::about(pair);
    let answer = match judge {
        Judge::Command(words) => program::ask(words, &question.request("default")),
        Judge::Server { url, model, key_env } => {
            let key = key_env.as_deref().map(|name| key(name, lookup)).transpose()?;
            server::ask(url, key.as_deref(), &question.request(model))
        }
    };
    let answer = answer.map_err(|why| failed(&format!("failed to ask the judge: {why}")))?;
    Decided::read(&answer).map_err(|why| failed(&format!("failed to understand the judge: {why}")))
}

fn key(name: &str, lookup: &dyn Fn(&str) -> Option<OsString>) -> Result<String, ApiError> {
    let key = lookup(name).and_then(|key| key.into_string().ok()).filter(|key| !key.is_empty());
    key.ok_or_else(|| {
        failed(&format!("the variable {name}, which [judge] names as key_env, is not set"))
    })
}

fn failed(message: &str) -> ApiError {
    ApiError::Failed { exit: Exit::Unavailable, message: message.to_owned() }
}
