//! What a follower left out in order to read the newest lines first. Writers may append faster than lines can be folded
//! and indexed; answers must not wait for the end of that. The fold gives the same memories in any order of the lines.
//! Not here: reading the lines that are not left out (`follow`).

use std::path::PathBuf;
use std::sync::Arc;

use super::Follower;
use super::backlog::OwnWrite;
use super::followed_file::log_file;
use store::{FileChange, Tail};

/// Bytes of what was left out that are read in one piece, while no question waits: some milliseconds.
const PIECE_BYTES: u64 = 64 * 1024;

/// Most writes of this process that are remembered until they were read.
const OWN_WRITES_MAX: usize = 1024;

impl Follower {
    /// Tells whether lines were left out that are still to be read.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Remembers a write of this process, so that the next answer holds it.
    pub fn record_own_write(&mut self, log: PathBuf, offset: u64) {
        self.behind.own.push_back(OwnWrite { log, offset, was_read: false });
        let spare = self.behind.own.len().saturating_sub(OWN_WRITES_MAX);
        self.behind.own.drain(..spare);
    }

    /// Reads a piece of what was left out, the oldest first.
    pub fn read_backlog(&mut self) {
        let Some(mut tail) = self.behind.left_out.pop_front() else { return };
        let file = log_file(tail.log(), &self.config);
        let read = self.read_lines(&file, |each| tail.read_piece(PIECE_BYTES, each));
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

    /// Reads the writes of this process that the reading of their logs has passed over. A write may be reported after
    /// that, so each is looked at until it was read. It is read again with the lines around it.
    pub(super) fn read_own_writes(&mut self) {
        if self.behind.own.iter().all(|own| own.was_read) {
            return;
        }
        let leaves_out = self.window.is_some() || self.is_behind();
        let mut own_writes = std::mem::take(&mut self.behind.own);
        for own in own_writes.iter_mut().filter(|own| !own.was_read) {
            let Some(tailed) = self.tails.get(&own.log) else { continue };
            if tailed.tail.offset() <= own.offset {
                continue;
            }
            own.was_read = true;
            if leaves_out {
                let (file, lines) = (Arc::clone(&tailed.file), self.built.health.lines);
                // A line that cannot be read now is read with those around it.
                let _ = self
                    .read_lines(&file, |each| Tail::read_line_at(file.path(), own.offset, each));
                Arc::make_mut(&mut self.built.health).lines = lines;
            }
        }
        self.behind.own = own_writes;
        self.built.trim(0);
        self.built.index_words();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use memory::MemoryBound;
    use settings::Config;
    use store::Store;

    use std::path::Path;

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
        let mut follower = Follower::new(store, Config::default(), MemoryBound::NONE, None);
        follower.catch_up();
        assert!(!follower.is_behind() && follower.snapshot().memories().len() == 10);
        let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
        file.write_all(lines(10..2_000).as_bytes()).unwrap();
        let own_at = log.metadata().unwrap().len();
        file.write_all(lines(2_000..9_000).as_bytes()).unwrap();
        follower.record_own_write(log.clone(), own_at);
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
            follower.read_backlog();
            pieces += 1;
        }
        assert!(pieces > 3, "{pieces}");
        follower.catch_up();
        let snapshot = follower.snapshot();
        assert_eq!((snapshot.memories().len(), snapshot.health().lines), (9_000, 9_000));
        assert_eq!(snapshot.lexical().len(), 9_000);
    }

    fn grow(log: &Path, numbers: std::ops::Range<usize>) -> u64 {
        let at = log.metadata().unwrap().len();
        let mut file = std::fs::OpenOptions::new().append(true).open(log).unwrap();
        file.write_all(lines(numbers).as_bytes()).unwrap();
        at
    }

    fn knows(follower: &Follower, id: &str) -> bool {
        follower.snapshot().memories().iter().any(|memory| memory.id.as_str() == id)
    }

    // S-READ-8
    #[test]
    fn an_own_write_reported_late_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, lines(0..10)).unwrap();
        let store = Store::at(folder.path());
        let mut follower = Follower::new(store, Config::default(), MemoryBound::NONE, None);
        follower.catch_up();
        grow(&log, 10..1_000);
        let own_at = grow(&log, 1_000..1_001);
        grow(&log, 1_001..9_000);
        follower.catch_up();
        assert!(!knows(&follower, "m1000"));
        follower.record_own_write(log.clone(), own_at);
        follower.catch_up();
        assert!(follower.is_behind() && knows(&follower, "m1000"));
        grow(&log, 9_000..20_000);
        follower.catch_up();
        assert!(knows(&follower, "m1000") && knows(&follower, "m19999"));
    }

    // S-READ-8
    #[test]
    fn an_own_write_before_the_window_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, lines(0..9_000)).unwrap();
        let homes = std::iter::once(log.clone()).collect();
        let window = super::super::Window { homes, home_bytes: 4_096, others_bytes: 4_096 };
        let store = Store::at(folder.path());
        let mut follower = Follower::recent(store, Config::default(), MemoryBound::NONE, window);
        follower.record_own_write(log.clone(), 0);
        follower.catch_up();
        assert!(knows(&follower, "m0") && knows(&follower, "m8999") && !knows(&follower, "m1"));
        let other = folder.path().join("other");
        std::fs::write(&other, lines(20_000..29_000)).unwrap();
        std::fs::rename(&other, &log).unwrap();
        follower.catch_up();
        assert!(knows(&follower, "m20000") && !knows(&follower, "m20001"));
    }

    // S-READ-8
    #[test]
    fn a_log_that_is_replaced_meanwhile_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        std::fs::write(&log, lines(0..10)).unwrap();
        let store = Store::at(folder.path());
        let mut follower = Follower::new(store, Config::default(), MemoryBound::NONE, None);
        follower.catch_up();
        let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
        file.write_all(lines(10..9_000).as_bytes()).unwrap();
        follower.catch_up();
        let other = folder.path().join("other");
        std::fs::write(&other, lines(20_000..20_003)).unwrap();
        std::fs::rename(&other, &log).unwrap();
        follower.read_backlog();
        follower.catch_up();
        assert!(!follower.is_behind());
        assert_eq!(follower.snapshot().memories().len(), 3);
    }
}
