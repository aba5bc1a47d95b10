//! The memory as it was at a past position: read from the logs again, in this process, and never cached. Not here:
//! which lines were written by then (`settings::PastPosition`).

use std::path::Path;

use crate::failure::store_error;
use crate::memory_opening::OpeningContext;
use crate::options::GlobalOptions;
use crate::options::MemoryNeed;
use crate::startup::Retriever;
use api::local::Local;
use event::{Problems, Timestamp, quoted};
use place::{Machine, place_by_files};
use requests::ApiError;
use search::{TimePoint, staleness};
use settings::PastPosition;
use store::Store;
use writer::{Moment, UNNAMED};

impl Retriever<'_> {
    /// Opens the memory as of a time, or as of a length in bytes of the log of the directory's repository. The clock
    /// stands at that time, so that ages are those of then.
    pub fn as_of(
        &self,
        settings: &GlobalOptions,
        need: MemoryNeed,
        given: &str,
    ) -> Result<Local, ApiError> {
        let mut settled = self.resolve_settings(settings)?;
        let moment = (self.surroundings.clock)();
        let as_of = match (given.trim().parse::<u64>(), TimePoint::parse(given)) {
            (Ok(bytes), _) => {
                let stands = self.needed_directory()?;
                let place = settled.store.place_at(&stands, &settled.config);
                let repo = place.repository.ok_or_else(|| Problems::one("as_of", UNNAMED))?;
                let log = settled.store.log_of(&repo);
                refuse_archived_length(&settled.store, &log)?;
                Store::position_of(log, bytes).map_err(|error| store_error(&error))?
            }
            (Err(_), Some(point)) => {
                PastPosition { time: point.last(moment.now, settled.config.days), end: None }
            }
            (Err(_), None) => PastPosition {
                time: commit_time(&self.needed_directory()?, settled.store.machine(), given)?,
                end: None,
            },
        };
        let now = as_of.time;
        settled.config.as_of = Some(as_of);
        let directory = self.project_directory(&settled);
        let clock = Box::new(move || Moment { now, ..moment });
        self.open_local_with(settled, need, OpeningContext { directory, clock })
    }
}

/// Returns when a commit of the directory's repository was made.
fn commit_time(directory: &Path, machine: &Machine, given: &str) -> Result<Timestamp, ApiError> {
    let place = place_by_files(directory, machine);
    let known = place.git().map(|tree| staleness::commit_time(&tree.top, given.trim()));
    let known = known.and_then(Result::ok).flatten();
    known.ok_or_else(|| {
        let allowed = TimePoint::ALLOWED;
        let message = format!(
            "must be a commit of this repository, a length of its log in bytes, or {allowed}; got {}",
            quoted(given)
        );
        Problems::one("as_of", message).into()
    })
}

/// Refuses a length of a log whose old lines were archived: it means other lines now.
fn refuse_archived_length(store: &Store, log: &Path) -> Result<(), ApiError> {
    let segments = store.segments().map_err(|error| store_error(&error))?;
    if segments.iter().any(|segment| Store::repo_of(segment) == Store::repo_of(log)) {
        let message =
            "cannot be a length, because old lines of this log were archived; give a time";
        return Err(Problems::one("as_of", message).into());
    }
    Ok(())
}
