//! The language model that the configuration may name in its table `[judge]`. Only three commands ask it: `review --judge`, which
//! of two memories holds, `sessions review --draft`, what a past session teaches, and `tag --ask`, which tags fit a memory. Not here:
//! sending (`chat`), finding what to ask about (`search`, `sessions`), what becomes of the answer (`cli`).

mod chat_request;
mod decision;
mod lesson_question;
mod pair_question;
mod tag_question;

use std::ffi::OsString;

use serde_json::Value;

use self::chat_request::ChatRequest;
pub use self::decision::{Decision, ReasonedDecision};
use crate::chat;
use sessions::candidate_rows::WaitingCandidate;
use sessions::lesson_draft::LessonDraft;
use settings::{Config, ConfigTable, Judge};

/// Why the model of `[judge]` gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// The configuration names none, or its table is held.
    #[error("{0}")]
    NotConfigured(String),
    /// No model is asked about this memory.
    #[error("this memory is private, so no model is asked about it; name the tags yourself")]
    PrivateMemory,
    /// It does not answer, or not what it is asked.
    #[error("{0}")]
    Unavailable(String),
}

/// The model with what is needed to ask it.
pub struct ChatModel<'a> {
    judge: Judge,
    lookup: &'a dyn Fn(&str) -> Option<OsString>,
}

impl<'a> ChatModel<'a> {
    /// Takes the model of the configuration. `lookup` finds the variable that holds its key.
    ///
    /// # Errors
    /// [`ChatError::NotConfigured`] where the configuration names none, or where its table is held.
    pub fn configured(
        config: &Config,
        lookup: &'a dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ChatError> {
        let form = Judge::FORM;
        let why = config.hold(ConfigTable::Judge).map_or_else(
            || {
                format!(
                    "no language model is configured: add a table [judge] to config.toml; {form}"
                )
            },
            ToString::to_string,
        );
        let judge = config.judge.clone();
        let judge = judge.ok_or(ChatError::NotConfigured(why))?;
        Ok(Self { judge, lookup })
    }

    /// Asks about two memories, given as the JSON of a review.
    ///
    /// # Errors
    /// [`ChatError`] where the judge does not answer, or its answer has no decision.
    pub fn decide(&self, pair: &Value) -> Result<ReasonedDecision, ChatError> {
        let answer = self.answer(&pair_question::pair_request(pair))?;
        ReasonedDecision::read(&answer)
            .map_err(|why| unavailable(&format!("failed to understand the judge: {why}")))
    }

    /// Asks for the lesson of a candidate.
    ///
    /// # Errors
    /// [`ChatError`] where the model does not answer.
    pub fn draft_lesson(&self, waiting: &WaitingCandidate) -> Result<LessonDraft, ChatError> {
        let answer = self.answer(&lesson_question::lesson_request(waiting))?;
        Ok(lesson_question::read(&answer, &waiting.candidate))
    }

    /// Asks for tags of a memory, given as the JSON of `show`. `known` are tags of others that may fit.
    ///
    /// # Errors
    /// [`ChatError`] where the memory is private, or where the model does not answer with tags.
    pub fn tags(&self, memory: &Value, known: &[String]) -> Result<Vec<String>, ChatError> {
        if memory.get("private") == Some(&Value::Bool(true)) {
            return Err(ChatError::PrivateMemory);
        }
        let answer = self.answer(&tag_question::tag_request(memory, known))?;
        tag_question::read(&answer).map_err(|why| unavailable(&why))
    }

    fn answer(&self, request: &ChatRequest) -> Result<String, ChatError> {
        let answer = match &self.judge {
            Judge::Command(words) => chat::ask_program(words, &request.for_model("default")),
            Judge::Server { url, model, key_env } => {
                let key = key_env.as_deref().map(|name| self.key(name)).transpose()?;
                chat::ask_server(url, key, &request.for_model(model))
            }
        };
        answer.map_err(|why| unavailable(&format!("failed to ask the model of [judge]: {why}")))
    }

    fn key(&self, name: &str) -> Result<String, ChatError> {
        let key = (self.lookup)(name).and_then(|key| key.into_string().ok());
        key.filter(|key| !key.is_empty()).ok_or_else(|| {
            unavailable(&format!("the variable {name}, which [judge] names as key_env, is not set"))
        })
    }
}

fn unavailable(message: &str) -> ChatError {
    ChatError::Unavailable(message.to_owned())
}
