//! Saving: prepare the event, compare it with what is known, write it, and report. Not here: exact repetitions
//! (`duplicates`), possible contradictions (`contradictions`).

use std::fmt::Write;

use serde_json::json;

use super::repositories::UNNAMED;
use super::write::{tell, unwritten};
use super::{Local, contradictions, duplicates, snapshots};
use crate::ApiError;
use engine::View;
use event::{Draft, fits_short_field};
use reply::Reply;
use store::{Destination, Durability};
use writer::WAITS;

pub(super) fn save(local: &Local, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
    let mut draft = draft;
    // The name of the client was found, not given: it must not be a reason to refuse a memory.
    let client = client.filter(|name| fits_short_field(name));
    local.writer.identity.vouch_for_model(&mut draft, client);
    if local.here.is_none() && draft.repo.is_none() {
        // Added to the other problems, so that all are reported at once.
        draft.problems.add("repo", UNNAMED);
    }
    if local.answers_others && draft.private {
        let why = "is not possible on a server for other machines: a private memory never leaves its machine; leave it out";
        draft.problems.add("private", why);
    }
    let is_retry = draft.is_retry;
    let moment = (local.core.clock)();
    let prepared = local.writer.prepare(draft, moment).map_err(unwritten)?;
    let (repo, id) = (prepared.repo(), prepared.id());
    if is_retry && local.writer.store.holds_recent(repo, id) {
        let json = json!({ "id": id.as_str(), "repo": repo.as_str(), "status": "written" });
        return Ok(Reply::new(format!("Saved as {id} for {repo}."), json));
    }
    let View { snapshot, .. } = snapshots::view(local)?;
    let kin = contradictions::kin_of(local, prepared.event(), prepared.repo(), &snapshot);
    if let Some(known) = duplicates::copy_of(prepared.event(), &kin) {
        return duplicates::confirm(local, known, prepared.event());
    }
    // While a snapshot is held, the engine must copy what the new line changes.
    drop(snapshot);
    let written = local.writer.append(prepared, Durability::Written);
    let receipt = written.map_err(|error| unwritten(error.into()))?;
    tell(local, &receipt);
    let mut text = format!("Saved as {} for {}.", receipt.id, receipt.repo);
    if receipt.place == Destination::Spool {
        let _ = write!(text, " Note: {WAITS}.");
    }
    let mut json =
        json!({ "id": receipt.id.as_str(), "repo": receipt.repo.as_str(), "status": "written" });
    if let (Some(message), Some(json)) = (receipt.redacted.message(), json.as_object_mut()) {
        let _ = write!(text, " {message}.");
        json.insert("redacted".to_owned(), json!(receipt.redacted.rules()));
    }
    if let (Some(why), Some(json)) = (receipt.flagged(), json.as_object_mut()) {
        text.push_str(&format!(" {}", why.advice()));
        json.insert("flagged".to_owned(), why.as_str().into());
    }
    if let Some(json) = json.as_object_mut().filter(|_| !kin.is_empty()) {
        text.push_str(&reply::similar(&kin));
        json.insert("similar".to_owned(), reply::similar_json(&kin));
    }
    Ok(Reply::new(text, json))
}
