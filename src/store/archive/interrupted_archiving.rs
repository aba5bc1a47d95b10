//! Ends an archiving that was interrupted between sealing its segment and replacing the log: the lines of the segment are
//! taken out of the log, also if the log changed since. Not here: other lines that stand twice (`doubled_lines`).
//!
//! A line is taken out as often as the segment has it. What somebody wrote more often stays as often as that.

use std::io;
use std::path::{Path, PathBuf};

use super::super::chain::RewriteReason;
use super::super::lines::lines_of;
use super::super::rewrite::{self, Attempt, LineEdits, LineFate, RewriteTurn};
use super::super::{LogLine, StoreError, layout, sync};
use super::archiving_note::{ArchivingNote, note_of};
use super::line_hash::LineCounts;
use super::segment_moves::{MoveRule, reason_of};

/// How often taking lines out starts over because another program changed lines that had been read.
const CHANGED_TRIES_MAX: usize = 3;

/// Takes out of a log what an interrupted archiving left there. Returns how many lines.
pub(super) fn finish_archiving(turn: &RewriteTurn, log: &Path) -> Result<u64, StoreError> {
    let note = note_of(&turn.appenders);
    let Some(noted) = ArchivingNote::read(&note, log)? else { return Ok(0) };
    let left = noted.remaining_lines(log)?;
    let mut is_any_there = false;
    lines_of(log, |line| is_any_there |= left.has(line.bytes))?;
    let mut settled_lines = 0;
    if is_any_there {
        settled_lines = remove_lines(turn, log, std::slice::from_ref(&noted.segment), &|| {
            let mut left = left.clone();
            Box::new(move |line| left.remove(line.bytes))
        })?;
    }
    // A note that stays names lines that still stand twice.
    std::fs::remove_file(&note).map_err(StoreError::io("remove", &note))?;
    Ok(settled_lines)
}

impl ArchivingNote {
    /// Returns the lines that may be left in the log.
    pub(super) fn remaining_lines(&self, log: &Path) -> Result<LineCounts, StoreError> {
        if self.is_done(log) { Ok(LineCounts::default()) } else { LineCounts::count(&self.segment) }
    }
}

/// Takes lines out of a log that these segments have. Returns how many.
pub(super) fn remove_lines<'a>(
    turn: &RewriteTurn,
    log: &Path,
    segments: &[PathBuf],
    doubles: &dyn Fn() -> MoveRule<'a>,
) -> Result<u64, StoreError> {
    for _ in 0..CHANGED_TRIES_MAX {
        let mut removing = Removing { is_double: doubles(), segments, lines: 0 };
        match rewrite::attempt(log, turn, &mut removing)? {
            Attempt::Done => return Ok(removing.lines),
            Attempt::Changed => {}
        }
    }
    let why = "another program keeps changing what is in it; try again";
    Err(StoreError::io("take lines that a segment has out of", log)(io::Error::other(why)))
}

/// Lines that are removed from a log because segments have them.
struct Removing<'a> {
    is_double: MoveRule<'a>,
    segments: &'a [PathBuf],
    lines: u64,
}

impl LineEdits for Removing<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError> {
        if !(self.is_double)(&line) {
            return Ok(LineFate::Stays);
        }
        self.lines += 1;
        Ok(LineFate::Leaves)
    }

    fn seal(&mut self) -> Result<(), StoreError> {
        self.segments.iter().try_for_each(|segment| sync_segment(segment))
    }

    fn reason(&self) -> RewriteReason {
        let segment = self.segments.last().map_or(Path::new(""), PathBuf::as_path);
        reason_of(segment)
    }
}

/// Returns once a segment is on disk, with its name: the process that sealed it may have died before that. Fails if it is
/// gone, because its lines must not leave the log then.
pub(super) fn sync_segment(segment: &Path) -> Result<(), StoreError> {
    let gone = || StoreError::io("open", segment)(io::ErrorKind::NotFound.into());
    let (file, _) = layout::open_to_read(segment)?.ok_or_else(gone)?;
    sync::sync_alone(&file, segment)
}
