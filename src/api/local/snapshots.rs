//! The snapshot that an answer is made from, and what it lacks: memories that are too many or not read yet, a store, and records of
//! a damaged checkpoint. Not here: the answers, `status` and `doctor`, which report all that themselves.

use std::cell::RefCell;

use super::Local;
use super::unread_logs::with_unread_logs;
use engine::{EngineStopped, EngineView, LogCoverage};
use guard::text::{Layout, neutralise};
use reply::Reply;
use requests::ApiError;
use search::snapshot::{MemoryUsage, Snapshot};
use writer::exit::Exit;

pub(super) fn view(local: &Local) -> Result<EngineView, ApiError> {
    let store = &local.writer.store;
    let home = local.here.as_ref().map_or_else(<_>::default, |here| store.log_of(here));
    local.core.engine.view(&home, local.patience.index).map_err(stopped_error)
}

/// Returns a snapshot. A store that cannot be read is an error, because "nothing found" would be wrong.
pub(super) fn answerable(local: &Local) -> Result<EngineView, ApiError> {
    let view = view(local)?;
    match view.snapshot.health().troubles.get(local.writer.store.root()) {
        Some(trouble) => {
            Err(ApiError::Failed { exit: Exit::Io, message: format!("failed to {trouble}") })
        }
        None => Ok(view),
    }
}

/// Returns a snapshot of all memories: a part of them cannot tell that a memory does not exist.
pub(super) fn complete_snapshot(local: &Local) -> Result<Snapshot, ApiError> {
    let EngineView { snapshot, coverage } = answerable(local)?;
    match coverage {
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

/// The snapshot that an answer was made from.
#[derive(Default)]
pub(super) struct UsedSnapshot(RefCell<Option<Snapshot>>);

impl UsedSnapshot {
    pub(super) fn record(&self, snapshot: &Snapshot) {
        self.0.replace(Some(snapshot.clone()));
    }

    /// Tells whether a record that was needed could not be read.
    fn is_damaged(&self) -> bool {
        self.0.borrow().as_ref().is_some_and(Snapshot::is_damaged)
    }
}

/// Answers, and answers again where a record of the checkpoint was damaged: the next snapshot is made from the logs.
pub(super) fn undamaged_answer(
    answer: impl Fn(&UsedSnapshot) -> Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    let used = UsedSnapshot::default();
    let reply = answer(&used);
    if used.is_damaged() { answer(&UsedSnapshot::default()) } else { reply }
}

/// Says that memories were left out to stay within the memory limit, so that not all were searched.
pub(super) fn bound_notice(room: MemoryUsage) -> Option<String> {
    room.notice().map(|notice| format!("Note: {notice}."))
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
pub(super) fn recent_only_notice(coverage: LogCoverage, snapshot: &Snapshot) -> Option<String> {
    let newest = snapshot.memories().len();
    (coverage != LogCoverage::Whole).then(|| {
        format!(
            "Note: the index is not complete yet; only the {newest} newest memories were searched."
        )
    })
}

impl Local {
    /// Answers from a snapshot of all memories.
    pub(super) fn with_all(
        &self,
        answer: impl Fn(&Snapshot) -> Result<Reply, ApiError>,
    ) -> Result<Reply, ApiError> {
        undamaged_answer(|used| {
            let snapshot = complete_snapshot(self)?;
            used.record(&snapshot);
            with_unread_logs(self, &snapshot, answer(&snapshot))
        })
    }

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
