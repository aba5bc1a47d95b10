//! The entries of a chain as text lines. A range covers lines of the log; an event says what happened to the log
//! itself. Not here: files (`chain_file`).

use std::fmt::Write as _;

use super::ChainHash;

/// A range is sealed when it has this many lines: the file of the lock then stays within the sector that
/// a disk writes at once, and so little is lost with it.
const RANGE_LINES_MAX: u64 = 32;

/// A range is sealed when its lines have this many bytes.
const RANGE_BYTES_MAX: u64 = 16 * 1024;

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChainEntry {
    Range(Range),
    Event(ChainEvent),
}

/// A line of a range, as the chain knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownLine {
    /// The first eight digits of the line's hash, as a number.
    pub short: u32,
    /// Whether somebody else wrote the line, or a process that died before it could say so.
    pub is_taken_in: bool,
}

/// Lines that follow each other in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    pub number: u64,
    /// How many lines of the log precede it.
    pub lines_before: u64,
    /// How many lines of the log precede its end.
    pub lines_end: u64,
    /// Its first byte, and the byte after its last.
    pub bytes: std::ops::Range<u64>,
    /// Its lines: the first eight digits of each hash, with `+` before those taken in and a comma after each. Empty once
    /// entries were joined to save room.
    known: String,
    /// The hash after its last line.
    pub head: ChainHash,
}

impl Range {
    /// Returns the empty range after an event: the chain of a log begins at its first byte.
    pub fn first_after(event: &ChainEvent) -> Self {
        Self::empty(event.number + 1, 0, 0, event.head)
    }

    /// Returns the empty range after this one.
    pub fn following(&self) -> Self {
        Self::empty(self.number + 1, self.lines_end, self.bytes.end, self.head)
    }

    fn empty(number: u64, lines: u64, byte: u64, head: ChainHash) -> Self {
        let (bytes, known) = (byte..byte, String::new());
        Self { number, lines_before: lines, lines_end: lines, bytes, known, head }
    }

    /// Adds the next line: its hash and its length in bytes, both with its line break.
    pub fn add(&mut self, hash: ChainHash, line_bytes: u64, is_taken_in: LineAuthor) {
        if is_taken_in == LineAuthor::Other {
            self.known.push('+');
        }
        self.known.push_str(hash.short());
        self.known.push(',');
        self.head = self.head.after(hash);
        self.lines_end += 1;
        self.bytes.end += line_bytes;
    }

    pub fn is_full(&self) -> bool {
        self.lines() >= RANGE_LINES_MAX || self.bytes.end - self.bytes.start >= RANGE_BYTES_MAX
    }

    pub fn lines(&self) -> u64 {
        self.lines_end.saturating_sub(self.lines_before)
    }

    /// Joins this range with the next one. Its lines are no longer known one by one.
    pub fn join(&mut self, next: &Self) {
        self.known.clear();
        (self.number, self.head) = (next.number, next.head);
        (self.lines_end, self.bytes.end) = (next.lines_end, next.bytes.end);
    }

    /// Returns the text, with a line break.
    pub fn text(&self) -> String {
        let Self { number, bytes, head, .. } = self;
        let mut text = String::with_capacity(200 + self.known.len());
        let (first, last) = (self.lines_before + 1, self.lines_end);
        let _ =
            write!(text, "{number} lines {first}-{last} bytes {}-{} of ", bytes.start, bytes.end);
        text.push_str(if self.known.is_empty() { "-" } else { &self.known });
        text.push_str(" head ");
        text.push_str(head.digits());
        text.push('\n');
        text
    }

    /// Reads the text of a range, without its line break.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut word = |name: Option<&str>| -> Option<&str> {
            let word = words.next()?;
            name.is_none_or(|name| name == word).then_some(word)
        };
        let number = word(None)?.parse().ok()?;
        word(Some("lines"))?;
        let (first, lines_end) = span(word(None)?)?;
        word(Some("bytes"))?;
        let bytes = span(word(None)?)?;
        word(Some("of"))?;
        let known = word(None)?;
        word(Some("head"))?;
        let head = ChainHash::parse(word(None)?)?;
        let known = if known == "-" { String::new() } else { known.to_owned() };
        let (lines_before, bytes) = (first.checked_sub(1)?, bytes.0..bytes.1);
        let is_right =
            lines_before <= lines_end && bytes.start <= bytes.end && words.next().is_none();
        is_right.then_some(Self { number, lines_before, lines_end, bytes, known, head })
    }

    /// Returns the lines one by one; nothing if they are not known, or if their number is wrong.
    pub fn known(&self) -> Vec<KnownLine> {
        let known: Option<Vec<KnownLine>> =
            self.known.split_terminator(',').map(known_line).collect();
        let is_whole = |known: &Vec<KnownLine>| u64::try_from(known.len()) == Ok(self.lines());
        known.filter(is_whole).unwrap_or_default()
    }
}

/// Whether a line was written by somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineAuthor {
    Own,
    Other,
}

fn span(text: &str) -> Option<(u64, u64)> {
    let (from, to) = text.split_once('-')?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

fn known_line(text: &str) -> Option<KnownLine> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    let short = u32::from_str_radix(digits, 16).ok()?;
    Some(KnownLine { short, is_taken_in: digits.len() < text.len() })
}

/// What happened to a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainEventKind {
    /// The chain began.
    Begin,
    /// Secrets were removed.
    Scrub,
    /// Lines were moved to a segment.
    Archive,
    /// A writer found that the chain did not fit the log, and began anew.
    Broken,
    /// A person accepted the log as it was.
    Accept,
}

const KINDS: [(ChainEventKind, &str); 5] = [
    (ChainEventKind::Begin, "begin"),
    (ChainEventKind::Scrub, "scrub"),
    (ChainEventKind::Archive, "archive"),
    (ChainEventKind::Broken, "broken"),
    (ChainEventKind::Accept, "accept"),
];

impl ChainEventKind {
    /// Returns the word that stands in the chain.
    #[must_use]
    pub fn word(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

/// An entry that says why the log is no longer what the entries before it covered. The ranges after it begin again
/// with the first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainEvent {
    /// The number of the entry.
    pub number: u64,
    /// What happened.
    pub kind: ChainEventKind,
    /// When, in RFC 3339, by the clock of the file system.
    pub at: String,
    /// How many lines were changed.
    pub changed: u64,
    /// How many lines were moved out.
    pub moved: u64,
    /// The name of the segment to which they were moved.
    pub segment: Option<String>,
    /// The state of the log just before: `whole`, or its faults as `<what>:<first line>-<last line>`.
    pub found: String,
    /// The hash before.
    pub after: ChainHash,
    /// The hash of this entry's text up to `head`.
    pub head: ChainHash,
}

impl ChainEvent {
    /// Computes the head of an event.
    #[must_use]
    pub(super) fn sealed(mut self) -> Self {
        self.head = ChainHash::digest(self.text_before_head().as_bytes());
        self
    }

    /// Tells whether the head is that of the text.
    pub(super) fn is_intact(&self) -> bool {
        ChainHash::digest(self.text_before_head().as_bytes()) == self.head
    }

    fn text_before_head(&self) -> String {
        let Self { number, at, changed, moved, found, after, .. } = self;
        let (kind, segment) = (self.kind.word(), self.segment.as_deref().unwrap_or("-"));
        format!(
            "{number} {kind} at {at} changed {changed} moved {moved} segment {segment} found {found} after {after}"
        )
    }

    pub(super) fn text(&self) -> String {
        format!("{} head {}\n", self.text_before_head(), self.head)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [
            number,
            kind,
            "at",
            at,
            "changed",
            changed,
            "moved",
            moved,
            "segment",
            segment,
            "found",
            found,
            "after",
            after,
            "head",
            head,
        ] = words.as_slice()
        else {
            return None;
        };
        Some(Self {
            number: number.parse().ok()?,
            kind: KINDS.iter().find(|(_, word)| word == kind)?.0,
            at: (*at).to_owned(),
            changed: changed.parse().ok()?,
            moved: moved.parse().ok()?,
            segment: (*segment != "-").then(|| (*segment).to_owned()),
            found: (*found).to_owned(),
            after: ChainHash::parse(after)?,
            head: ChainHash::parse(head)?,
        })
    }
}

impl ChainEntry {
    pub fn parse(text: &str) -> Option<Self> {
        Range::parse(text).map(Self::Range).or_else(|| ChainEvent::parse(text).map(Self::Event))
    }

    pub fn number(&self) -> u64 {
        match self {
            Self::Range(range) => range.number,
            Self::Event(event) => event.number,
        }
    }

    pub fn head(&self) -> ChainHash {
        match self {
            Self::Range(range) => range.head,
            Self::Event(event) => event.head,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Range(range) => range.text(),
            Self::Event(event) => event.text(),
        }
    }

    /// Returns the empty range that follows this entry.
    pub fn following(&self) -> Range {
        match self {
            Self::Range(range) => range.following(),
            Self::Event(event) => Range::first_after(event),
        }
    }
}
