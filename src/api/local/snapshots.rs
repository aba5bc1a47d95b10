//! The snapshot that an answer is made from, and what it lacks. Not here: the answers.

use super::Local;
use engine::{EngineStopped, EngineView, LogCoverage};
use guard::text::{Layout, neutralise};
use requests::ApiError;
use search::snapshot::Snapshot;
use writer::exit::Exit;

pub(super) fn view(local: &Local) -> Result<EngineView, ApiError> {
    let store = &local.writer.store;
    let home = local.here.as_ref().map_or_else(<_>::default, |here| store.log_of(here));
    local.core.engine.view(&home, local.patience.index).map_err(stopped_error)
}

/// Returns a snapshot. A store that cannot be read is an error, because "nothing found" would be wrong.
pub(super) fn answerable(local: &Local) -> Result<EngineView, ApiError> {
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
pub(super) fn complete_snapshot(local: &Local) -> Result<Snapshot, ApiError> {
    let EngineView { snapshot, coverage: extent } = answerable(local)?;
    match extent {
        LogCoverage::Whole => Ok(snapshot),
        LogCoverage::Recent | LogCoverage::Behind => {
            let whole = local.core.engine.snapshot_within(local.patience.index);
            if let Some(snapshot) = whole.map_err(stopped_error)? {
                return Ok(snapshot);
            }
            let message = "the logs are still being read; ask again in a moment".to_owned();
            Err(ApiError::Failed { exit: Exit::Busy, message })
        }
    }
}

pub(super) fn stopped_error(error: EngineStopped) -> ApiError {
    ApiError::Failed { exit: Exit::Internal, message: error.to_string() }
}

/// Says that there is no store, which may be a mistyped path.
pub(super) fn no_store_notice(local: &Local) -> Option<String> {
    let root = local.writer.store.root();
    if root.exists() {
        return no_log_notice(local).map(|says| format!("Note: {} {says}.", root.display()));
    }
    Some(format!("Note: there is no store at {} yet; the first lesson makes it.", root.display()))
}

/// Says what shows that the directory of the logs belongs to something else.
pub(super) fn no_log_notice(local: &Local) -> Option<String> {
    let name = local.writer.store.foreign_file_name()?;
    let name = neutralise(&name, Layout::Line);
    Some(format!("has other files, such as {name}, and no logs; is --logs right?"))
}

/// Says that not all logs have been read yet.
pub(super) fn recent_only_notice(extent: LogCoverage, snapshot: &Snapshot) -> Option<String> {
    let newest = snapshot.memories().len();
    (extent != LogCoverage::Whole).then(|| {
        format!(
            "Note: the index is not complete yet; only the {newest} newest memories were searched."
        )
    })
}

impl Local {
    /// Returns how many memories are embedded, and how many there are.
    ///
    /// # Errors
    /// [`ApiError::Failed`], after a bug.
    pub fn embedded(&self) -> Result<(usize, usize), ApiError> {
        let EngineView { snapshot, .. } = view(self)?;
        let signed = snapshot.signed_count() + snapshot.withheld;
        Ok((snapshot.embedded_count().min(signed), snapshot.memories().len()))
    }
}
