//! Adds the lines of an append to the chain, and before them the lines that nobody has covered yet. Not here: the append
//! itself.

use std::fs::File;
use std::io;
use std::path::Path;

use super::audit::{self, Evidence};
use super::chain_entry::{ChainEntry, LineAuthor, Range};
use super::chain_file;
use super::chain_recovery::recover_chain;
use super::open_entry::{
    OpenEntries, close, last_open_of, newest_events, read_open_entry, time_of,
};
use super::{ChainEvent, ChainEventKind, ChainHash, line_hashes};
use crate::lock::FileLock;

/// The most bytes that one append reads back: some 20 ms. Later appends cover the rest.
const TAKEN_IN_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// What an append wrote.
pub(crate) struct AppendedBytes<'a> {
    /// The log.
    pub file: &'a File,
    /// Its path.
    pub log: &'a Path,
    /// Its length before the write.
    pub from: u64,
    /// What was written.
    pub added: &'a [u8],
    /// Its length after the write.
    pub end: u64,
}

/// Covers the lines of an append. The caller holds the log's lock. If this fails, the next append covers the lines.
pub(crate) fn cover(turn: &FileLock, written: &AppendedBytes<'_>) -> io::Result<()> {
    let open = match read_open_entry(turn)? {
        Some(range) if range.bytes.end <= written.from => range,
        Some(_) | None => resume(turn, written)?,
    };
    let mut links = OpenEntries::after(open);
    let is_ours_alone = written.end - written.from == len(written.added);
    if links.open.bytes.end == written.from && is_ours_alone {
        links.add_lines(written.added);
    } else {
        links.cover_unknown(written, is_ours_alone)?;
    }
    links.write(turn, written)
}

/// Drops the chain of a log whose lines were replaced on purpose. The caller holds the log's lock.
pub(crate) fn forget(turn: &FileLock, log: &Path) -> io::Result<()> {
    turn.set_note("")?;
    match std::fs::remove_file(chain_file::path_of(log)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn len(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

impl OpenEntries {
    /// Adds our own lines, which are complete.
    fn add_lines(&mut self, lines: &[u8]) {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.add(ChainHash::digest(line), len(line), LineAuthor::Own);
        }
    }

    /// Reads the lines that nobody has covered. The place of our own lines is known only if nobody else wrote meanwhile.
    fn cover_unknown(
        &mut self,
        written: &AppendedBytes<'_>,
        is_ours_alone: bool,
    ) -> io::Result<()> {
        let from = self.open.bytes.end;
        let end = written.end.min(from.saturating_add(TAKEN_IN_BYTES_MAX));
        line_hashes::hash_lines(written.file, from..end, |hash, bytes| {
            let is_ours = is_ours_alone && bytes.start >= written.from;
            let mark = if is_ours { LineAuthor::Own } else { LineAuthor::Other };
            self.add(hash, bytes.end - bytes.start, mark);
        })
    }

    fn write(self, turn: &FileLock, written: &AppendedBytes<'_>) -> io::Result<()> {
        let is_longer = !self.has_sealed();
        if !is_longer {
            close(turn)?;
            match chain_file::append(written.log, &self.sealed_text()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let open = &self.open;
                    let found = BrokenChain {
                        number: open.number,
                        head: open.head,
                        says: "lost".to_owned(),
                    };
                    let open = begin(written, Vec::new(), Some(found))?;
                    return turn.set_note(&open.text());
                }
                appended => appended?,
            }
        }
        let text = self.open.text();
        // Only the first line is read, so an older entry may stay after it.
        if is_longer { turn.write_note(&text) } else { turn.set_note(&text) }
    }
}

/// The fault of a chain.
struct BrokenChain {
    number: u64,
    head: ChainHash,
    says: String,
}

/// Finds the open entry if the file of the lock lacks it, or if it does not fit the log. Begins a chain if there is none. If the
/// chain does not fit the log, the new chain begins with the fault.
fn resume(turn: &FileLock, written: &AppendedBytes<'_>) -> io::Result<Range> {
    recover_chain(written.log)?;
    let note = last_open_of(turn)?;
    let sealed = chain_file::read(&chain_file::path_of(written.log))?;
    let Some(entries) = sealed else {
        let lost = note.map(|open| BrokenChain {
            number: open.number,
            head: open.head,
            says: "lost".to_owned(),
        });
        return begin(written, Vec::new(), lost);
    };
    let evidence = Evidence::new(entries, note);
    let open = evidence.open();
    if !evidence.is_cut && open.as_ref().is_some_and(|open| open.bytes.end <= written.from) {
        return open.ok_or_else(|| io::ErrorKind::InvalidData.into());
    }
    let says = match audit::found_word(written.file, written.from, &evidence)?.as_str() {
        audit::WHOLE | audit::UNCHECKED => "lost".to_owned(),
        faults => faults.to_owned(),
    };
    let found = BrokenChain { number: evidence.number() + 1, head: evidence.head(), says };
    let begun = begin(written, evidence.events(), Some(found))?;
    turn.set_note(&begun.text())?;
    Ok(begun)
}

/// Begins a chain at the first byte of the log.
fn begin(
    written: &AppendedBytes<'_>,
    events: Vec<ChainEvent>,
    found: Option<BrokenChain>,
) -> io::Result<Range> {
    let kind = if found.is_some() { ChainEventKind::Broken } else { ChainEventKind::Begin };
    let whole = || BrokenChain { number: 1, head: ChainHash::NONE, says: audit::WHOLE.to_owned() };
    let BrokenChain { number, head: after, says } = found.unwrap_or_else(whole);
    let (at, segment, head) = (time_of(written.file)?, None, ChainHash::NONE);
    let event =
        ChainEvent { number, kind, at, changed: 0, moved: 0, segment, found: says, after, head };
    let event = event.sealed();
    let open = Range::first_after(&event);
    let all: Vec<ChainEntry> =
        newest_events(events).chain([event]).map(ChainEntry::Event).collect();
    let path = chain_file::path_of(written.log);
    chain_file::replace(written.log, &path, &chain_file::text_of(&all))?;
    Ok(open)
}
