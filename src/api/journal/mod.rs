//! The journal of a store: what happened to memories and what agents were shown, in the order in which it was seen. It is a
//! plain file of lines in the cache, so that several processes can add to it and a reader can go on after any line,
//! also in another process. It stays on this machine, holds no secrets, is bounded, and can be switched off.
//!
//! One line is one write at the end of the file. When the file is full, its last line says so and a new one, the next
//! generation, begins; the one before the last is removed.
//!
//! In reading order: [`sequence`] (a place in the journal), [`reading`], [`agent_delivery`] (what agents were shown), [`announcer`] (new
//! lines of the logs), [`journal_line`] (lines for listeners and pages). Not here: who listens (`web`).

pub mod agent_delivery;
pub mod announcer;
pub mod journal_line;
pub mod reading;
pub mod sequence;

use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use event::Timestamp;
use store::{open_private, own_folder};

use sequence::Sequence;

/// The folder of journals, below the cache directory.
const FOLDER: &str = "journal";

/// A longer generation is full. Two are kept: some 30,000 answers.
const GENERATION_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The last line of a full generation. What another process may still write after it is written again to the next one.
const END: &str = "{\"event\":\"end\"}\n";

/// How often a line is written again when its generation turns out to be full.
const TRIES: usize = 3;

/// The kinds of lines, as they stand in the field `event`.
pub mod kind {
    /// A memory was saved.
    pub const ADDED: &str = "added";
    /// A memory was changed: replaced, forgotten, pinned, linked and the like.
    pub const CHANGED: &str = "changed";
    /// Somebody reported on a memory.
    pub const FEEDBACK: &str = "feedback";
    /// An agent was shown something.
    pub const INJECTED: &str = "injected";
    /// An agent asked, or a hook looked, and there was nothing to tell.
    pub const SILENT: &str = "silent";
    /// What was announced before can be searched, by words and by meaning.
    pub const INDEXED: &str = "indexed";
    /// A work tree contradicts a memory, or for other reasons than before.
    pub const STALE: &str = "stale";
    /// A work tree that contradicted a memory does so no more.
    pub const FRESH: &str = "fresh";
    /// A work tree was looked at for the first time.
    pub const TREE: &str = "tree";
    /// Some lines of a log were not announced one by one.
    pub const LOST: &str = "lost";
    /// How far each log was announced.
    pub const PLACES: &str = "places";

    /// Tells whether a kind says what agents of this machine asked, or what its work trees look like: that is for its user.
    #[must_use]
    pub fn is_for_owner(kind: &str) -> bool {
        [INJECTED, SILENT, STALE, FRESH, TREE].contains(&kind)
    }
}

/// The journal of one store.
#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
    name: String,
    generation_bytes_max: u64,
}

impl Journal {
    /// Names the journal of a store, in a cache directory. Nothing is created yet.
    #[must_use]
    pub fn for_store(cache: &Path, store: &Path) -> Self {
        // Hooks may know the store by another path than the retriever.
        let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
        let sum = Sha256::digest(store.as_os_str().as_encoded_bytes());
        let name = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let generation_bytes_max = GENERATION_BYTES_MAX;
        Self { folder: cache.join(FOLDER), name, generation_bytes_max }
    }

    /// Sets another bound, for tests.
    #[must_use]
    pub fn with_bound(self, generation_bytes_max: u64) -> Self {
        Self { generation_bytes_max, ..self }
    }

    /// Returns its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the lock of the one process that announces new lines of the logs.
    fn lock(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.name))
    }

    fn path(&self, generation: u64) -> PathBuf {
        self.folder.join(format!("{}.{generation}.jsonl", self.name))
    }

    /// Returns the generations that there are, in order.
    fn generations(&self) -> Vec<u64> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let of_name = |name: &str| {
            let rest = name.strip_prefix(&self.name)?.strip_prefix('.')?;
            rest.strip_suffix(".jsonl")?.parse().ok()
        };
        let mut all: Vec<u64> =
            entries.filter_map(|entry| of_name(entry.file_name().to_str()?)).collect();
        all.sort_unstable();
        all
    }

    /// Adds a line. `None` if that failed; nothing depends on it.
    pub fn add(&self, line: &impl Serialize, now: Timestamp) -> Option<Sequence> {
        let line = format!("{}\n", serde_json::to_string(line).ok()?);
        own_folder(&self.folder).ok()?;
        let newest = || self.generations().last().copied();
        // A journal that is made anew must not be taken for the one before.
        let first = || u64::try_from(now.as_millisecond()).unwrap_or(0);
        let mut generation = newest().unwrap_or_else(first);
        for _ in 0..TRIES {
            let mut file = self.open(generation)?;
            if file.metadata().ok()?.len() >= self.generation_bytes_max {
                generation = self.end(file, generation)?;
                continue;
            }
            file.write_all(line.as_bytes()).ok()?;
            let offset = file.stream_position().ok()?;
            let is_doubtful = offset >= self.generation_bytes_max || newest() != Some(generation);
            let length_bytes = u64::try_from(line.len()).ok()?;
            if !is_doubtful || !self.ended_before(generation, offset - length_bytes) {
                return Some(Sequence { generation, offset });
            }
        }
        None
    }

    fn open(&self, generation: u64) -> Option<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        open_private(&mut options, &self.path(generation)).ok()
    }

    /// Ends a full generation, and begins the next one.
    fn end(&self, mut file: File, generation: u64) -> Option<u64> {
        if !self.ended_before(generation, u64::MAX) {
            file.write_all(END.as_bytes()).ok()?;
        }
        let next = generation + 1;
        self.open(next)?;
        for old in self.generations().into_iter().filter(|old| *old < generation) {
            // Another process may have removed it.
            let _ = std::fs::remove_file(self.path(old));
        }
        Some(next)
    }

    /// Tells whether a generation was ended before an offset.
    fn ended_before(&self, generation: u64, offset: u64) -> bool {
        let bytes = std::fs::read(self.path(generation)).unwrap_or_default();
        let at = bytes.windows(END.len()).position(|window| window == END.as_bytes());
        at.and_then(|at| u64::try_from(at).ok()).is_some_and(|at| at < offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn now() -> Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }

    fn numbers(journal: &Journal, from: Sequence) -> Vec<u64> {
        let (mut numbers, mut from) = (Vec::new(), from);
        loop {
            let piece = journal.read_on(from, 1_000).unwrap();
            numbers.extend(piece.lines.iter().filter_map(|(_, line)| line["number"].as_u64()));
            if piece.next == from {
                return numbers;
            }
            from = piece.next;
        }
    }

    // S-EVENT-1
    #[test]
    fn lines_of_many_writers_stand_in_one_order() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::for_store(folder.path(), folder.path()).with_bound(10_000);
        let first = journal.add(&json!({ "number": 0 }), now()).unwrap();
        let writers: Vec<_> = (0..4_u64)
            .map(|writer| {
                let journal = journal.clone();
                std::thread::spawn(move || {
                    (0..200).for_each(|number| {
                        let line = json!({ "number": 1 + writer * 1_000 + number });
                        journal.add(&line, now()).unwrap();
                    });
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        let mut read = numbers(&journal, first);
        assert_eq!(journal.generations().len(), 2, "it was rotated once");
        read.sort_unstable();
        let written: Vec<u64> = (0..4)
            .flat_map(|writer| (0..200).map(move |number| 1 + writer * 1_000 + number))
            .collect();
        assert_eq!(read, written);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            let path = journal.path(first.generation);
            assert_eq!((mode(&path), mode(journal.folder())), (0o600, 0o700));
        }
    }

    // S-EVENT-1
    #[test]
    fn a_line_after_the_end_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::for_store(folder.path(), folder.path()).with_bound(100);
        let first = journal.add(&json!({ "number": 1 }), now()).unwrap();
        // Another process has found it full, and has not begun the next one.
        let mut file = journal.open(first.generation).unwrap();
        file.write_all(END.as_bytes()).unwrap();
        journal.add(&json!({ "number": 2, "long": "x".repeat(100) }), now()).unwrap();
        let start = Sequence { offset: 0, ..first };
        assert_eq!(numbers(&journal, start), [1, 2]);
        assert_eq!(journal.generations().len(), 2);
    }

    // S-EVENT-1
    #[test]
    fn it_stays_within_its_bound_and_says_what_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::for_store(folder.path(), folder.path()).with_bound(1_000);
        let first = journal.add(&json!({ "number": 0 }), now()).unwrap();
        for number in 1..500 {
            journal.add(&json!({ "number": number }), now()).unwrap();
        }
        assert!(journal.read_on(first, 1_000).is_none());
        assert_eq!(journal.generations().len(), 2);
        assert_eq!(std::fs::read_dir(journal.folder()).unwrap().count(), 2);
        let kept = numbers(&journal, journal.start_sequence().unwrap());
        assert!(kept.len() < 200 && kept.last() == Some(&499), "{kept:?}");
        assert!(kept.windows(2).all(|pair| pair[1] == pair[0] + 1), "{kept:?}");
    }

    // S-EVENT-6
    #[cfg(unix)]
    #[test]
    fn nothing_fails_where_it_cannot_be_written() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let journal = Journal::for_store(&folder.path().join("file"), folder.path());
        assert_eq!(journal.add(&json!({}), now()), None);
        assert_eq!((journal.start_sequence(), journal.end_sequence()), (None, None));
        let other = Journal::for_store(folder.path(), folder.path());
        let first = other.add(&json!({}), now()).unwrap();
        std::fs::remove_file(other.path(first.generation)).unwrap();
        symlink(folder.path().join("file"), other.path(first.generation)).unwrap();
        assert_eq!(other.add(&json!({ "number": 1 }), now()), None, "a link is not followed");
        assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"");
    }
}
