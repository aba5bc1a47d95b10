//! The head of a chain: what another machine keeps to see later that nobody rewrote both a log and its chain. Not here:
//! exchanging heads.

use std::fs::File;
use std::path::Path;

use super::{ChainHash, chain_state, line_hashes};
use crate::{Store, StoreError, lines};

/// The end of a chain. It covers the first `bytes` bytes of its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// The hash with which the lines of the log begin: that of the last event.
    pub begin: ChainHash,
    /// The hash after the last line.
    pub head: ChainHash,
    /// How many bytes are covered.
    pub bytes: u64,
    /// How many lines are covered.
    pub lines: u64,
    /// The number of the last entry.
    pub entries: u64,
}

/// How a file compares with a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadFit {
    /// The file has exactly the lines that the head covers.
    Same,
    /// More bytes follow those lines.
    Longer(u64),
    /// Bytes are missing at the end.
    Shorter(u64),
    /// Its lines are others.
    Different,
}

impl Store {
    /// Returns the head of the chain of a log of this store; `None` if it has no chain.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process holds the log's lock, [`StoreError::Io`].
    pub fn chain_head(&self, log: &Path) -> Result<Option<ChainHead>, StoreError> {
        let Some(loaded) = chain_state::load(log)? else { return Ok(None) };
        let (begin, ranges) = loaded.evidence.ranges();
        let last = ranges.last();
        Ok(Some(ChainHead {
            begin,
            head: last.map_or(begin, |range| range.head),
            bytes: last.map_or(0, |range| range.bytes.end),
            lines: last.map_or(0, |range| range.lines_end),
            entries: loaded.evidence.number(),
        }))
    }
}

/// Compares a file, such as a copy of a log or a mirror of it, with a head. Reads the file once.
///
/// # Errors
/// [`StoreError`] if the file cannot be read.
pub fn fit_of(file: &Path, head: &ChainHead) -> Result<HeadFit, StoreError> {
    let opened = lines::open(file)?.map(|(file, found)| (file, found.len()));
    let length = opened.as_ref().map_or(0, |(_, length)| *length);
    if length < head.bytes {
        return Ok(HeadFit::Shorter(head.bytes - length));
    }
    let is_same = match &opened {
        Some((opened, _)) => has_lines_of(opened, head).map_err(StoreError::io("read", file))?,
        None => head.head == head.begin,
    };
    Ok(match length - head.bytes {
        _ if !is_same => HeadFit::Different,
        0 => HeadFit::Same,
        more => HeadFit::Longer(more),
    })
}

fn has_lines_of(file: &File, head: &ChainHead) -> std::io::Result<bool> {
    let (mut hash, mut lines, mut end) = (head.begin, 0, 0);
    line_hashes::of_part(file, 0..head.bytes, |line, bytes| {
        hash = hash.after(line);
        lines += 1;
        end = bytes.end;
    })?;
    Ok((hash, lines, end) == (head.head, head.lines, head.bytes))
}
