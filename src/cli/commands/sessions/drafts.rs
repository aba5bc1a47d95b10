//! The lessons that a language model writes for candidates of past sessions: which candidates it is asked about, and what of its
//! answers may be saved. Not here: one question to it (`providers::chat_model`), saving and what a person says (`session_review`).

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::chat_failure::chat_error;
use providers::chat_model::ChatModel;
use reply::{draft_json, draft_text, short_fingerprint};
use requests::ApiError;
use sessions::candidate_rows::WaitingCandidate;
use sessions::lesson_draft::LessonDraft;
use sessions::session_judgement::candidate_suspicion;
use settings::Config;

/// A model, and how often it may be asked.
pub(crate) struct LessonDrafter<'a> {
    model: ChatModel<'a>,
    limit: usize,
}

/// Accepted candidates, by what the model made of them.
pub(crate) struct SiftedCandidates<'w> {
    asked: Vec<(&'w WaitingCandidate, LessonDraft)>,
    not_asked: usize,
    limit: usize,
}

impl<'a> LessonDrafter<'a> {
    /// Takes the model of the configuration, which is asked about at most `limit` candidates.
    pub(crate) fn configured(
        config: &Config,
        lookup: &'a dyn Fn(&str) -> Option<OsString>,
        limit: usize,
    ) -> Result<Self, ApiError> {
        let model = ChatModel::configured(config, lookup).map_err(chat_error)?;
        Ok(Self { model, limit })
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Asks about one candidate. What reads like an order is not read to a model.
    pub(crate) fn draft(&self, waiting: &WaitingCandidate) -> Result<LessonDraft, ApiError> {
        match candidate_suspicion(&waiting.candidate, &waiting.asked) {
            Some(why) => Ok(LessonDraft::Refused(format!("the model was not asked: it {why}"))),
            None => self.model.draft_lesson(waiting).map_err(chat_error),
        }
    }

    pub(crate) fn draft_each(
        &self,
        waiting: &[WaitingCandidate],
    ) -> Result<Vec<LessonDraft>, ApiError> {
        waiting.iter().take(self.limit).map(|each| self.draft(each)).collect()
    }

    /// Asks about accepted candidates.
    pub(crate) fn sift<'w>(
        &self,
        accepted: &[&'w WaitingCandidate],
    ) -> Result<SiftedCandidates<'w>, ApiError> {
        let asked = accepted.iter().take(self.limit).map(|each| Ok((*each, self.draft(each)?)));
        Ok(SiftedCandidates {
            asked: asked.collect::<Result<_, ApiError>>()?,
            not_asked: accepted.len().saturating_sub(self.limit),
            limit: self.limit,
        })
    }
}

impl<'w> SiftedCandidates<'w> {
    /// Returns those that have a lesson to save.
    pub(crate) fn written(&self) -> impl Iterator<Item = (&'w WaitingCandidate, &str)> {
        self.asked.iter().filter_map(|(each, draft)| match draft {
            LessonDraft::Written(lesson) => Some((*each, lesson.as_str())),
            LessonDraft::Nothing(_) | LessonDraft::Refused(_) => None,
        })
    }

    fn count(&self, is_counted: impl Fn(&LessonDraft) -> bool) -> usize {
        self.asked.iter().filter(|(_, draft)| is_counted(draft)).count()
    }

    fn thrown_out(&self) -> usize {
        self.count(|draft| matches!(draft, LessonDraft::Nothing(_)))
    }

    fn refused(&self) -> usize {
        self.count(|draft| matches!(draft, LessonDraft::Refused(_)))
    }

    /// Tells what was made of each.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{} drafted, {} thrown out, {} refused; what is not saved keeps waiting.",
            self.written().count(),
            self.thrown_out(),
            self.refused()
        );
        for (each, draft) in &self.asked {
            let name = short_fingerprint(&each.candidate.fingerprint);
            text.push_str(&format!("\n{name} {}", draft_text(draft)));
        }
        if self.not_asked > 0 {
            let (number, limit) = (self.not_asked, self.limit);
            text.push_str(&format!("\nNot asked about {number} more (--limit {limit})."));
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let each = self.asked.iter().map(|(each, draft)| {
            json!({ "fingerprint": each.candidate.fingerprint, "draft": draft_json(draft) })
        });
        json!({
            "candidates": each.collect::<Vec<_>>(),
            "written": self.written().count(),
            "thrown_out": self.thrown_out(),
            "refused": self.refused(),
            "not_asked": self.not_asked,
        })
    }
}
