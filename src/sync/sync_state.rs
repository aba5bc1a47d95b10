//! What the last exchange with a remote found, in the cache. It saves reading everything again, and may be lost at any time.
//! Not here: what must not be lost (`sync_record`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::Store;

use crate::RemoteAddress;

/// Most lines of one origin that are taken on a day. A person and their agents write tens; more is a fault or an attack.
pub(crate) const LINES_A_DAY_MAX: usize = 10_000;

/// Most lines of an origin on the first day: years of a person and their agents.
pub(crate) const LINES_AT_FIRST_MAX: usize = 100_000;

/// The longest state that is read, in bytes.
const STATE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What is known of one store and one remote.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SyncState {
    /// By the whole name of the origin.
    pub(crate) origins: BTreeMap<String, KnownOrigin>,
    /// What the own logs were like when they were last published, and the tip that came of it.
    pub(crate) published: Option<(String, String)>,
    /// Since when something waits, in seconds since 1970.
    pub(crate) waiting_since: Option<i64>,
    /// When the remote answered last, in seconds since 1970.
    pub(crate) reached_at: Option<i64>,
    #[serde(skip)]
    path: PathBuf,
}

/// What is known of another origin.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KnownOrigin {
    /// Its tip, if all of it was taken.
    pub(crate) tip: Option<String>,
    /// Its logs, by repository.
    pub(crate) logs: BTreeMap<String, KnownLog>,
    /// The day on which the first lines were taken, in UTC.
    first_day: String,
    /// The day of the count below, in UTC.
    day: String,
    /// How many lines were taken that day.
    lines_that_day: usize,
}

/// What is known of one log of another origin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KnownLog {
    /// The sums of the segments whose lines are in the mirror.
    pub(crate) sums: Vec<String>,
    /// The length of the mirror's file, in bytes.
    pub(crate) mirror_bytes: u64,
    /// How many lines were in it.
    pub(crate) lines: usize,
}

impl SyncState {
    /// Reads the state. What is not there or cannot be understood is empty.
    pub(crate) fn read(folder: &Path, store: &Store, remote: &RemoteAddress) -> Self {
        let place = Sha256::digest(store.root().as_os_str().as_encoded_bytes());
        let place: String = place.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{}-{place}.json", remote.hash()));
        let is_small = path.symlink_metadata().is_ok_and(|found| found.len() <= STATE_BYTES_MAX);
        let text = if is_small { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        Self { path, ..serde_json::from_slice(&text).unwrap_or_default() }
    }

    /// Writes the state. If that fails, the next exchange reads everything again.
    pub(crate) fn write(&self) {
        let new = self.path.with_extension("new");
        let text = serde_json::to_string(self).unwrap_or_default();
        if store::write_private(&new, &text).is_ok() {
            let _ = std::fs::rename(&new, &self.path);
        }
    }
}

impl KnownOrigin {
    /// Returns how many lines may still be taken on the day of `now`. Whoever joins a team takes its past at once.
    pub(crate) fn allowance(&self, now: Timestamp) -> usize {
        let taken = if self.day == day_of(now) { self.lines_that_day } else { 0 };
        let is_new = self.first_day.is_empty() || self.first_day == day_of(now);
        let most = if is_new { LINES_AT_FIRST_MAX } else { LINES_A_DAY_MAX };
        most.saturating_sub(taken)
    }

    /// Counts lines that were taken at `now`.
    pub(crate) fn count(&mut self, lines: usize, now: Timestamp) {
        let day = day_of(now);
        if self.first_day.is_empty() {
            self.first_day.clone_from(&day);
        }
        let before = if self.day == day { self.lines_that_day } else { 0 };
        (self.day, self.lines_that_day) = (day, before.saturating_add(lines));
    }
}

fn day_of(now: Timestamp) -> String {
    now.to_string().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-8
    #[test]
    fn lines_are_counted_by_the_day() {
        let (evening, night): (Timestamp, Timestamp) =
            ("2026-01-02T23:59:59Z".parse().unwrap(), "2026-01-03T00:00:00Z".parse().unwrap());
        let mut known = KnownOrigin::default();
        let first: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        known.count(LINES_A_DAY_MAX, first);
        assert_eq!(known.allowance(first), LINES_AT_FIRST_MAX - LINES_A_DAY_MAX);
        known.count(LINES_A_DAY_MAX - 1, evening);
        assert_eq!((known.allowance(evening), known.allowance(night)), (1, LINES_A_DAY_MAX));
        known.count(5, evening);
        assert_eq!(known.allowance(evening), 0);
        known.count(3, night);
        assert_eq!(known.allowance(night), LINES_A_DAY_MAX - 3);
    }

    #[test]
    fn a_state_is_read_back_and_a_damaged_one_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        let remote = RemoteAddress::parse("/srv/m.git").unwrap();
        let read = || SyncState::read(folder.path(), &store, &remote);
        let mut state = read();
        state.published = Some(("a".to_owned(), "b".to_owned()));
        state.write();
        assert_eq!(read().published, state.published);
        std::fs::write(&state.path, "{").unwrap();
        assert_eq!(read().published, None);
    }
}
