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
use requests::ApiError;
use search::{TimePoint, staleness};
use settings::PastPosition;
use store::{DetectedRepo, Store};
use writer::Moment;

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
        let directory = self.working_directory();
        let as_of = match (given.trim().parse::<u64>(), TimePoint::parse(given)) {
            (Ok(bytes), _) => {
                let stands = self.needed_directory()?;
                let repo = settled.config.current(&DetectedRepo::detect(&stands).key);
                let log = settled.store.log_of(&repo);
                refuse_archived_length(&settled.store, &log)?;
                Store::position_of(log, bytes).map_err(|error| store_error(&error))?
            }
            (Err(_), Some(point)) => {
                PastPosition { time: point.last(moment.now, settled.config.days), end: None }
            }
            (Err(_), None) => {
                PastPosition { time: commit_time(&self.needed_directory()?, given)?, end: None }
            }
        };
        let now = as_of.time;
        settled.config.as_of = Some(as_of);
        let clock = Box::new(move || Moment { now, ..moment });
        self.open_local_with(settled, need, OpeningContext { directory, clock })
    }
}

/// Returns when a commit of the directory's repository was made.
fn commit_time(directory: &Path, given: &str) -> Result<Timestamp, ApiError> {
    let repo = DetectedRepo::detect(directory);
    let known = repo.git.is_some().then(|| staleness::commit_time(repo.top(), given.trim()));
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
