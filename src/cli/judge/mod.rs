//! The language model that the configuration may name in its table `[judge]`. Only three commands ask it: `review --judge`, which
//! of two memories holds, `sessions review --draft`, what a past session teaches, and `tag --ask`, which tags fit a memory. Its
//! answers are shown; nothing is changed or saved before a person says so. Not here: finding what to ask about (`search`, `sessions`), writing (`writer`).

mod answer_bounds;
mod chat;
pub mod decision;
mod https;
mod lesson_question;
mod program;
mod question;
mod server;
mod tag_question;

use std::ffi::OsString;

use crate::judge::decision::Decided;

use crate::judge::chat::ChatRequest;
use api::ApiError;
use sessions::candidate_rows::WaitingCandidate;
use sessions::lesson_draft::LessonDraft;
use settings::{Config, ConfigTable, Judge};
use writer::exit::Exit;

/// The model with what is needed to ask it.
pub struct ChatModel<'a> {
    judge: Judge,
    lookup: &'a dyn Fn(&str) -> Option<OsString>,
}

impl<'a> ChatModel<'a> {
    /// Takes the model of the configuration. `lookup` finds the variable that holds its key.
    ///
    /// # Errors
    /// [`ApiError::Failed`] where the configuration names none, or where its table is held.
    pub fn configured(
        config: &Config,
        lookup: &'a dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ApiError> {
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
        let judge = judge.ok_or(ApiError::Failed { exit: Exit::Config, message: why })?;
        Ok(Self { judge, lookup })
    }

    /// Asks about two memories, given as the JSON of a review.
    ///
    /// # Errors
    /// [`ApiError::Failed`] where the judge does not answer, or its answer has no decision.
    pub fn decided(&self, pair: &serde_json::Value) -> Result<Decided, ApiError> {
        let answer = self.answer(&question::which_holds(pair))?;
        Decided::read(&answer)
            .map_err(|why| unavailable(&format!("failed to understand the judge: {why}")))
    }

    /// Asks for the lesson of a candidate.
    ///
    /// # Errors
    /// [`ApiError::Failed`] where the model does not answer.
    pub fn drafted(&self, waiting: &WaitingCandidate) -> Result<LessonDraft, ApiError> {
        let answer = self.answer(&lesson_question::what_it_teaches(waiting))?;
        Ok(lesson_question::read(&answer, &waiting.candidate))
    }

    /// Asks for tags of a memory, given as the JSON of `show`. `known` are tags of others that may fit.
    ///
    /// # Errors
    /// [`ApiError::Failed`] where the memory is private, or where the model does not answer with tags.
    pub fn tags(
        &self,
        memory: &serde_json::Value,
        known: &[String],
    ) -> Result<Vec<String>, ApiError> {
        if memory.get("private") == Some(&serde_json::Value::Bool(true)) {
            let message =
                "this memory is private, so no model is asked about it; name the tags yourself";
            return Err(ApiError::Failed { exit: Exit::Invalid, message: message.to_owned() });
        }
        let answer = self.answer(&tag_question::which_tags(memory, known))?;
        tag_question::read(&answer).map_err(|why| unavailable(&why))
    }

    fn answer(&self, request: &ChatRequest) -> Result<String, ApiError> {
        let answer = match &self.judge {
            Judge::Command(words) => program::ask(words, &request.for_model("default")),
            Judge::Server { url, model, key_env } => {
                let key = key_env.as_deref().map(|name| self.key(name)).transpose()?;
                let request = request.for_model(model);
                match url.starts_with("https://") {
                    true => https::ask(url, key, &request),
                    false => server::ask(url, key.as_deref(), &request),
                }
            }
        };
        answer.map_err(|why| unavailable(&format!("failed to ask the model of [judge]: {why}")))
    }

    fn key(&self, name: &str) -> Result<String, ApiError> {
        let key = (self.lookup)(name).and_then(|key| key.into_string().ok());
        key.filter(|key| !key.is_empty()).ok_or_else(|| {
            unavailable(&format!("the variable {name}, which [judge] names as key_env, is not set"))
        })
    }
}

fn unavailable(message: &str) -> ApiError {
    ApiError::Failed { exit: Exit::Unavailable, message: message.to_owned() }
}
