//! The memory as it was at a past position: read from the logs again, in this process, and never cached. Not here:
//! which lines were written by then (`settings::AsOf`).

use std::path::Path;

use crate::failure::failed;
use crate::opening::OpenAs;
use crate::options::GlobalOptions;
use crate::options::Need;
use crate::startup::Retriever;
use api::local::Local;
use event::{Problems, Timestamp, quoted};
use place::{Machine, place_by_files};
use requests::ApiError;
use search::{Point, staleness};
use settings::AsOf;
use store::Store;
use writer::Moment;

impl Retriever<'_> {
    /// Opens the memory as of a time, or as of a length in bytes of the log of the directory's repository. The clock
    /// stands at that time, so that ages are those of then.
    pub fn as_of(
        &self,
        settings: &GlobalOptions,
        need: Need,
        given: &str,
    ) -> Result<Local, ApiError> {
        let mut settled = self.settle(settings)?;
        let moment = (self.surroundings.clock)();
        let directory = self.here();
        let as_of = match (given.trim().parse::<u64>(), Point::parse(given)) {
            (Ok(bytes), _) => {
                let stands = self.needed_directory()?;
                let place = settled.store.place_at(&stands, &settled.config);
                let here = place.repository.ok_or_else(|| Problems::one("as_of", UNNAMED))?;
                let log = settled.store.log_of(&here);
                refuse_moved(&settled.store, &log)?;
                Store::position_of(log, bytes).map_err(|error| failed(&error))?
            }
            (Err(_), Some(point)) => AsOf { time: point.last(moment.now), end: None },
            (Err(_), None) => AsOf {
                time: commit_time(&self.needed_directory()?, settled.store.machine(), given)?,
                end: None,
            },
        };
        let now = as_of.time;
        settled.config.as_of = Some(as_of);
        let clock = Box::new(move || Moment { now, ..moment });
        self.local_over(settled, need, OpenAs { directory, clock })
    }
}

/// Returns when a commit of the directory's repository was made.
fn commit_time(directory: &Path, machine: &Machine, given: &str) -> Result<Timestamp, ApiError> {
    let place = place_by_files(directory, machine);
    let known = place.git().map(|tree| staleness::commit_time(&tree.top, given.trim()));
    let known = known.and_then(Result::ok).flatten();
    known.ok_or_else(|| {
        let allowed = Point::ALLOWED;
        let message = format!(
            "must be a commit of this repository, a length of its log in bytes, or {allowed}; got {}",
            quoted(given)
        );
        Problems::one("as_of", message).into()
    })
}

/// Refuses a length of a log whose old lines were archived: it means other lines now.
fn refuse_moved(store: &Store, log: &Path) -> Result<(), ApiError> {
    let segments = store.segments().map_err(|error| failed(&error))?;
    if segments.iter().any(|segment| Store::repo_of(segment) == Store::repo_of(log)) {
        let message =
            "cannot be a length, because old lines of this log were archived; give a time";
        return Err(Problems::one("as_of", message).into());
    }
    Ok(())
}
