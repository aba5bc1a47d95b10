//! Checks a log against its chain, and finds the lines that were edited, deleted, inserted or moved. Changes nothing.
//! Not here: telling people (`upkeep`).

use std::fs::File;
use std::io;

use super::chain_entry::{ChainEntry, Range};
use super::line_diff::{self, ChangedBlock, HashedLine};
use super::{ChainEvent, ChainEventKind, ChainHash, line_hashes};

/// What an event says of a log without faults.
pub(super) const WHOLE: &str = "whole";

/// What an event says of a log that was too long to check.
pub(super) const UNCHECKED: &str = "unchecked";

/// Longer logs are not checked while appenders wait, in bytes.
const CHECKED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How many faults an event names.
const NAMED_MAX: usize = 8;

/// How many faults are told of one log.
const FAULTS_MAX: usize = 1_000;

/// How many lines are told apart, in a log or in its chain: some 200 MB. A forged number must not take all memory.
const LINES_MAX: u64 = 2_000_000;

/// What somebody did to a log or its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainFaultKind {
    /// Lines have other bytes.
    Edited,
    /// Lines are gone.
    Deleted,
    /// Lines stand between those that were there.
    Inserted,
    /// Lines stand in another order.
    Reordered,
    /// The whole log is gone.
    Gone,
    /// Entries of the chain are gone or do not follow from those before.
    Chain,
}

impl ChainFaultKind {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Deleted => "deleted",
            Self::Inserted => "inserted",
            Self::Reordered => "reordered",
            Self::Gone => "gone",
            Self::Chain => "chain",
        }
    }
}

/// A place where a log does not fit its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainFault {
    /// What was done.
    pub kind: ChainFaultKind,
    /// The first and the last line, from 1, as they were counted when they were covered; as they are now for inserted
    /// lines.
    pub lines: (u64, u64),
    /// The bytes of the log as it is now that are concerned; empty where lines are gone.
    pub bytes: std::ops::Range<u64>,
}

/// The end of a chain: what is kept elsewhere to see later that nobody made both a log and its chain anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainHead {
    /// The hash with which the lines of the log begin: that of the last event.
    pub begin: ChainHash,
    /// The hash after the last line that is covered.
    pub hash: ChainHash,
    /// How many bytes of the log are covered.
    pub bytes: u64,
}

/// What a chain says about its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainAudit {
    /// What happened to the log as a whole, oldest first.
    pub events: Vec<ChainEvent>,
    /// Where the log does not fit the chain, in order.
    pub faults: Vec<ChainFault>,
    /// The end of the chain.
    pub head: ChainHead,
    /// The number of lines that the chain covers.
    pub lines: u64,
    /// How many of them were written by somebody else, or by a process that died before it covered them.
    pub taken_in: u64,
    /// Bytes at the end that the next append takes in.
    pub uncovered_bytes: u64,
}

impl ChainAudit {
    /// What the chain alone says.
    pub(super) fn from_evidence(evidence: &Evidence) -> Self {
        let (begin, ranges) = evidence.ranges();
        let last = ranges.last();
        let known = ranges.iter().flat_map(|range| range.known());
        Self {
            events: evidence.events(),
            faults: Vec::new(),
            head: ChainHead {
                begin,
                hash: last.map_or(begin, |range| range.head),
                bytes: last.map_or(0, |range| range.bytes.end),
            },
            lines: last.map_or(0, |range| range.lines_end),
            taken_in: u64::try_from(known.filter(|line| line.is_taken_in).count()).unwrap_or(0),
            uncovered_bytes: 0,
        }
    }

    /// Tells whether nothing was changed, now or since a person last accepted the log.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty() && self.found_earlier().next().is_none()
    }

    /// Returns the events that found the log changed, since a person last accepted it.
    pub fn found_earlier(&self) -> impl Iterator<Item = &ChainEvent> {
        let accepted = self.events.iter().rposition(|event| event.kind == ChainEventKind::Accept);
        let since = self.events.iter().skip(accepted.map_or(0, |at| at + 1));
        since.filter(|event| event.found != WHOLE && event.found != UNCHECKED)
    }

    /// Returns the word with which an event describes this state.
    fn found_word(&self) -> String {
        let words = self.faults.iter().take(NAMED_MAX).map(|fault| {
            let (first, last) = fault.lines;
            format!("{}:{first}-{last}", fault.kind.word())
        });
        let words: Vec<String> = words.collect();
        if words.is_empty() { WHOLE.to_owned() } else { words.join(",") }
    }
}

/// The entries of a chain, with the open one.
pub(super) struct Evidence {
    entries: Vec<ChainEntry>,
    /// Whether the last entry is the open one.
    has_open: bool,
    /// Whether entries between the sealed ones and the open one are gone.
    pub is_cut: bool,
}

impl Evidence {
    pub fn new(mut entries: Vec<ChainEntry>, note: Option<Range>) -> Self {
        let last = entries.last().map_or(0, ChainEntry::number);
        let note = note.filter(|open| open.number > last);
        let is_cut = note.as_ref().is_some_and(|open| open.number > last + 1) || entries.is_empty();
        let has_open = note.is_some();
        entries.extend(note.map(ChainEntry::Range));
        Self { entries, has_open, is_cut }
    }

    /// Returns the entry that the next append extends.
    pub fn open(&self) -> Option<Range> {
        match self.entries.last()? {
            ChainEntry::Range(range) if self.has_open => Some(range.clone()),
            sealed => Some(sealed.following()),
        }
    }

    pub fn number(&self) -> u64 {
        self.entries.last().map_or(0, ChainEntry::number)
    }

    pub fn head(&self) -> ChainHash {
        self.entries.last().map_or(ChainHash::NONE, ChainEntry::head)
    }

    pub fn events(&self) -> Vec<ChainEvent> {
        let event = |entry: &ChainEntry| match entry {
            ChainEntry::Event(event) => Some(event.clone()),
            ChainEntry::Range(_) => None,
        };
        self.entries.iter().filter_map(event).collect()
    }

    /// Returns the ranges of the log as it is, and the hash with which they begin.
    pub fn ranges(&self) -> (ChainHash, Vec<&Range>) {
        let is_event = |entry: &ChainEntry| matches!(entry, ChainEntry::Event(_));
        let event = self.entries.iter().rposition(is_event);
        let begin =
            event.and_then(|at| self.entries.get(at)).map_or(ChainHash::NONE, ChainEntry::head);
        let after = self.entries.iter().skip(event.map_or(0, |at| at + 1));
        let ranges = after.filter_map(|entry| match entry {
            ChainEntry::Range(range) => Some(range),
            ChainEntry::Event(_) => None,
        });
        (begin, ranges.collect())
    }
}

/// Returns the word with which an event describes the first `length` bytes of a log. The caller holds the log's lock.
pub(super) fn found_word(file: &File, length: u64, evidence: &Evidence) -> io::Result<String> {
    if length > CHECKED_BYTES_MAX {
        return Ok(UNCHECKED.to_owned());
    }
    Ok(audit(file, length, evidence)?.found_word())
}

/// Tells whether a log has exactly the lines of its chain, in little memory.
pub(super) fn is_whole(file: &File, length: u64, evidence: &Evidence) -> io::Result<bool> {
    let (begin, ranges) = evidence.ranges();
    let covered = ranges.last().map_or(0, |range| range.bytes.end);
    let follows = chain_faults(evidence, &ranges).is_empty();
    Ok(follows && length >= covered && first_unfit((file, length), begin, &ranges)?.is_none())
}

/// Checks the first `length` bytes of a log.
pub(super) fn audit(file: &File, length: u64, evidence: &Evidence) -> io::Result<ChainAudit> {
    audit_up_to(LINES_MAX, (file, length), evidence)
}

/// Checks a log, and tells lines apart where neither it nor its chain has more than `lines_max`.
pub(super) fn audit_up_to(
    lines_max: u64,
    (file, length): (&File, u64),
    evidence: &Evidence,
) -> io::Result<ChainAudit> {
    let (begin, ranges) = evidence.ranges();
    let mut found = ChainAudit::from_evidence(evidence);
    found.uncovered_bytes = length.saturating_sub(found.head.bytes);
    found.faults.extend(chain_faults(evidence, &ranges));
    let unfit = first_unfit((file, length), begin, &ranges)?;
    if unfit.is_some() || length < found.head.bytes {
        let from = |unfit| changed_from(unfit, length, found.lines);
        let changed = match lines_at(lines_max, (file, length), &ranges)? {
            Some(now) => changed(&now, length, (begin, &ranges)),
            None => unfit.map(from).into_iter().collect(),
        };
        if changed.is_empty() && found.faults.is_empty() {
            found.faults.push(chain_fault(&(0..0), (1, found.lines)));
        }
        found.faults.extend(changed);
    }
    found.faults.truncate(FAULTS_MAX);
    Ok(found)
}

fn chain_fault(bytes: &std::ops::Range<u64>, lines: (u64, u64)) -> ChainFault {
    ChainFault { kind: ChainFaultKind::Chain, lines, bytes: bytes.clone() }
}

/// Finds entries that do not follow from those before them.
fn chain_faults(evidence: &Evidence, ranges: &[&Range]) -> Vec<ChainFault> {
    let mut faults = Vec::new();
    let is_forged = |event: &ChainEvent| !event.is_intact();
    let begins = matches!(evidence.entries.first(), Some(ChainEntry::Event(_)));
    if evidence.is_cut || !begins || evidence.events().iter().any(is_forged) {
        let lines = ranges.last().map_or(0, |range| range.lines_end);
        faults.push(chain_fault(&(0..0), (1, lines)));
    }
    let (mut byte, mut line) = (0, 0);
    for range in ranges {
        if faults.len() == FAULTS_MAX {
            break;
        }
        if range.bytes.start != byte || range.lines_before != line {
            faults.push(chain_fault(
                &(byte..range.bytes.start.max(byte)),
                (line + 1, range.lines_before),
            ));
        }
        (byte, line) = (range.bytes.end, range.lines_end);
    }
    faults
}

/// Returns the first range whose lines the log does not have. This reads the log once and keeps nothing.
fn first_unfit<'a>(
    (file, length): (&File, u64),
    begin: ChainHash,
    ranges: &[&'a Range],
) -> io::Result<Option<&'a Range>> {
    let mut left = ranges.iter().copied().filter(|range| range.lines() > 0);
    let (mut range, mut unfit) = (left.next(), None);
    let (mut head, mut lines) = (begin, 0);
    let covered = ranges.last().map_or(0, |range| range.bytes.end);
    line_hashes::hash_lines(file, 0..covered.min(length), |line, bytes| {
        let Some(current) = range.filter(|_| unfit.is_none()) else { return };
        head = head.after(line);
        lines += 1;
        if lines == current.lines_end {
            let fits = head == current.head && bytes.end == current.bytes.end;
            unfit = (!fits || !is_known(current, line)).then_some(current);
            range = left.next();
        }
    })?;
    Ok(unfit.or(range))
}

/// Tells whether the last line of a range is the one that its list ends with.
fn is_known(range: &Range, line: ChainHash) -> bool {
    range.known().last().is_none_or(|known| known.short == line.number())
}

/// Returns the lines of a log. `None` if it or its chain has too many.
fn lines_at(
    lines_max: u64,
    (file, length): (&File, u64),
    ranges: &[&Range],
) -> io::Result<Option<Vec<HashedLine>>> {
    let known = ranges.iter().fold(0_u64, |lines, range| lines.saturating_add(range.lines()));
    if known > lines_max {
        return Ok(None);
    }
    let (mut now, mut lines) = (Vec::new(), 0);
    line_hashes::hash_lines(file, 0..length, |hash, bytes| {
        lines += 1;
        if lines <= lines_max {
            now.push(HashedLine { hash, bytes });
        }
    })?;
    Ok((lines <= lines_max).then_some(now))
}

/// Names all lines from the first range that does not fit.
fn changed_from(unfit: &Range, length: u64, lines: u64) -> ChainFault {
    let first = unfit.lines_before.saturating_add(1);
    let begin = unfit.bytes.start.min(length);
    let (kind, lines) = (ChainFaultKind::Edited, (first, lines.max(first)));
    ChainFault { kind, lines, bytes: begin..length }
}

/// Finds the lines that are not what the ranges say.
fn changed(now: &[HashedLine], length: u64, expected: (ChainHash, &[&Range])) -> Vec<ChainFault> {
    let (begin, ranges) = expected;
    let blocks = line_diff::blocks(ranges, now);
    let is_moved = line_diff::is_permutation(ranges, now, &blocks);
    let mut faults: Vec<ChainFault> =
        blocks.iter().map(|block| fault_of(block, now, length, is_moved)).collect();
    faults.extend(line_diff::ranges_with_other_hash(begin, ranges, now, &blocks).into_iter().map(
        |(range, bytes)| {
            let lines = (range.lines_before + 1, range.lines_end);
            ChainFault { kind: ChainFaultKind::Edited, lines, bytes }
        },
    ));
    faults.sort_by_key(|fault| fault.lines);
    faults
}

fn fault_of(block: &ChangedBlock, now: &[HashedLine], length: u64, is_moved: bool) -> ChainFault {
    let number = |at: usize| u64::try_from(at).unwrap_or(u64::MAX);
    let begin = now.get(block.now.start).map_or(length, |line| line.bytes.start);
    let last = block.now.end.checked_sub(1).filter(|last| *last >= block.now.start);
    let end = last.and_then(|last| now.get(last)).map_or(begin, |line| line.bytes.end);
    let (kind, lines) = match (block.then.is_empty(), block.now.is_empty()) {
        (true, _) => (ChainFaultKind::Inserted, &block.now),
        (false, true) => (ChainFaultKind::Deleted, &block.then),
        (false, false) => (ChainFaultKind::Edited, &block.then),
    };
    let kind = if is_moved { ChainFaultKind::Reordered } else { kind };
    ChainFault { kind, lines: (number(lines.start) + 1, number(lines.end)), bytes: begin..end }
}
