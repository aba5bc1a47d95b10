//! What an append adds to the chain: its own lines, and before them those that nobody has covered yet. Not here: the
//! append itself.

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

/// How much one append reads back at most, in bytes: some 20 ms. More is taken in by later ones.
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

/// Covers what an append wrote. The caller holds the log's lock. If this fails, the next append takes the lines in.
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
        links.take_in(written, is_ours_alone)?;
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

    /// Reads the lines that nobody has covered. Where ours are is only known if nobody wrote beside us.
    fn take_in(&mut self, written: &AppendedBytes<'_>, is_ours_alone: bool) -> io::Result<()> {
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
                    let found =
                        Found { number: open.number, head: open.head, says: "lost".to_owned() };
                    let open = begin(written, Vec::new(), Some(found))?;
                    return turn.set_note(&open.text());
                }
                appended => appended?,
            }
        }
        let text = self.open.text();
        // Only the first line is read, so it does not matter if an entry of before stays behind it.
        if is_longer { turn.write_note(&text) } else { turn.set_note(&text) }
    }
}

/// What was wrong with a chain.
struct Found {
    number: u64,
    head: ChainHash,
    says: String,
}

/// Finds the open entry where the file of the lock does not have it, or where it does not fit the log. Begins a chain
/// where there is none, and one that says what was wrong where it does not fit.
fn resume(turn: &FileLock, written: &AppendedBytes<'_>) -> io::Result<Range> {
    recover_chain(written.log)?;
    let note = last_open_of(turn)?;
    let sealed = chain_file::read(&chain_file::path_of(written.log))?;
    let Some(entries) = sealed else {
        let lost = note.map(|open| Found {
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
    let found = Found { number: evidence.number() + 1, head: evidence.head(), says };
    let begun = begin(written, evidence.events(), Some(found))?;
    turn.set_note(&begun.text())?;
    Ok(begun)
}

/// Begins a chain at the first byte of the log.
fn begin(
    written: &AppendedBytes<'_>,
    events: Vec<ChainEvent>,
    found: Option<Found>,
) -> io::Result<Range> {
    let kind = if found.is_some() { ChainEventKind::Broken } else { ChainEventKind::Begin };
    let whole = || Found { number: 1, head: ChainHash::NONE, says: audit::WHOLE.to_owned() };
    let Found { number, head: after, says } = found.unwrap_or_else(whole);
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
