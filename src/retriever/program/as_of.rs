//! The memory as it was: read anew, up to a past position, in this process. Nothing is kept of it. Not here: which
//! lines had been written by then (`store::AsOf`).

use std::path::Path;

use super::{Asking, Program, Settings, failed};
use crate::cli::Need;
use api::ApiError;
use api::local::Local;
use event::{Problems, quoted};
use search::Point;
use store::{AsOf, DetectedRepo, Store};
use writer::Moment;

impl Program<'_> {
    /// Opens the memory as it was at a time, or where the log of the directory's repository had so many bytes. Its
    /// present is that time: nothing is older or younger than it was then.
    pub(super) fn as_of(
        &self,
        settings: &Settings,
        need: Need,
        given: &str,
    ) -> Result<Local, ApiError> {
        let mut settled = self.settle(settings)?;
        let moment = (self.surroundings.clock)();
        let directory = self.surroundings.directory.clone();
        let as_of = match (given.trim().parse::<u64>(), Point::parse(given)) {
            (Ok(bytes), _) => {
                let here = settled.config.current(&DetectedRepo::of_directory(&directory).key);
                let log = settled.store.log_of(&here);
                refuse_moved(&settled.store, &log)?;
                AsOf::of_log(log, bytes).map_err(|error| failed(&error))?
            }
            (Err(_), Some(point)) => AsOf { time: point.last(moment.now), end: None },
            (Err(_), None) => {
                let allowed = Point::ALLOWED;
                let message = format!(
                    "must be {allowed}, or a length of this repository's log in bytes; got {}",
                    quoted(given)
                );
                return Err(Problems::one("as_of", message).into());
            }
        };
        let now = as_of.time;
        settled.config.as_of = Some(as_of);
        let clock = Box::new(move || Moment { now, ..moment });
        self.local_over(settled, need, Asking { directory, clock })
    }
}

/// Refuses lengths of a log of which old lines moved to segments: they mean other lines now.
fn refuse_moved(store: &Store, log: &Path) -> Result<(), ApiError> {
    let segments = store.segments().map_err(|error| failed(&error))?;
    if segments.iter().any(|segment| Store::repo_of(segment) == Store::repo_of(log)) {
        let message =
            "cannot be a length here, since old lines of this log were archived; give a time";
        return Err(Problems::one("as_of", message).into());
    }
    Ok(())
}
