//! The chain of a log that our own programs rewrite (`scrub`, `archive`): an event says what changed, and the lines that
//! stay are covered anew. Not here: the rewriting (`rewrite`).
//!
//! The new chain is on disk before the new log gets its name, and gets its own name right after. A process that dies in
//! between leaves both, and whoever next needs the chain looks which of the two fits the log.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::audit::{self, Evidence};
use super::chain_entry::{ChainEntry, LineAuthor, Range};
use super::chain_recovery::recover_chain;
use super::open_entry::{self, OpenEntries};
use super::{ChainEvent, ChainEventKind, ChainHash, chain_file, line_hashes};
use crate::lines;
use crate::lock::FileLock;

/// Why a log is rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RewriteReason {
    /// Secrets are removed.
    Scrub,
    /// Lines move to the segment of this name.
    #[cfg_attr(
        not(feature = "archive"),
        expect(dead_code, reason = "only archiving takes lines out")
    )]
    Archive(String),
}

/// A log that is about to be replaced.
pub(crate) struct ChainRewrite<'a> {
    pub turn: &'a FileLock,
    pub log: &'a Path,
    /// The file that replaces it.
    pub new: &'a Path,
    pub reason: RewriteReason,
    /// How many lines were changed, and how many are moved out.
    pub counts: (u64, u64),
}

/// The chain of a log that was replaced.
pub(crate) struct RewrittenChain {
    next: PathBuf,
    chain: PathBuf,
    open: Range,
}

impl ChainRewrite<'_> {
    /// Writes the new chain beside the old one. `None` if the log has none, or if nothing changes. The log is rewritten
    /// even if this fails; then `verify` tells the difference.
    pub fn prepare(&self) -> io::Result<Option<RewrittenChain>> {
        recover_chain(self.log)?;
        let chain = chain_file::path_of(self.log);
        let Some(entries) = chain_file::read(&chain)? else { return Ok(None) };
        if self.counts == (0, 0) {
            return Ok(None);
        }
        let note = open_entry::last_open_of(self.turn)?;
        if let Some(open) = note.as_ref().filter(|open| open.lines() > 0) {
            let last = entries.last().map_or(0, ChainEntry::number);
            if open.number == last + 1 {
                open_entry::close(self.turn)?;
                chain_file::append(self.log, &open.text())?;
            }
        }
        let evidence = Evidence::new(entries, note);
        let event = self.event(&evidence)?;
        let (file, length) = open(self.new)?;
        let (text, open) = chain_of((&file, length), evidence.events(), event)?;
        let next = chain_file::next_of(self.log);
        chain_file::replace(self.log, &next, &text)?;
        open_entry::close(self.turn)?;
        Ok(Some(RewrittenChain { next, chain, open }))
    }

    fn event(&self, evidence: &Evidence) -> io::Result<ChainEvent> {
        // Opened again, because the rewriting goes on reading where it is.
        let (old, length) = open(self.log)?;
        let found = audit::found_word(&old, length, evidence)?;
        let (kind, segment) = match &self.reason {
            RewriteReason::Scrub => (ChainEventKind::Scrub, None),
            RewriteReason::Archive(segment) => {
                (ChainEventKind::Archive, Some(segment.replace(char::is_whitespace, "_")))
            }
        };
        let (changed, moved) = self.counts;
        let (number, after) = (evidence.number() + 1, evidence.head());
        let (at, head) = (open_entry::time_of(&open(self.new)?.0)?, ChainHash::NONE);
        Ok(ChainEvent { number, kind, at, changed, moved, segment, found, after, head }.sealed())
    }
}

/// Returns the text of a chain that covers a file from its first byte, and the range that its next append opens. Reads the
/// file under the log's lock. The hashes of its lines could be kept while it is copied, before the lock is taken; that is
/// 40 bytes a line without a bound, and saves one of the three times that a log is read under the lock.
pub(super) fn chain_of(
    (file, length): (&File, u64),
    events: Vec<ChainEvent>,
    event: ChainEvent,
) -> io::Result<(String, Range)> {
    let mut links = OpenEntries::after(Range::first_after(&event));
    let all: Vec<ChainEntry> =
        open_entry::newest_events(events).chain([event]).map(ChainEntry::Event).collect();
    line_hashes::hash_lines(file, 0..length, |hash, bytes| {
        links.add(hash, bytes.end - bytes.start, LineAuthor::Own);
    })?;
    if links.open.lines() > 0 {
        links.seal();
    }
    Ok((chain_file::text_of(&all) + &links.sealed_text(), links.open))
}

impl RewrittenChain {
    /// Gives the new chain its name. Called right after the new log has its own.
    pub fn finish(self, turn: &FileLock) -> io::Result<()> {
        std::fs::rename(&self.next, &self.chain)?;
        turn.set_note(&self.open.text())
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let opened = lines::open(path).map_err(chain_file::io_error)?;
    let (file, found) = opened.ok_or(io::ErrorKind::NotFound)?;
    Ok((file, found.len()))
}
