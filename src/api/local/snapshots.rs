//! The snapshot that an answer is made from, and how long the answer waits for it. Not here: the answers.

use std::time::{Duration, Instant};

use super::Local;
use super::query_vector::Put;
use crate::ApiError;
use engine::{Extent, Stopped, View};
use search::snapshot::Snapshot;
use writer::exit::Exit;

/// How often a waiting search checks whether everything is embedded.
const EMBED_LOOK_MS: u64 = 10;

/// Returns a snapshot and the query's vector. Where the vector counts, this waits a moment for memories that are
/// being embedded. It is called after the model was asked, when the model is loaded. If some memories are still not
/// embedded, the model may embed them before it answers the query, so the query's vector is waited for first.
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

/// Returns a snapshot. A store that cannot be read is an error, because "nothing found" would be wrong.
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

/// Returns a snapshot of all memories: a part of them cannot tell that a memory does not exist.
pub(super) fn all(local: &Local) -> Result<Snapshot, ApiError> {
    let View { snapshot, extent } = answerable(local)?;
    match extent {
        Extent::Whole => Ok(snapshot),
        Extent::Recent | Extent::Behind => {
            let whole = local.core.engine.snapshot_within(local.patience.index);
            if let Some(snapshot) = whole.map_err(stopped)? {
                return Ok(snapshot);
            }
            let message = "the logs are still being read; ask again in a moment".to_owned();
            Err(ApiError::Failed { exit: Exit::Busy, message })
        }
    }
}

pub(super) fn stopped(error: Stopped) -> ApiError {
    ApiError::Failed { exit: Exit::Internal, message: error.to_string() }
}

/// Says that there is no store, which may be a mistyped path.
pub(super) fn no_store(local: &Local) -> Option<String> {
    let root = local.writer.store.root();
    (!root.exists()).then(|| {
        format!("Note: there is no store at {} yet; the first lesson makes it.", root.display())
    })
}

/// Says that not all logs have been read yet.
pub(super) fn recent_only(extent: Extent, snapshot: &Snapshot) -> Option<String> {
    let newest = snapshot.memories().len();
    (extent != Extent::Whole).then(|| {
        format!(
            "Note: the index is not complete yet; only the {newest} newest memories were searched."
        )
    })
}
