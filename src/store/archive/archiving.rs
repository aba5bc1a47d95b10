//! Moves old lines from a log into a new segment, so that at every moment each line is in one of the two. Not
//! here: which lines move (`upkeep::archive`).
//!
//! The segment is written while the log is copied without those lines (`rewrite`), and both are synced. Under
//! the appenders' lock, if the lines read so far are unchanged, the segment first gets its name, and then the
//! copy replaces the log. A process that dies between these steps leaves the lines in both places, which
//! changes nothing for readers. It has written the name of the segment to `.locks/<log>.archiving` before (`archiving_note`). The
//! next process that rewrites the log finds that note and removes the lines from the log (`interrupted_archiving`).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::super::chain::RewriteReason;
use super::super::rewrite::{self, Attempt, LineEdits, LineFate};
use super::super::{FileId, LogLine, Store, StoreError, layout};
use super::archiving_note::{ArchivingNote, note_of};
use super::segment_format::{LineBreak, SEGMENT_BYTES_MAX};
use super::segment_moves::{MoveRule, reason_of};
use super::segment_writer::SegmentWriter;
use super::settled_turn::SettledTurn;
use super::{FOLDER, folder_of, segments_in};

/// The most lines of one segment. The next process may have to remember all of them, in 40 bytes each.
const SEGMENT_LINES_MAX: u64 = 1_000_000;

/// How often moving starts over because another program changed lines that had been read.
const CHANGED_TRIES_MAX: usize = 3;

/// The lines that were moved from a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MovedLines {
    /// The segments that were created.
    pub segments: Vec<PathBuf>,
    /// The number of moved lines.
    pub lines: u64,
    /// The size of these lines, in bytes.
    pub line_bytes: u64,
    /// The size of the segments, in bytes.
    pub packed_bytes: u64,
    /// How many lines were removed from the log because a segment already had them, after a process died
    /// between sealing the segment and rewriting the log.
    pub cleaned_lines: u64,
}

/// Moves lines of a log into segments. `plan` reads the log and selects the lines; it returns `None` if no line
/// moves. It is called again when a segment is full and after another program changed the log. No other process
/// archives or scrubs the log meanwhile. Lines written after the plan are left for the next run, because
/// writers may never pause.
///
/// # Errors
/// [`StoreError`]. Every line is then in the log, in a segment, or in both.
pub fn archive<'a>(
    store: &Store,
    log: &Path,
    plan: &mut dyn FnMut() -> Result<Option<MoveRule<'a>>, StoreError>,
) -> Result<MovedLines, StoreError> {
    store.ensure()?;
    let turn = SettledTurn::acquire(store, log)?;
    let mut moved = MovedLines { cleaned_lines: turn.settled_lines, ..MovedLines::default() };
    let (mut changed, archiving) = (0, ArchivingRun { store, log, turn: &turn });
    while let Some(moves) = plan()? {
        match archiving.move_some(moves, &mut moved)? {
            SegmentOutcome::Full => {}
            SegmentOutcome::Done => break,
            SegmentOutcome::Changed => {
                changed += 1;
                if changed == CHANGED_TRIES_MAX {
                    let why = "another program keeps changing what is in it; try again";
                    return Err(StoreError::io("archive", log)(io::Error::other(why)));
                }
            }
        }
    }
    Ok(moved)
}

/// The result of one segment.
enum SegmentOutcome {
    /// The segment is full, and more lines remain.
    Full,
    /// All selected lines were moved.
    Done,
    /// Another program changed the log.
    Changed,
}

struct ArchivingRun<'a> {
    store: &'a Store,
    log: &'a Path,
    turn: &'a SettledTurn,
}

impl ArchivingRun<'_> {
    fn move_some(
        &self,
        moves: MoveRule<'_>,
        moved: &mut MovedLines,
    ) -> Result<SegmentOutcome, StoreError> {
        let Some((_, metadata)) = layout::open_to_read(self.log)? else {
            return Ok(SegmentOutcome::Done);
        };
        let folder = self.ensure_folder(&metadata)?;
        let segment = next_in(&folder)?;
        let sealing = SegmentWriter::begin(&folder, &metadata)?;
        let mut moving = LineMover {
            note: note_of(&self.turn.appenders),
            segment,
            moves,
            sealing,
            is_read: false,
            is_full: false,
            is_sealed: false,
        };
        match rewrite::attempt(self.log, self.turn, &mut moving) {
            Ok(Attempt::Changed) => return Ok(SegmentOutcome::Changed),
            Ok(Attempt::Done) if !moving.is_sealed => return Ok(SegmentOutcome::Done),
            Ok(Attempt::Done) => {}
            Err(error) => {
                moving.forget_the_copy(self.log);
                return Err(error);
            }
        }
        // If the note stays, the next process finds nothing left to do.
        let _ = std::fs::remove_file(&moving.note);
        let LineMover { sealing, segment, is_full, .. } = moving;
        moved.lines += sealing.lines;
        moved.line_bytes += sealing.line_bytes;
        moved.packed_bytes += sealing.packed_bytes;
        moved.segments.push(segment);
        Ok(if is_full { SegmentOutcome::Full } else { SegmentOutcome::Done })
    }

    /// Creates the folder of the segments, private and with the log's owner.
    fn ensure_folder(&self, like: &std::fs::Metadata) -> Result<PathBuf, StoreError> {
        let folder = folder_of(self.log);
        for path in [self.store.root().join(FOLDER), folder.clone()] {
            if !layout::is_own_folder(&path)? {
                let failed = || StoreError::io("make the directory", &path);
                crate::make_private_dir(&path).map_err(failed())?;
                let made = File::open(&path).map_err(failed())?;
                rewrite::owned_like(&made, like).map_err(failed())?;
            }
        }
        Ok(folder)
    }
}

/// Returns the path of the next segment in a folder.
fn next_in(folder: &Path) -> Result<PathBuf, StoreError> {
    let number = |path: &PathBuf| -> Option<u64> {
        path.file_name()?.to_str()?.split('.').next()?.parse().ok()
    };
    let last = segments_in(folder)?.iter().filter_map(number).max().unwrap_or(0);
    Ok(folder.join(format!("{:06}.jsonl.gz", last.saturating_add(1))))
}

/// Lines that move from a log to a segment.
struct LineMover<'a> {
    note: PathBuf,
    segment: PathBuf,
    moves: MoveRule<'a>,
    sealing: SegmentWriter,
    /// Whether all lines that may move were read. Lines appended meanwhile stay.
    is_read: bool,
    is_full: bool,
    is_sealed: bool,
}

impl LineMover<'_> {
    /// Removes the copy from the note if it did not replace the log, because the copy is then gone too.
    fn forget_the_copy(&self, log: &Path) {
        let noted = ArchivingNote::read(&self.note, log).ok().flatten();
        if self.is_sealed && noted.is_some_and(|noted| !noted.is_copy(log)) {
            // Best effort: lines with an id of their own are found without it (`doubled_lines`).
            let _ = ArchivingNote::write(&self.note, &self.segment, None);
        }
    }
}

impl LineEdits for LineMover<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError> {
        let is_full =
            self.sealing.line_bytes >= SEGMENT_BYTES_MAX || self.sealing.lines >= SEGMENT_LINES_MAX;
        if self.is_read || is_full || !(self.moves)(&line) {
            return Ok(LineFate::Stays);
        }
        self.sealing.add(line.bytes, LineBreak::Present)?;
        self.is_full =
            self.sealing.line_bytes >= SEGMENT_BYTES_MAX || self.sealing.lines >= SEGMENT_LINES_MAX;
        Ok(LineFate::Leaves)
    }

    fn before_the_lock(&mut self, copy: &Path) -> Result<(), StoreError> {
        self.is_read = true;
        if self.sealing.lines == 0 {
            return Ok(());
        }
        self.sealing.sync()?;
        ArchivingNote::write(&self.note, &self.segment, FileId::from_path(copy))
    }

    fn seal(&mut self) -> Result<(), StoreError> {
        if self.sealing.lines > 0 {
            self.sealing.put_at(&self.segment)?;
            self.is_sealed = true;
        }
        Ok(())
    }

    fn reason(&self) -> RewriteReason {
        reason_of(&self.segment)
    }
}
