//! Reads a journal, from a place on or from its end back. Not here: what the lines mean (`agent_delivery`, `announcer`).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use serde_json::Value;

use super::sequence::Sequence;
use super::{END, Journal};
use store::open_own_file;

/// Lines after a place.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalPiece {
    /// Each line with the place after it. What cannot be read is left out.
    pub lines: Vec<(Sequence, Value)>,
    /// Where to go on; the place that was asked for, if nothing stands after it.
    pub next: Sequence,
}

/// The longest line, in bytes. The line with the places of a thousand logs has about 100 kB.
const LINE_BYTES_MAX: u64 = 1024 * 1024;

impl Journal {
    /// Returns the place before the oldest line. `None` if there is no journal.
    #[must_use]
    pub fn start_sequence(&self) -> Option<Sequence> {
        self.generations().first().map(|generation| Sequence { generation: *generation, offset: 0 })
    }

    /// Returns the newest generation. `None` if there is no journal.
    pub(super) fn newest_generation(&self) -> Option<u64> {
        self.generations().last().copied()
    }

    /// Returns the place after the newest line. `None` if there is no journal.
    #[must_use]
    pub fn end_sequence(&self) -> Option<Sequence> {
        let generation = self.newest_generation()?;
        let mut file: File = open_own_file(&self.path(generation)).ok()??;
        let length_bytes = file.metadata().ok()?.len();
        let from = length_bytes.saturating_sub(LINE_BYTES_MAX);
        file.seek(SeekFrom::Start(length_bytes.saturating_sub(1))).ok()?;
        let mut last = Vec::new();
        (&mut file).take(1).read_to_end(&mut last).ok()?;
        if last == b"\n" {
            return Some(Sequence { generation, offset: length_bytes });
        }
        // A line is being written, or was cut off by a full disk.
        file.seek(SeekFrom::Start(from)).ok()?;
        file.take(length_bytes - from).read_to_end(&mut last).ok()?;
        let complete = last.iter().skip(1).rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Some(Sequence { generation, offset: from + u64::try_from(complete).ok()? })
    }

    /// Reads the lines after a place, about `bytes_max` bytes of them. `None` if the place is gone.
    #[must_use]
    pub fn read_on(&self, from: Sequence, bytes_max: u64) -> Option<JournalPiece> {
        let nothing = || Some(JournalPiece { lines: Vec::new(), next: from });
        let Some(mut bytes) = self.bytes_of(from.generation, from.offset, bytes_max) else {
            // The next generation may not have begun yet.
            let newest = self.generations().last().copied()?;
            let is_next = from.offset == 0 && from.generation == newest + 1;
            return if is_next { nothing() } else { None };
        };
        let mut piece = JournalPiece { lines: Vec::new(), next: from };
        if bytes.is_empty()
            && let Some(later) = self.generations().into_iter().find(|it| *it > from.generation)
        {
            // Two processes began the journal at once, or this generation has just ended.
            bytes = self.bytes_of(from.generation, from.offset, bytes_max)?;
            if bytes.is_empty() {
                piece.next = Sequence { generation: later, offset: 0 };
                return Some(piece);
            }
        }
        for line in
            bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
        {
            if line == END.as_bytes() {
                piece.next = Sequence { generation: from.generation + 1, offset: 0 };
                return Some(piece);
            }
            piece.next.offset += u64::try_from(line.len()).ok()?;
            if let Ok(value) = serde_json::from_slice(line) {
                piece.lines.push((piece.next, value));
            }
        }
        if piece.next == from && u64::try_from(bytes.len()).ok()? >= bytes_max {
            let is_longer = bytes_max < LINE_BYTES_MAX;
            return if is_longer { self.read_on(from, LINE_BYTES_MAX) } else { None };
        }
        Some(piece)
    }

    /// Returns all lines of some kinds before a place, or up to the end, the newest first.
    #[must_use]
    pub fn read_back(&self, before: Option<Sequence>, kinds: &[&str]) -> Vec<(Sequence, Value)> {
        let starts: Vec<String> =
            kinds.iter().map(|kind| format!("{{\"event\":\"{kind}\"")).collect();
        let mut found = Vec::new();
        for generation in self.generations() {
            let bytes = self.bytes_of(generation, 0, u64::MAX).unwrap_or_default();
            let mut place = Sequence { generation, offset: 0 };
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                if line == END.as_bytes() || !line.ends_with(b"\n") {
                    break;
                }
                place.offset = place.offset.saturating_add(u64::try_from(line.len()).unwrap_or(0));
                if before.is_some_and(|before| place >= before) {
                    break;
                }
                // Most lines are of other kinds, and need not be read.
                if starts.iter().any(|start| line.starts_with(start.as_bytes()))
                    && let Ok(value) = serde_json::from_slice(line)
                {
                    found.push((place, value));
                }
            }
        }
        found.reverse();
        found
    }

    /// Reads a generation from an offset on, where a line must begin.
    fn bytes_of(&self, generation: u64, offset: u64, bytes_max: u64) -> Option<Vec<u8>> {
        let mut file: File = open_own_file(&self.path(generation)).ok()??;
        let before = offset.saturating_sub(1);
        file.seek(SeekFrom::Start(before)).ok()?;
        if offset > 0 {
            let mut line_break = [0];
            file.read_exact(&mut line_break).ok()?;
            if line_break != *b"\n" {
                return None;
            }
        }
        let mut bytes = Vec::new();
        // Twice the bound: a line may follow the end of a full generation.
        let most = bytes_max.min(2 * self.generation_bytes_max + LINE_BYTES_MAX);
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}
