//! What the last round with a remote found, in the cache. It saves reading everything again, and may be lost at any time.
//! Not here: what must not be lost (`sync_record`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use event::RepoKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::Store;

use crate::content_sum::short_sum;
use crate::sync_record::SyncRecord;
use crate::{LeftOutLines, RemoteAddress, Tip};

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
    /// What was shared when they were taken, which says of which repositories lines are taken.
    share: Vec<String>,
    /// The last publication.
    settled: Option<SettledPart>,
    /// Since when something waits, in seconds since 1970.
    pub(crate) waiting_since: Option<i64>,
    /// When the remote answered last, in seconds since 1970.
    pub(crate) reached_at: Option<i64>,
    #[serde(skip)]
    path: PathBuf,
}

/// What the remote has of this store, and of which logs that came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SettledPart {
    /// What the own logs looked like.
    logs: String,
    /// The tip; `None` if there was nothing to share.
    tip: Option<String>,
    /// The repositories that nobody had agreed to share, and how many lines they had.
    to_agree: Vec<(String, usize)>,
    /// What stayed of the shared repositories.
    pub(crate) left_out: LeftOutLines,
}

impl SettledPart {
    /// Returns the tip.
    pub(crate) fn tip(&self) -> Option<Tip> {
        self.tip.clone().map(Tip)
    }

    /// Returns the repositories that nobody had agreed to share, and how many lines they had.
    pub(crate) fn to_agree(&self) -> Vec<(RepoKey, usize)> {
        let parsed = |(repo, lines): &(String, usize)| Some((RepoKey::parse(repo).ok()?, *lines));
        self.to_agree.iter().filter_map(parsed).collect()
    }
}

/// What is known of another origin.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KnownOrigin {
    /// Its tip, if all of it was taken that is shared here.
    pub(crate) tip: Option<String>,
    /// The sum of its list of what it withdrew, if the mirrors follow that list.
    pub(crate) withdrawn: Option<String>,
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
        let place = short_sum(store.root().as_os_str().as_encoded_bytes(), 8);
        let path = folder.join(format!("{}-{place}.json", remote.hash()));
        let is_small = path.symlink_metadata().is_ok_and(|found| found.len() <= STATE_BYTES_MAX);
        let text = if is_small { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        Self { path, ..serde_json::from_slice(&text).unwrap_or_default() }
    }

    /// Notes that the remote has what it should of these logs.
    pub(crate) fn settle(
        &mut self,
        logs: &str,
        tip: Option<Tip>,
        (to_agree, left_out): (&[(RepoKey, usize)], LeftOutLines),
    ) {
        let named = |(repo, lines): &(RepoKey, usize)| (repo.as_str().to_owned(), *lines);
        let to_agree = to_agree.iter().map(named).collect();
        let (logs, tip) = (logs.to_owned(), tip.map(|tip| tip.0));
        self.settled = Some(SettledPart { logs, tip, to_agree, left_out });
    }

    /// Returns what the remote has of logs that look like this; nothing if somebody agreed since to share more of them.
    pub(crate) fn settled_at(&self, logs: &str, record: &SyncRecord) -> Option<&SettledPart> {
        let settled = self.settled.as_ref().filter(|settled| settled.logs == logs)?;
        let is_agreed = settled.to_agree().iter().any(|(repo, _)| record.is_agreed(repo));
        (!is_agreed).then_some(settled)
    }

    /// Notes what is shared now. If that is something else than before, every origin is looked at again: lines that were left
    /// before may be wanted now.
    pub(crate) fn sharing(&mut self, share: &[String]) {
        if self.share != share {
            self.share = share.to_vec();
            self.origins.values_mut().for_each(|known| known.tip = None);
        }
    }

    /// Writes the state. If that fails, the next round reads everything again.
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
        let api = RepoKey::parse("api").unwrap();
        let left_out = LeftOutLines { private: 2, ..LeftOutLines::default() };
        state.settle("a", Some(Tip("b".to_owned())), (&[(api.clone(), 3)], left_out));
        state.write();
        let read_back = read();
        assert!(read_back.settled.is_some());
        assert_eq!(read_back.settled, state.settled);
        let mut record = SyncRecord::read(&store, &remote).unwrap();
        assert_eq!(state.settled_at("a", &record).unwrap().to_agree(), [(api.clone(), 3)]);
        assert_eq!(state.settled_at("b", &record), None);
        record.agree(&api, Timestamp::UNIX_EPOCH);
        assert_eq!(state.settled_at("a", &record), None, "there is more to send");
        std::fs::write(&state.path, "{").unwrap();
        assert_eq!(read().settled, None);
    }
}
