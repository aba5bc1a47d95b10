//! Verifies every line of every log. Reads each log once, line by line, and remembers one entry per event. Not
//! here: repairs. Damaged lines are copied to the quarantine and stay in the log.

mod census;
mod chain_reply;
mod doubled_reply;
mod verify_reply;

use std::path::{Path, PathBuf};

use self::census::{
    ChainCensus, DuplicateLines, LinePosition, LogCensus, SkippedLine, StoreCensus,
};
use super::secret_lines::SecretRecogniser;
use super::{CheckReport, CheckVerdict};
use crate::own_files::OwnFiles;
use crate::surfaces::OwnFolders;
use event::{DecodedLine, Event, SkipReason, Timestamp, codec, joined_events};
use memory::{LinePlace, Version};
use sessions::session_scrub::RowScrub;
use settings::Config;
use store::{
    DamagedLine, FileChange, LogLine, Quarantine, QuarantineOutcome, Store, StoreError, Tail,
};

/// What to verify.
pub struct VerifyRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// Settings, including repository aliases.
    pub config: &'a Config,
    /// The logs, of the store or from elsewhere.
    pub logs: Vec<PathBuf>,
    /// The segments that are verified too.
    pub segments: Segments,
    /// What happens to damaged lines.
    pub damaged: DamagedLines,
    /// What happens to logs that somebody changed.
    pub changed: ChangedLogs,
    /// The current time.
    pub now: Timestamp,
    /// The recogniser of secrets.
    pub recogniser: &'a SecretRecogniser<'a>,
    /// Where our other files are. They are checked where all segments are.
    pub places: OwnFolders<'a>,
}

/// Which segments of old lines are verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segments {
    /// Only segments named among the logs.
    None,
    /// The segments of this log.
    Of(PathBuf),
    /// All segments of the store.
    All,
}

/// What happens to logs of the store that no longer fit their chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedLogs {
    /// They are reported.
    Tell,
    /// They are reported and accepted: from now on they count as unchanged.
    Accept,
}

/// What happens to damaged lines. They stay in the log in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DamagedLines {
    /// Lines of the store are copied to its quarantine.
    Copy,
    /// Nothing.
    Leave,
}

/// How often reading continues if a log grows meanwhile. If its writers never pause, lines after this are not
/// part of the request.
const READS_MAX: usize = 16;

/// Verifies logs. The verdict is wrong for lines without an event, several contents under one id, secrets, lines that
/// somebody changed after they were written, lines that a segment and another file of its log have, and logs that cannot
/// be read. Repeated lines, events about missing memories, times in the future and an
/// unfinished last line, also one that was closed later, are harmless and only reported.
///
/// # Errors
/// [`StoreError`] if the quarantine cannot be written. Problems of a log are in the report.
pub fn verify(request: &VerifyRequest<'_>) -> Result<CheckReport, StoreError> {
    let origin = request.store.origin().ok().flatten();
    let origin = origin.map(|origin| origin.as_str().to_owned());
    let mut census = StoreCensus::default();
    census.origin = origin;
    verify_each(request, &mut census, &request.logs)?;
    if request.segments == Segments::All {
        add_missing_logs(request, &mut census)?;
        mirrors(request, &mut census);
        census.own = OwnFiles::scan(&request.places, request.recogniser, RowScrub::DryRun);
    }
    // Segments are listed after the logs, so that lines archived meanwhile are not missed.
    let segments = match &request.segments {
        Segments::None => Ok(Vec::new()),
        Segments::Of(log) => request.store.segments_of(log),
        Segments::All => request.store.segments(),
    };
    match segments {
        Ok(segments) => verify_each(request, &mut census, &segments)?,
        Err(error) => {
            let mut archive = census.begin(request.store.root().join("archive"));
            archive.trouble = Some(error.to_string());
            census.logs.push(archive);
        }
    }
    census.settle();
    let verdict = if census.is_fine() { CheckVerdict::Fine } else { CheckVerdict::Wrong };
    Ok(CheckReport { verdict, reply: verify_reply::reply(&census, request.store.root()) })
}

/// Verifies logs or segments one after another.
fn verify_each(
    request: &VerifyRequest<'_>,
    census: &mut StoreCensus,
    logs: &[PathBuf],
) -> Result<(), StoreError> {
    for log in logs {
        let mut reading = LogCheck::new(request, log, census.begin(log.clone()));
        let outcome = read(log, &mut |line| reading.line(census, line));
        let LogCheck { mut found, failed, .. } = reading;
        match outcome {
            Ok(torn_bytes) => found.torn_bytes = torn_bytes,
            Err(error) => found.trouble = Some(error.to_string()),
        }
        if is_of(request.store, log) {
            found.chain = chain(request, log);
            found.doubled = find_doubled(request, log);
        }
        census.logs.push(found);
        failed.map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Adds logs that have a chain but no file.
fn add_missing_logs(
    request: &VerifyRequest<'_>,
    census: &mut StoreCensus,
) -> Result<(), StoreError> {
    for log in request.store.logs_gone()? {
        let mut found = census.begin(log.clone());
        found.chain = chain(request, &log);
        census.logs.push(found);
    }
    Ok(())
}

/// Compares the mirrors with their chains. Only the store that wrote their lines can fix what is wrong in them.
fn mirrors(request: &VerifyRequest<'_>, census: &mut StoreCensus) {
    let mirrors = request.store.mirrors().unwrap_or_else(|error| {
        let mut team = census.begin(request.store.root().join("team"));
        team.trouble = Some(error.to_string());
        census.mirrors.push(team);
        Vec::new()
    });
    for mirror in mirrors {
        let mut found = census.begin(mirror);
        found.chain = chain(request, &found.log);
        census.mirrors.push(found);
    }
}

/// Compares a log of the store with its chain.
fn chain(request: &VerifyRequest<'_>, log: &Path) -> ChainCensus {
    match request.store.audit_chain(log) {
        Ok(None) => ChainCensus::None,
        Ok(Some(audit)) if request.changed == ChangedLogs::Accept && !audit.is_whole() => {
            let accepted = request.store.accept_chain(log);
            accepted.map_or_else(unchecked_chain, |()| ChainCensus::Accepted(audit))
        }
        Ok(Some(audit)) => ChainCensus::Checked(audit),
        Err(error) => unchecked_chain(error),
    }
}

/// Looks for lines that two files of a log have.
fn find_doubled(request: &VerifyRequest<'_>, log: &Path) -> DuplicateLines {
    if request.segments == Segments::None {
        return DuplicateLines::None;
    }
    match request.store.doubled(log) {
        Ok(found) => DuplicateLines::Found(found),
        Err(error @ StoreError::Busy { .. }) => DuplicateLines::Busy(error.to_string()),
        Err(error) => DuplicateLines::Unreadable(error.to_string()),
    }
}

fn unchecked_chain(error: StoreError) -> ChainCensus {
    match error {
        StoreError::Busy { .. } => ChainCensus::Busy(error.to_string()),
        error => ChainCensus::Unreadable(error.to_string()),
    }
}

/// Reads every complete line. Returns the size of an unfinished last line, in bytes.
fn read(log: &Path, each: &mut dyn FnMut(LogLine<'_>)) -> Result<u64, StoreError> {
    let mut tail = Tail::from_beginning(log);
    let inspect = |log: &Path| log.symlink_metadata().map_err(StoreError::io("inspect", log));
    inspect(log)?;
    for _ in 0..READS_MAX {
        tail.read(&mut *each)?;
        let length = inspect(log)?.len();
        match tail.detect_change()? {
            FileChange::Grown => {}
            FileChange::None => return Ok(length.saturating_sub(tail.cursor().offset())),
            FileChange::Replaced | FileChange::Gone => {
                let why = "another program replaced it during the check; verify it again";
                return Err(StoreError::io("read all of", log)(std::io::Error::other(why)));
            }
        }
    }
    Ok(0)
}

/// One log being read.
struct LogCheck<'a> {
    request: &'a VerifyRequest<'a>,
    log: &'a Path,
    file_repo: String,
    found: LogCensus,
    quarantine: Option<Quarantine>,
    /// Set once copying failed. Nothing more is copied then.
    failed: Option<StoreError>,
}

impl<'a> LogCheck<'a> {
    fn new(request: &'a VerifyRequest<'a>, log: &'a Path, found: LogCensus) -> Self {
        let file_repo = Store::repo_of_lines(log).to_string();
        Self { request, log, file_repo, found, quarantine: None, failed: None }
    }

    fn line(&mut self, census: &mut StoreCensus, line: LogLine<'_>) {
        self.found.lines += 1;
        let place = LinePosition { log: census.logs.len(), line: self.found.lines };
        let decoded = codec::decode(line.bytes, &self.file_repo);
        let recogniser = self.request.recogniser;
        if let Some(exposed) = recogniser.find_secrets_in(line.bytes, &decoded, &self.file_repo) {
            exposed.spots.into_iter().for_each(|spot| self.found.secrets.add((place.line, spot)));
        }
        let joined = match &decoded {
            DecodedLine::Skipped(_) => joined_events(line.bytes, &self.file_repo),
            DecodedLine::Blank | DecodedLine::Event(_) => None,
        };
        if let Some(events) = joined {
            let reason = SkipReason::Joined { events: events.len() }.to_string();
            self.found.joined.add(SkippedLine { line: place.line, offset: line.offset, reason });
            return events.into_iter().for_each(|(_, event)| self.event(census, place, event));
        }
        match decoded {
            DecodedLine::Blank => self.found.blank += 1,
            DecodedLine::Event(event) => self.event(census, place, *event),
            DecodedLine::Skipped(reason) => {
                let reason = match reason {
                    SkipReason::TooLong { .. } => {
                        SkipReason::TooLong { line_bytes: line.line_bytes }
                    }
                    other => other,
                };
                let reason = reason.to_string();
                self.copy(line, &reason);
                let skipped = SkippedLine { line: place.line, offset: line.offset, reason };
                if is_cut_off(line.bytes) {
                    self.found.cut_off.add(skipped);
                } else {
                    self.found.skipped.add(skipped);
                }
            }
        }
    }

    fn event(&mut self, census: &mut StoreCensus, position: LinePosition, event: Event) {
        self.found.events += 1;
        if event.timestamp.is_some_and(|when| census::is_in_future(when, self.request.now)) {
            self.found.future.add(position.line);
        }
        let (id, about) = (event.id.clone(), event.memory_id.clone());
        let repo = self.request.config.current(&event.repo_key());
        let place = LinePlace::own(self.log, 0);
        let says = Version::new(event, repo, place).content_digest();
        let is_repeated = census.event(id, about, says, position);
        self.found.repeated += usize::from(is_repeated);
    }

    fn copy(&mut self, line: LogLine<'_>, reason: &str) {
        let is_asked = self.request.damaged == DamagedLines::Copy && self.failed.is_none();
        if !is_asked || !is_of(self.request.store, self.log) {
            return;
        }
        match self.keep(line, reason) {
            Ok(QuarantineOutcome::Now) => self.found.copied += 1,
            Ok(QuarantineOutcome::Before) => {}
            Ok(QuarantineOutcome::NoRoom) => self.found.no_room += 1,
            Err(error) => self.failed = Some(error),
        }
    }

    fn keep(&mut self, line: LogLine<'_>, reason: &str) -> Result<QuarantineOutcome, StoreError> {
        let quarantine = match &mut self.quarantine {
            Some(open) => open,
            none => none.insert(Quarantine::open(self.request.store, self.log)?),
        };
        // The copy must not contain secrets, as the log must not.
        let bytes = self.request.recogniser.redacted_copy(line.bytes);
        let line_bytes = line.line_bytes;
        quarantine.keep(DamagedLine { offset: line.offset, reason, bytes: &bytes, line_bytes })
    }
}

/// Tells whether a line is the beginning of an event. Its writer was killed before it acknowledged the event, and the
/// next one put a line break after it, so nothing was lost.
fn is_cut_off(bytes: &[u8]) -> bool {
    let parsed = serde_json::from_slice::<serde_json::Value>(bytes);
    bytes.starts_with(b"{") && parsed.is_err_and(|error| error.is_eof())
}

/// Tells whether a log is in the store. Lines of other logs are not copied to its quarantine.
fn is_of(store: &Store, log: &Path) -> bool {
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match (folder.canonicalize(), store.root().canonicalize()) {
        (Ok(folder), Ok(root)) => folder == root,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
