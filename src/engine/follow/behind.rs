//! What a follower left out in order to read the newest lines first. Writers may append faster than lines can be folded
//! and indexed; answers must not wait for the end of that. The fold gives the same memories in any order of the lines.
//! Not here: reading the lines that are not left out (`follow`).

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Follower;
use store::{FileChange, StoreError, Tail};

/// Unread bytes of one log above which its newest lines are read first: some 5,000 short lines, which take 60 ms on a
/// core of its own.
const BACKLOG_BYTES_MAX: u64 = 1024 * 1024;

/// The newest bytes that are read first then. What was written a tenth of a second ago by a writer at 5 MB a second is
/// among them.
const NEWEST_BYTES: u64 = 512 * 1024;

/// Bytes of what was left out that are read in one piece, while no question waits: a hundredth of a second.
const PIECE_BYTES: u64 = 128 * 1024;

/// Most writes of this process that are remembered until they were read.
const OWN_WRITES_MAX: usize = 1024;

/// What is still to be read.
#[derive(Debug, Default)]
pub(super) struct Behind {
    left_out: VecDeque<Tail>,
    /// The writes of this process that may not have been read yet: log and offset.
    own: VecDeque<(PathBuf, u64)>,
}

impl Behind {
    pub(super) fn is_empty(&self) -> bool {
        self.left_out.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.left_out.clear();
    }

    /// Moves a tail ahead if too much is unread. Returns what is left out, and the offsets of writes of this process in
    /// it.
    pub(super) fn skip_ahead(
        &mut self,
        tail: &mut Tail,
    ) -> Result<Option<(Tail, Vec<u64>)>, StoreError> {
        let from = tail.offset();
        self.own.retain(|(log, offset)| log != tail.log() || *offset >= from);
        // A log that was never read is read from its beginning, by whoever reads all logs.
        if !tail.was_read() {
            return Ok(None);
        }
        let Some(left_out) = tail.skip_ahead(BACKLOG_BYTES_MAX, NEWEST_BYTES)? else {
            return Ok(None);
        };
        let until = tail.offset();
        let own = self.own.iter().filter(|(log, offset)| log == tail.log() && *offset < until);
        Ok(Some((left_out, own.map(|(_, offset)| *offset).collect())))
    }

    /// Adds what was left out, if it is to be read at all.
    pub(super) fn push(&mut self, left_out: Tail, is_wanted: bool) {
        if is_wanted {
            self.left_out.push_back(left_out);
        }
    }
}

impl Follower {
    /// Tells whether lines were left out that are still to be read.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Remembers a write of this process, so that the next answer holds it.
    pub fn wrote(&mut self, log: PathBuf, offset: u64) {
        self.behind.own.push_back((log, offset));
        let spare = self.behind.own.len().saturating_sub(OWN_WRITES_MAX);
        self.behind.own.drain(..spare);
    }

    /// Reads a piece of what was left out, the oldest first.
    pub fn read_behind(&mut self) {
        let Some(mut tail) = self.behind.left_out.pop_front() else { return };
        let shared: Arc<Path> = tail.log().into();
        let read = self.read_lines(&shared, |each| tail.read_piece(PIECE_BYTES, each));
        match read {
            Ok(FileChange::Grown | FileChange::None) if !tail.is_done() => {
                self.behind.left_out.push_front(tail);
            }
            Ok(FileChange::Grown | FileChange::None) => {}
            // The next look at the log finds that too, and everything is read again.
            Ok(FileChange::Replaced | FileChange::Gone) => self.is_complete = false,
            // The log is read again from its beginning, and what fails then is reported.
            Err(_) => {
                self.is_complete = false;
                self.tails.entry(tail.log().to_owned()).and_modify(|tailed| tailed.tail.rewind());
            }
        }
        self.built.trim(0);
        self.built.index_words();
    }

    /// Reads the writes of this process at these offsets of a log. They are read again with the lines around them.
    pub(super) fn read_own(&mut self, log: &Arc<Path>, offsets: Vec<u64>) {
        for offset in offsets {
            let lines = self.built.health.lines;
            // A line that cannot be read now is read with those around it.
            let _ = self.read_lines(log, |each| Tail::read_line_at(log, offset, each));
            Arc::make_mut(&mut self.built.health).lines = lines;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use memory::Bound;
    use store::{Config, Store};

    use super::*;

    fn lines(numbers: std::ops::Range<usize>) -> String {
        let line = |number: usize| {
            let text = format!("walrus{number} {}", "and its tank ".repeat(20));
            format!("{{\"id\":\"m{number}\",\"lesson\":\"{text}\"}}\n")
        };
        numbers.map(line).collect()
    }

    // S-READ-8
    #[test]
    fn the_newest_and_the_own_lines_are_known_before_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, lines(0..10)).unwrap();
        let store = Store::at(folder.path());
        let mut follower = Follower::new(store, Config::default(), Bound::NONE, None);
        follower.catch_up();
        assert!(!follower.is_behind() && follower.snapshot().memories().len() == 10);
        let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
        file.write_all(lines(10..2_000).as_bytes()).unwrap();
        let own_at = log.metadata().unwrap().len();
        file.write_all(lines(2_000..9_000).as_bytes()).unwrap();
        follower.wrote(log.clone(), own_at);
        follower.catch_up();
        let known = |follower: &Follower, number: usize| {
            let id = format!("m{number}");
            let snapshot = follower.snapshot();
            snapshot.memories().iter().any(|memory| memory.id.as_str() == id)
        };
        assert!(follower.is_behind());
        assert!(known(&follower, 8_999) && known(&follower, 2_000) && !known(&follower, 1_500));
        let mut pieces = 0;
        while follower.is_behind() {
            follower.read_behind();
            pieces += 1;
        }
        assert!(pieces > 3, "{pieces}");
        follower.catch_up();
        let snapshot = follower.snapshot();
        assert_eq!((snapshot.memories().len(), snapshot.health().lines), (9_000, 9_000));
        assert_eq!(snapshot.lexical().len(), 9_000);
    }

    // S-READ-8
    #[test]
    fn a_log_that_is_replaced_meanwhile_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, lines(0..10)).unwrap();
        let store = Store::at(folder.path());
        let mut follower = Follower::new(store, Config::default(), Bound::NONE, None);
        follower.catch_up();
        let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
        file.write_all(lines(10..9_000).as_bytes()).unwrap();
        follower.catch_up();
        let other = folder.path().join("other");
        std::fs::write(&other, lines(20_000..20_003)).unwrap();
        std::fs::rename(&other, &log).unwrap();
        follower.read_behind();
        follower.catch_up();
        assert!(!follower.is_behind());
        assert_eq!(follower.snapshot().memories().len(), 3);
    }
}
