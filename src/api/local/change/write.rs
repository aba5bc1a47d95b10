//! Writing events through the writer, the only way into a log. Not here: which events a call makes (`save`,
//! `memory_change`, `links`).

use crate::local::Local;
use event::{Draft, MemoryChange, Node, RepoKey, fits_short_field};
use requests::{ApiError, Voice};
use store::{Destination, Durability};
use writer::exit::Exit;
use writer::{BatchError, BatchOutcome, Receipt, RecordError, record_drafts};

/// Writes one event.
pub(super) fn record(local: &Local, draft: Draft) -> Result<Receipt, ApiError> {
    let written = local.writer.record(draft, (local.core.clock)(), Durability::Written);
    written.map_err(write_error).inspect(|receipt| notify_engine(local, receipt))
}

/// Tells the engine of a write, so that the next answer holds it.
pub(super) fn notify_engine(local: &Local, receipt: &Receipt) {
    if receipt.place == Destination::Log {
        let (log, offset) = &receipt.at;
        local.core.engine.record_own_write(log, *offset);
    }
}

/// Writes many events, and returns the result of each in their order.
pub(super) fn record_all(local: &Local, drafts: Vec<Draft>) -> Vec<Result<(), ApiError>> {
    let outcomes =
        record_drafts(&local.writer, drafts, Durability::Written, || (local.core.clock)());
    let result = |outcome: BatchOutcome| match outcome.result {
        Ok(_) => Ok(()),
        Err(BatchError::Refused(problems)) => Err(ApiError::Invalid(problems)),
        Err(BatchError::Failed { exit, message }) => Err(ApiError::Failed { exit, message }),
    };
    outcomes.into_iter().map(result).collect()
}

/// Makes the draft of an event about a memory or a place in code.
pub(super) fn draft_about(
    local: &Local,
    node: &Node,
    repo: &RepoKey,
    change: MemoryChange,
    voice: &Voice,
) -> Draft {
    let mut draft = Draft {
        memory_id: Some(node.id().to_string()),
        repo: Some(repo.to_string()),
        change: Some(change),
        ..Draft::default()
    };
    vouch(local, &mut draft, voice);
    draft
}

/// Puts into a draft in whose name it is written.
pub(super) fn vouch(local: &Local, draft: &mut Draft, voice: &Voice) {
    let Voice::Model { client, session } = voice else { return };
    let client = client.as_deref().filter(|name| fits_short_field(name));
    let session = session.as_deref().filter(|session| fits_short_field(session));
    draft.session_id = session.map(str::to_owned);
    local.writer.identity.vouch_for_model(draft, client);
}

/// Turns the error of a write into that of a call.
pub(super) fn write_error(error: RecordError) -> ApiError {
    let exit = Exit::of_record(&error);
    match error {
        RecordError::Invalid(problems) => ApiError::Invalid(problems),
        RecordError::Store(_) | RecordError::NotSaved { .. } => {
            ApiError::Failed { exit, message: error.to_string() }
        }
    }
}
