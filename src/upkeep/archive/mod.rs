//! Keeps logs short: old lines move to sealed segments beside the log, by command or by the policy of the
//! configuration. They remain memories with the same ids. Here: which lines are old. Not here: moving them
//! safely (`store::archive`).

mod archive_reply;
mod archive_result;

pub use archive_result::{ArchiveMode, ArchiveResult};
use std::path::{Path, PathBuf};

use super::{CheckReport, CheckVerdict};
use event::{DecodedLine, Timestamp, codec};
use settings::GeneralSettings;
use store::{LogLine, MoveRule, MovedLines, Store, StoreError};

/// How many lines stay in a log by default. jq, grep and people can still handle this many.
pub const KEEP_LINES_DEFAULT: u64 = 10_000;

/// The policy of age seals no fewer old lines than this. Otherwise an active log would get a new segment for
/// every line.
const AGED_LINES_MIN: u64 = 256;

/// The shortest line with an event, in bytes: `{"lesson":"x"}` and its line break. By its size, a small log is
/// known to have fewer lines than the bound without reading it.
const EVENT_BYTES_MIN: u64 = 15;

/// What may stay in a log. Lines beyond either bound move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most lines that stay. The newest, by position in the file, are kept.
    pub keep_lines: Option<u64>,
    /// Lines before this time move. A line without a time stays.
    pub not_before: Option<Timestamp>,
}

/// What to archive.
pub struct ArchiveRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// The logs.
    pub logs: Vec<PathBuf>,
    /// What stays in the logs.
    pub bounds: Bounds,
    /// Whether to change anything.
    pub how: ArchiveMode,
}

/// A report, with the first failure.
pub struct ArchiveOutcome {
    /// The report. It is wrong if a log could not be archived.
    pub checked: CheckReport,
    /// The first failure.
    pub failed: Option<StoreError>,
}

/// Archives logs one after another. A failure of one log does not stop the others.
#[must_use]
pub fn archive(request: &ArchiveRequest<'_>) -> ArchiveOutcome {
    let done: Vec<ArchiveResult> = request
        .logs
        .iter()
        .map(|log| {
            let moved = match request.how {
                ArchiveMode::Change => mend_and_archive(request.store, log, request.bounds),
                ArchiveMode::DryRun => would_move(request.store, log, request.bounds),
            };
            ArchiveResult { log: log.clone(), moved }
        })
        .collect();
    let reply = archive_reply::reply(request.how, &done);
    let failed = done.into_iter().find_map(|done| done.moved.err());
    let verdict = if failed.is_some() { CheckVerdict::Wrong } else { CheckVerdict::Fine };
    ArchiveOutcome { checked: CheckReport { verdict, reply }, failed }
}

/// Archives every log that exceeds what the settings allow, far enough that it does not exceed it again soon: half the lines
/// stay, or no line that is too old. This reads whole logs, so it is meant for an idle server. Returns only
/// logs that were archived or failed.
#[must_use]
pub fn by_policy(store: &Store, policy: &GeneralSettings, now: Timestamp) -> Vec<ArchiveResult> {
    let not_before = policy.archive_older_than.and_then(|age| now.checked_sub(age).ok());
    let above_lines = policy.archive_above_lines.map(u64::from);
    if above_lines.is_none() && not_before.is_none() {
        return Vec::new();
    }
    let planning = Planning {
        bounds: Bounds { keep_lines: above_lines.map(|lines| lines / 2), not_before },
        above_lines,
        aged_lines_min: AGED_LINES_MIN,
    };
    let lines_min = above_lines.unwrap_or(u64::MAX);
    let lines_min = if not_before.is_some() { lines_min.min(AGED_LINES_MIN) } else { lines_min };
    let may_be_over = |log: &PathBuf| {
        let bytes = log.symlink_metadata().map_or(0, |found| found.len());
        bytes >= lines_min.saturating_mul(EVENT_BYTES_MIN)
    };
    // If logs cannot be listed, every other reader reports it.
    let logs = store.logs().unwrap_or_default();
    let done = logs.into_iter().filter(may_be_over).map(|log| {
        let moved = archive_log(store, &log, &planning);
        ArchiveResult { log, moved }
    });
    let is_told = |done: &ArchiveResult| {
        done.moved.as_ref().map_or(true, |moved| *moved != MovedLines::default())
    };
    done.filter(is_told).collect()
}

fn archive_log(store: &Store, log: &Path, planning: &Planning) -> Result<MovedLines, StoreError> {
    store::archive(store, log, &mut || planning.plan(log))
}

/// Takes out lines that stand in two files before it archives. This reads all segments of the log, so only a command that
/// a person runs does it.
fn mend_and_archive(store: &Store, log: &Path, bounds: Bounds) -> Result<MovedLines, StoreError> {
    let mended_lines = store::take_out_doubled(store, log)?;
    let moved = archive_log(store, log, &Planning::from_bounds(bounds))?;
    Ok(MovedLines { cleaned_lines: moved.cleaned_lines + mended_lines, ..moved })
}

fn would_move(store: &Store, log: &Path, bounds: Bounds) -> Result<MovedLines, StoreError> {
    let doubled = store.doubled(log)?;
    let cleaned_lines = doubled.iter().map(|doubled| doubled.lines).sum();
    let left_over = doubled.iter().filter(|doubled| doubled.file == log);
    let left_over: u64 = left_over.map(|doubled| doubled.lines).sum();
    let mut moved = MovedLines { cleaned_lines, ..MovedLines::default() };
    if let Some(mut moves) = Planning::from_bounds(bounds).plan(log)? {
        store::lines_of(log, |line| {
            if moves(&line) {
                moved.lines += 1;
                moved.line_bytes += line.line_bytes + 1;
            }
        })?;
    }
    // Lines that a segment has would be removed from the log, not sealed again.
    moved.lines = moved.lines.saturating_sub(left_over);
    Ok(moved)
}

/// How lines are selected.
struct Planning {
    bounds: Bounds,
    /// The number of lines is only a reason to move lines if the log has more than this.
    above_lines: Option<u64>,
    /// Age is only a reason to move lines if there are at least this many.
    aged_lines_min: u64,
}

impl Planning {
    /// The plan of a command that a person runs.
    fn from_bounds(bounds: Bounds) -> Self {
        Self { bounds, above_lines: bounds.keep_lines, aged_lines_min: 1 }
    }

    /// Reads a log and selects lines. Lines without an event stay; `verify` reports them.
    fn plan(&self, log: &Path) -> Result<Option<MoveRule<'static>>, StoreError> {
        let file_repo = Store::repo_of(log).to_string();
        let (mut lines, mut aged) = (0, 0);
        let not_before = self.bounds.not_before;
        store::lines_of(log, |line| {
            if let Some(is_aged) = judged(&line, &file_repo, not_before) {
                lines += 1;
                aged += u64::from(is_aged);
            }
        })?;
        let is_over = self.above_lines.is_some_and(|above| lines > above);
        let keep_lines = self.bounds.keep_lines.filter(|_| is_over).unwrap_or(lines);
        let surplus = lines.saturating_sub(keep_lines);
        let moves_aged = aged >= self.aged_lines_min;
        if surplus == 0 && !moves_aged {
            return Ok(None);
        }
        let mut seen = 0;
        Ok(Some(Box::new(move |line| {
            let Some(is_aged) = judged(line, &file_repo, not_before) else { return false };
            seen += 1;
            seen <= surplus || (is_aged && moves_aged)
        })))
    }
}

/// Tells whether the event of a line is too old; `None` if the line has no event.
fn judged(line: &LogLine<'_>, file_repo: &str, not_before: Option<Timestamp>) -> Option<bool> {
    let DecodedLine::Event(event) = codec::decode(line.bytes, file_repo) else { return None };
    Some(matches!((event.timestamp, not_before), (Some(when), Some(bound)) if when < bound))
}
