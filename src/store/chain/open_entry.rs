//! The open entry of a chain, and the entries that are sealed while lines are added to it. Not here: which lines those are
//! (`cover`, `resettle`).

use std::fs::File;
use std::io;

use event::Timestamp;

use super::chain_entry::{ChainEntry, LineAuthor, Range};
use super::chain_file::{self, EVENTS_MAX, KEPT_ENTRIES};
use super::{ChainEvent, ChainHash};
use crate::lock::FileLock;

/// The first line in the file of the lock while the file of the chain changes. The open entry of before stands after it.
const REWRITING: &str = "rewriting";

/// Marks the open entry in the file of the lock as one of before. Called before the file of the chain gets other entries: a
/// process that dies after that leaves an open entry that may be sealed too, which its number tells.
pub(super) fn close(turn: &FileLock) -> io::Result<()> {
    let open = last_open_of(turn)?.map_or_else(String::new, |open| open.text());
    turn.set_note(&format!("{REWRITING}\n{open}"))
}

/// Reads the open entry. `None` if the file of the lock holds none that goes on; the file of the chain must then be read.
pub(super) fn read_open_entry(turn: &FileLock) -> io::Result<Option<Range>> {
    let note = turn.read_note()?;
    Ok(note.split(|byte| *byte == b'\n').next().and_then(range_of))
}

/// Reads the open entry, also one of before. It counts if the file of the chain has no entry of its number.
pub(super) fn last_open_of(turn: &FileLock) -> io::Result<Option<Range>> {
    let note = turn.read_note()?;
    let mut lines = note.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let line = if first == REWRITING.as_bytes() { lines.next() } else { Some(first) };
    Ok(line.and_then(range_of))
}

fn range_of(line: &[u8]) -> Option<Range> {
    std::str::from_utf8(line).ok().and_then(Range::parse)
}

/// Entries in progress.
pub(super) struct OpenEntries {
    /// The open entry.
    pub open: Range,
    /// The entries that were sealed meanwhile. The older ones are joined, so that these stay few.
    sealed: Vec<ChainEntry>,
}

impl OpenEntries {
    pub fn after(open: Range) -> Self {
        Self { open, sealed: Vec::new() }
    }

    pub fn add(&mut self, hash: ChainHash, line_bytes: u64, is_taken_in: LineAuthor) {
        self.open.add(hash, line_bytes, is_taken_in);
        if self.open.is_full() {
            self.seal();
        }
    }

    pub fn seal(&mut self) {
        let next = self.open.following();
        self.sealed.push(ChainEntry::Range(std::mem::replace(&mut self.open, next)));
        if self.sealed.len() >= 2 * KEPT_ENTRIES {
            self.sealed = chain_file::joined(std::mem::take(&mut self.sealed));
        }
    }

    pub fn has_sealed(&self) -> bool {
        !self.sealed.is_empty()
    }

    /// Returns the text of the sealed entries.
    pub fn sealed_text(&self) -> String {
        chain_file::text_of(&self.sealed)
    }
}

/// The newest events, as many as a chain keeps beside another one.
pub(super) fn newest_events(events: Vec<ChainEvent>) -> impl Iterator<Item = ChainEvent> {
    let old = (events.len() + 1).saturating_sub(EVENTS_MAX);
    events.into_iter().skip(old)
}

/// Returns when a file was written, by the clock of the file system.
pub(super) fn time_of(file: &File) -> io::Result<String> {
    let since = file.metadata()?.modified()?.duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
    Ok(Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), |time| time.to_string()))
}
