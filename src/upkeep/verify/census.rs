//! The counts of a verification. Not here: reading (`verify`), the report (`verify_reply`).

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::own_files::OwnFiles;
use crate::secret_lines::SecretSpot;
use event::{EventId, Timestamp, is_code};
use sessions::session_scrub::RowScrub;
use store::{ChainAudit, DoubledLines};

/// Most findings of one kind that are listed; the rest are only counted.
pub(super) const TOLD_MAX: usize = 1_000;

/// A time further ahead than this is wrong, in seconds. A time without an offset is taken as UTC, so the local
/// time of a correct machine may be up to 14 hours ahead.
const AHEAD_S_MAX: i64 = 24 * 60 * 60;

/// Findings of one kind.
#[derive(Debug)]
pub(super) struct Findings<T> {
    /// The number of findings.
    pub count: usize,
    /// The first findings.
    pub first: Vec<T>,
}

impl<T> Default for Findings<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T> Findings<T> {
    pub fn add(&mut self, finding: T) {
        self.count += 1;
        if self.first.len() < TOLD_MAX {
            self.first.push(finding);
        }
    }
}

/// A line without an event.
#[derive(Debug)]
pub(super) struct SkippedLine {
    /// The line number, from 1.
    pub line: usize,
    /// The byte offset of the line.
    pub offset: u64,
    /// The reason.
    pub reason: String,
}

/// A line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinePosition {
    /// The index of the log.
    pub log: usize,
    /// The line number, from 1.
    pub line: usize,
}

/// The counts of one log.
#[derive(Debug, Default)]
pub(super) struct LogCensus {
    pub log: PathBuf,
    pub lines: usize,
    pub events: usize,
    pub blank: usize,
    /// Lines that repeat an event.
    pub repeated: usize,
    pub skipped: Findings<SkippedLine>,
    /// Lines with several events.
    pub joined: Findings<SkippedLine>,
    /// Lines that a killed writer left unfinished and a later one closed.
    pub cut_off: Findings<SkippedLine>,
    /// The line number and the secret.
    pub secrets: Findings<(usize, SecretSpot)>,
    /// Lines with a time in the future.
    pub future: Findings<usize>,
    /// Bytes of a last line without its line break.
    pub torn_bytes: u64,
    /// Damaged lines that were copied to the quarantine in this run.
    pub copied: usize,
    /// Damaged lines for which the quarantine has no room.
    pub no_room: usize,
    /// Why the log could not be read to its end.
    pub trouble: Option<String>,
    /// What the chain of the log says.
    pub chain: ChainCensus,
    /// Lines of the log or of its segments that an earlier segment has, too.
    pub doubled: DuplicateLines,
}

/// The lines that two files of a log have, as far as they are known.
#[derive(Debug, Default)]
pub(super) enum DuplicateLines {
    /// Nothing was compared, because the file has no segments.
    #[default]
    None,
    /// The files were compared.
    Found(Vec<DoubledLines>),
    /// Why they could not be compared just now: another process archives or scrubs the log.
    Busy(String),
    /// Why they cannot be compared.
    Unreadable(String),
}

impl DuplicateLines {
    pub fn found(&self) -> &[DoubledLines] {
        if let Self::Found(found) = self { found } else { &[] }
    }

    /// Counts the lines.
    pub fn lines(&self) -> u64 {
        self.found().iter().map(|doubled| doubled.lines).sum()
    }

    fn is_fine(&self) -> bool {
        self.found().is_empty() && !matches!(self, Self::Unreadable(_))
    }
}

/// What the chain of a log says.
#[derive(Debug, Default)]
pub(super) enum ChainCensus {
    /// There is none: the log is not of the store, or nothing was appended since chains exist.
    #[default]
    None,
    /// The log was compared with it.
    Checked(ChainAudit),
    /// The log was accepted as it is, with these changes.
    Accepted(ChainAudit),
    /// Why it could not be compared just now: another process holds the log.
    Busy(String),
    /// Why it cannot be compared.
    Unreadable(String),
}

impl ChainCensus {
    pub fn is_fine(&self) -> bool {
        match self {
            Self::Checked(audit) => audit.is_whole(),
            Self::Unreadable(_) => false,
            Self::None | Self::Accepted(_) | Self::Busy(_) => true,
        }
    }
}

/// The counts of all logs.
#[derive(Debug, Default)]
pub(super) struct StoreCensus {
    pub logs: Vec<LogCensus>,
    /// The mirrors of other origins, of which only the chains are compared.
    pub mirrors: Vec<LogCensus>,
    /// Ids with different contents, and their lines.
    pub conflicts: BTreeMap<EventId, Vec<LinePosition>>,
    /// Missing memories, and the lines about them.
    pub orphans: BTreeMap<EventId, Vec<LinePosition>>,
    /// The origin of the store's logs, if it has one.
    pub origin: Option<String>,
    /// What was found outside the logs.
    pub own: OwnFiles,
    known: HashMap<EventId, KnownId>,
}

/// The findings about an id.
#[derive(Debug)]
struct KnownId {
    says: [u8; 32],
    place: LinePosition,
    /// Whether it is a memory, and not only an event about one.
    is_memory: bool,
}

pub(super) fn is_in_future(when: Timestamp, now: Timestamp) -> bool {
    when.as_second() > now.as_second().saturating_add(AHEAD_S_MAX)
}

impl StoreCensus {
    pub fn begin(&self, log: PathBuf) -> LogCensus {
        LogCensus { log, ..LogCensus::default() }
    }

    /// Counts an event. Returns true if it repeats another.
    pub fn event(
        &mut self,
        id: EventId,
        about: Option<EventId>,
        says: [u8; 32],
        place: LinePosition,
    ) -> bool {
        let is_memory = about.is_none();
        // A place in code cannot be a missing memory.
        if let Some(about) = about.filter(|about| !is_code(about)) {
            self.orphans.entry(about).or_default().push(place);
        }
        let Some(known) = self.known.get_mut(&id) else {
            self.known.insert(id, KnownId { says, place, is_memory });
            return false;
        };
        known.is_memory |= is_memory;
        if known.says == says {
            return true;
        }
        let first = known.place;
        self.conflicts.entry(id).or_insert_with(|| vec![first]).push(place);
        false
    }

    /// Removes memories that came after the events about them from the missing ones.
    pub fn settle(&mut self) {
        let known = &self.known;
        self.orphans.retain(|id, _| !known.get(id).is_some_and(|known| known.is_memory));
    }

    pub fn is_fine(&self) -> bool {
        let is_well = |log: &LogCensus| {
            let is_read = log.secrets.count == 0 && log.trouble.is_none();
            log.skipped.count == 0 && is_read && log.chain.is_fine() && log.doubled.is_fine()
        };
        let is_own_fine = self.own.is_fine(RowScrub::DryRun);
        is_own_fine
            && self.conflicts.is_empty()
            && self.logs.iter().chain(&self.mirrors).all(is_well)
    }

    pub fn total(&self, count_of: impl Fn(&LogCensus) -> usize) -> usize {
        self.logs.iter().map(count_of).sum()
    }
}
