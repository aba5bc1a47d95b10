//! What there is to answer from, and how long it is waited for. Not here: answering.

use std::time::{Duration, Instant};

use super::Local;
use super::query_vector::Put;
use crate::ApiError;
use engine::{Extent, Stopped, View};
use search::snapshot::Snapshot;
use writer::exit::Exit;

/// How often a waiting search looks whether everything is embedded.
const EMBED_LOOK_MS: u64 = 10;

/// Returns a view to answer from, and the question. Where meaning counts, waits a moment for what is being
/// embedded; so it must be taken when the model has been asked, and so is loaded, not before. Where some is
/// not embedded even then, the model may deliver it before it answers: so the answer is waited for first.
pub(super) fn view_for(local: &Local, put: Put) -> Result<(View, Put), ApiError> {
    let deadline = Instant::now() + local.patience.embed;
    loop {
        let view = answerable(local)?;
        let (embedded, memories) = (view.snapshot.embedded(), view.snapshot.memories().len());
        let is_ready = !put.is_coming() || embedded >= memories;
        if is_ready {
            return Ok((view, put));
        }
        if Instant::now() >= deadline {
            let put = put.answered();
            return Ok((answerable(local)?, put));
        }
        std::thread::park_timeout(Duration::from_millis(EMBED_LOOK_MS));
    }
}

pub(super) fn view(local: &Local) -> Result<View, ApiError> {
    let store = &local.writer.store;
    let home = local.here.as_ref().map_or_else(<_>::default, |here| store.log_of(here));
    local.core.engine.view(&home, local.patience.index).map_err(stopped)
}

/// Returns a view to answer from. A store that cannot be read is an error: "nothing found" would be
/// taken for an answer.
pub(super) fn answerable(local: &Local) -> Result<View, ApiError> {
    let view = view(local)?;
    readable(local, &view.snapshot)?;
    Ok(view)
}

pub(super) fn readable(local: &Local, snapshot: &Snapshot) -> Result<(), ApiError> {
    let trouble = snapshot.health().troubles.get(local.writer.store.root());
    let message = trouble.map(|trouble| format!("failed to {trouble}"));
    message.map_or(Ok(()), |message| Err(ApiError::Failed { exit: Exit::Io, message }))
}

/// Returns what holds all memories: of some, it cannot be said that another is not there.
pub(super) fn all(local: &Local) -> Result<Snapshot, ApiError> {
    let View { snapshot, extent } = answerable(local)?;
    match extent {
        Extent::Whole => Ok(snapshot),
        Extent::Recent => {
            let message = "the logs are still being read; ask again in a moment".to_owned();
            Err(ApiError::Failed { exit: Exit::Busy, message })
        }
    }
}

fn stopped(error: Stopped) -> ApiError {
    ApiError::Failed { exit: Exit::Internal, message: error.to_string() }
}

/// Says that not all has been read yet.
pub(super) fn recent_only(extent: Extent, snapshot: &Snapshot) -> Option<String> {
    let newest = snapshot.memories().len();
    (extent == Extent::Recent).then(|| {
        format!("Note: the index is still being made; of all memories only {newest} of the newest were searched.")
    })
}
