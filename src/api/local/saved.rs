//! What is saved: made ready, held against what is known, written through the door, and told. Not here: what is
//! said a second time (`again`), what it may contradict (`reviewed`).

use std::fmt::Write;

use serde_json::json;

use super::{Local, UNNAMED, again};
use crate::ApiError;
use engine::View;
use event::{Draft, fits_short_field};
use reply::Reply;
use store::{Destination, Durability};
use writer::exit::Exit;
use writer::{Receipt, RecordError, WAITS};

impl Local {
    pub(super) fn saved(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        let mut draft = draft;
        // A name we were not given but found may not be why a memory is refused.
        let client = client.filter(|name| fits_short_field(name));
        self.writer.identity.vouch_for_model(&mut draft, client);
        if self.here.is_none() && draft.repo.is_none() {
            // Among the other problems, so that all are told at once.
            draft.problems.add("repo", UNNAMED);
        }
        let moment = (self.core.clock)();
        let prepared = self.writer.prepare(draft, moment).map_err(unwritten)?;
        let View { snapshot, .. } = self.view()?;
        let kin = self.kin_of(prepared.event(), prepared.repo(), &snapshot);
        if let Some(known) = again::copy_of(prepared.event(), &kin) {
            return self.said_again(known, prepared.event());
        }
        // What the new line changes is copied for as long as somebody holds the state before.
        drop(snapshot);
        let written = self.writer.append(prepared, Durability::Written);
        let receipt = written.map_err(|error| unwritten(error.into()))?;
        let mut text = format!("Saved as {} for {}.", receipt.id, receipt.repo);
        if receipt.place == Destination::Spool {
            let _ = write!(text, " Note: {WAITS}.");
        }
        let mut json = json!({ "id": receipt.id.as_str(), "repo": receipt.repo.as_str(), "status": "written" });
        if let (Some(why), Some(json)) = (receipt.flagged(), json.as_object_mut()) {
            text.push_str(&format!(" {}", why.advice()));
            json.insert("flagged".to_owned(), why.as_str().into());
        }
        if let Some(json) = json.as_object_mut().filter(|_| !kin.is_empty()) {
            text.push_str(&reply::kin(&kin));
            json.insert("similar".to_owned(), reply::kin_json(&kin));
        }
        Ok(Reply::new(text, json))
    }

    /// Writes through the door.
    pub(super) fn recorded(&self, draft: Draft) -> Result<Receipt, ApiError> {
        let written = self.writer.record(draft, (self.core.clock)(), Durability::Written);
        written.map_err(unwritten)
    }
}

/// Says why nothing was written.
fn unwritten(error: RecordError) -> ApiError {
    let exit = Exit::of_record(&error);
    match error {
        RecordError::Invalid(problems) => ApiError::Invalid(problems),
        RecordError::Store(error) => {
            ApiError::Failed { exit, message: format!("failed to {error}") }
        }
    }
}
