//! The open entry of a chain, and the entries that are sealed while lines are added to it. Not here: which lines those are
//! (`cover`, `resettle`).

use std::fs::File;
use std::io;

use event::Timestamp;

use super::chain_entry::{IsTakenIn, Range};
use super::chain_file::EVENTS_MAX;
use super::{ChainEvent, ChainHash};
use crate::lock::FileLock;

/// Reads the open entry.
pub(super) fn open_of(turn: &FileLock) -> io::Result<Option<Range>> {
    let note = turn.note()?;
    let line = note.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(std::str::from_utf8(line).ok().and_then(Range::parse))
}

/// Entries in progress.
pub(super) struct Links {
    /// The open entry.
    pub open: Range,
    /// The text of the entries that were sealed meanwhile.
    pub sealed: String,
}

impl Links {
    pub fn after(open: Range) -> Self {
        Self { open, sealed: String::new() }
    }

    pub fn add(&mut self, hash: ChainHash, line_bytes: u64, is_taken_in: IsTakenIn) {
        self.open.add(hash, line_bytes, is_taken_in);
        if self.open.is_full() {
            self.seal();
        }
    }

    pub fn seal(&mut self) {
        self.sealed.push_str(&self.open.text());
        self.open = self.open.following();
    }
}

/// The newest events, as many as a chain keeps beside another one.
pub(super) fn kept(events: Vec<ChainEvent>) -> impl Iterator<Item = ChainEvent> {
    let old = (events.len() + 1).saturating_sub(EVENTS_MAX);
    events.into_iter().skip(old)
}

/// Returns when a file was written, by the clock of the file system.
pub(super) fn time_of(file: &File) -> io::Result<String> {
    let since = file.metadata()?.modified()?.duration_since(std::time::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0));
    Ok(Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), |time| time.to_string()))
}
