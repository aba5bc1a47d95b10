//! Saving: prepare the event, compare it with what is known, write it, and report. Not here: what is
//! known of it already (`duplicates`).

use std::fmt::Write;

use super::duplicates;
use super::write::{notify_engine, write_error};
use crate::local::repositories::path_elsewhere;
use crate::local::{Local, snapshots};
use engine::EngineView;
use event::{Draft, EventId, Problems, RepoKey, fits_short_field};
use reply::{Reply, SaveAnswer, SimilarMemory};
use requests::ApiError;
use search::snapshot::{CitedMemory, Snapshot};
use store::{Destination, Durability};
use writer::WAITS;

/// What becomes of a save that was not known.
const WRITTEN: &str = "written";

pub(crate) fn save(local: &Local, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
    let mut draft = draft;
    // The name of the client was found, not given: it must not be a reason to refuse a memory.
    let client = client.filter(|name| fits_short_field(name));
    local.writer.identity.vouch_for_model(&mut draft, client);
    if local.answers_others && draft.private {
        let why = "is not possible on a server for other machines: a private memory never leaves its machine; leave it out";
        draft.problems.add("private", why);
    }
    if let Some(why) = draft.repo.as_ref().and_then(|repo| path_elsewhere(local, repo)) {
        return Err(Problems::one("repo", why).into());
    }
    let guessed = guess_kind(&mut draft);
    let (is_retry, has_id) = (draft.is_retry, draft.id.is_some());
    let moment = (local.core.clock)();
    let prepared = local.writer.prepare(draft, moment).map_err(write_error)?;
    let (repo, id) = (prepared.repo(), prepared.id());
    if is_retry && local.writer.store.holds_recent(repo, id) {
        return Ok(written_before(id, repo));
    }
    let EngineView { snapshot, .. } = snapshots::view(local)?;
    // Whoever brings an id to a replica speaks of it by that id, and may have brought it to another one.
    let keeps_id = has_id && local.core.config.member.is_some();
    if keeps_id && is_known(prepared.id(), &snapshot) {
        return Ok(written_before(prepared.id(), prepared.repo()));
    }
    let similar = duplicates::similar_memories(local, prepared.event(), prepared.repo(), &snapshot);
    if let Some(known) = duplicates::find_copy(prepared.event(), &similar).filter(|_| !keeps_id) {
        return duplicates::confirm(local, known, prepared.event());
    }
    // While a snapshot is held, the engine must copy what the new line changes.
    drop(snapshot);
    let written = local.writer.append(prepared, Durability::Written);
    let receipt = written.map_err(write_error)?;
    notify_engine(local, &receipt);
    let mut text = format!("Saved as {} for {}.", receipt.id, receipt.repo);
    if receipt.place == Destination::Spool {
        let _ = write!(text, " Note: {WAITS}.");
    }
    let mut answer = SaveAnswer::plain(receipt.id.as_str(), receipt.repo.as_str(), WRITTEN);
    if let Some(kind) = guessed {
        let _ = write!(
            text,
            " Its event_type is {kind}, which its words suggest, because none was given."
        );
        answer.event_type = Some(kind.to_owned());
    }
    if let Some(message) = receipt.redacted.message() {
        let _ = write!(text, " {message}.");
        let rules = receipt.redacted.rules().into_iter();
        answer.redacted = Some(rules.map(str::to_owned).collect());
    }
    if let Some(why) = receipt.flagged() {
        text.push_str(&format!(" {}", why.advice()));
        answer.flagged = Some(why.as_str().to_owned());
    }
    if let Some(notice) = receipt.expiry_notice() {
        let _ = write!(text, " Note: {notice}.");
        answer.expired = receipt.expired.map(|end| format!("{end:.0}"));
    }
    if let Some(message) = receipt.missing_files_notice() {
        let _ = write!(text, " Note: {message}.");
        answer.missing_files = Some(receipt.missing_files.clone());
    }
    if !similar.is_empty() {
        text.push_str(&reply::similar(&similar));
        answer.similar = Some(SimilarMemory::all_of(&similar));
    }
    Ok(Reply::with_text(text, &answer))
}

/// Gives a memory without a kind the one that its words suggest; returns it.
fn guess_kind(draft: &mut Draft) -> Option<&'static str> {
    // A kind of a wrong type is a problem already.
    if draft.event_type.is_some() || draft.problems.names("event_type") {
        return None;
    }
    let kind = draft.guessed_kind();
    draft.event_type = Some(kind.to_owned());
    Some(kind)
}

/// Tells whether a memory of this id is known.
fn is_known(id: &EventId, snapshot: &Snapshot) -> bool {
    matches!(snapshot.find_cited(id.as_str()), CitedMemory::One(known) if known.id == *id)
}

fn written_before(id: &EventId, repo: &RepoKey) -> Reply {
    let answer = SaveAnswer::plain(id.as_str(), repo.as_str(), WRITTEN);
    Reply::with_text(format!("Saved as {id} for {repo}."), &answer)
}
