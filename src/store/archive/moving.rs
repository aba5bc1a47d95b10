//! Moves old lines from a log into a new segment, so that at every moment each line is in one of the two. Not
//! here: which lines move (`upkeep::archive`).
//!
//! The segment is written while the log is copied without those lines (`rewrite`), and both are synced. Under
//! the appenders' lock, if the lines read so far are unchanged, the segment first gets its name, and then the
//! copy replaces the log. A process that dies between these steps leaves the lines in both places, which
//! changes nothing for readers. It has written the name of the segment to `.locks/<log>.archiving` before. The
//! next process finds that note and removes the lines from the log.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::super::chain::RewriteReason;
use super::super::lines::lines_of;
use super::super::lock::{self, FileLock};
use super::super::rewrite::{self, Attempt, LineEdits, LineFate};
use super::super::{LogLine, Store, StoreError, layout, sync};
use super::format::{Ended, SEGMENT_BYTES_MAX};
use super::write::Sealing;
use super::{FOLDER, folder_of, is_name, segments_in};

/// The most lines of one segment. The next process may have to remember all of them, in 16 bytes each.
const SEGMENT_LINES_MAX: u64 = 1_000_000;

/// Longer than the name of any segment, in bytes.
const NOTE_BYTES_MAX: u64 = 256;

/// A name that no segment has.
const NO_NAME: &str = ".none.jsonl.gz";

/// How often moving starts over because another program changed lines that had been read.
const CHANGED_TRIES_MAX: usize = 3;

/// Decides for each line of a log, in order from the first, whether it moves.
pub type Moves<'a> = Box<dyn FnMut(&LogLine<'_>) -> bool + 'a>;

/// The lines that were moved from a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moved {
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
    plan: &mut dyn FnMut() -> Result<Option<Moves<'a>>, StoreError>,
) -> Result<Moved, StoreError> {
    store.ensure()?;
    let lock = rewrite::lock_of(store, log);
    let _only = FileLock::take(&lock.with_extension("rewrite"), lock::WAIT_MS_MAX)?;
    let (mut moved, mut changed) = (Moved::default(), 0);
    let archiving = Archiving { store, log, lock: &lock };
    moved.cleaned_lines = archiving.clean()?;
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

struct Archiving<'a> {
    store: &'a Store,
    log: &'a Path,
    lock: &'a Path,
}

impl Archiving<'_> {
    /// Returns the path of the note that names the segment about to be sealed.
    fn note(&self) -> PathBuf {
        self.lock.with_extension("archiving")
    }

    fn move_some(&self, moves: Moves<'_>, moved: &mut Moved) -> Result<SegmentOutcome, StoreError> {
        let Some((_, metadata)) = layout::open_to_read(self.log)? else {
            return Ok(SegmentOutcome::Done);
        };
        let folder = self.ensure_folder(&metadata)?;
        let segment = next_in(&folder)?;
        let sealing = Sealing::begin(&folder, &metadata)?;
        let mut moving = Moving {
            note: self.note(),
            segment,
            moves,
            sealing,
            is_read: false,
            is_full: false,
            is_sealed: false,
        };
        match rewrite::attempt(self.log, self.lock, &mut moving)? {
            Attempt::Changed => return Ok(SegmentOutcome::Changed),
            Attempt::Done if !moving.is_sealed => return Ok(SegmentOutcome::Done),
            Attempt::Done => {}
        }
        // If the note stays, the next process finds nothing left to do.
        let _ = std::fs::remove_file(&moving.note);
        let Moving { sealing, segment, is_full, .. } = moving;
        moved.lines += sealing.lines;
        moved.line_bytes += sealing.line_bytes;
        moved.packed_bytes += sealing.packed_bytes;
        moved.segments.push(segment);
        Ok(if is_full { SegmentOutcome::Full } else { SegmentOutcome::Done })
    }

    /// Removes lines from the log that a process had sealed before it died. Returns how many.
    fn clean(&self) -> Result<u64, StoreError> {
        let note = self.note();
        let Some(segment) = noted(&note, self.log)? else { return Ok(0) };
        let cleaned_lines = match left_over(self.log, &segment)? {
            Some(left) => self.take_out(&left, &segment)?,
            None => 0,
        };
        std::fs::remove_file(&note).map_err(StoreError::io("remove", &note))?;
        Ok(cleaned_lines)
    }

    fn take_out(&self, left: &[LineHash], segment: &Path) -> Result<u64, StoreError> {
        for _ in 0..CHANGED_TRIES_MAX {
            let mut removing = Removing { matching: Matching { left, next: 0 }, segment };
            match rewrite::attempt(self.log, self.lock, &mut removing) {
                Ok(Attempt::Done) => return Ok(u64::try_from(left.len()).unwrap_or(u64::MAX)),
                Ok(Attempt::Changed) => {}
                Err(error) => return Err(error),
            }
        }
        // Another program keeps changing the log, so the lines stay in both places.
        Ok(0)
    }

    /// Creates the folder of the segments, private and with the log's owner.
    fn ensure_folder(&self, like: &std::fs::Metadata) -> Result<PathBuf, StoreError> {
        let folder = folder_of(self.log);
        for path in [self.store.root().join(FOLDER), folder.clone()] {
            if !layout::is_own_folder(&path)? {
                let failed = || StoreError::io("make the directory", &path);
                layout::make_private_dir(&path).map_err(failed())?;
                let made = File::open(&path).map_err(failed())?;
                rewrite::owned_like(&made, like).map_err(failed())?;
            }
        }
        Ok(folder)
    }
}

impl Store {
    /// Returns how many lines of a log a segment already has, because a process died between sealing the
    /// segment and rewriting the log. The next [`archive`] removes them.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn left_in(&self, log: &Path) -> Result<usize, StoreError> {
        let note = rewrite::lock_of(self, log).with_extension("archiving");
        let Some(segment) = noted(&note, log)? else { return Ok(0) };
        Ok(left_over(log, &segment)?.map_or(0, |left| left.len()))
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
struct Moving<'a> {
    note: PathBuf,
    segment: PathBuf,
    moves: Moves<'a>,
    sealing: Sealing,
    /// Whether all lines that may move were read. Lines appended meanwhile stay.
    is_read: bool,
    is_full: bool,
    is_sealed: bool,
}

impl LineEdits for Moving<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError> {
        let is_full =
            self.sealing.line_bytes >= SEGMENT_BYTES_MAX || self.sealing.lines >= SEGMENT_LINES_MAX;
        if self.is_read || is_full || !(self.moves)(&line) {
            return Ok(LineFate::Stays);
        }
        self.sealing.add(line.bytes, Ended::Yes)?;
        self.is_full =
            self.sealing.line_bytes >= SEGMENT_BYTES_MAX || self.sealing.lines >= SEGMENT_LINES_MAX;
        Ok(LineFate::Leaves)
    }

    fn before_the_lock(&mut self) -> Result<(), StoreError> {
        self.is_read = true;
        if self.sealing.lines == 0 {
            return Ok(());
        }
        self.sealing.sync()?;
        write_note(&self.note, &self.segment)
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

/// Names the segment for the chain of the log.
fn reason_of(segment: &Path) -> RewriteReason {
    RewriteReason::Archive(segment.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// Reads the note. A segment that does not exist was never sealed.
fn noted(note: &Path, log: &Path) -> Result<Option<PathBuf>, StoreError> {
    let Some((file, _)) = layout::open_to_read(note)? else { return Ok(None) };
    let (mut name, failed) = (Vec::new(), StoreError::io("read", note));
    file.take(NOTE_BYTES_MAX).read_to_end(&mut name).map_err(failed)?;
    let name = String::from_utf8_lossy(&name);
    let name = name.trim_end();
    let is_plain = is_name(name.as_ref()) && !name.contains(['/', '\\']);
    // The note is torn or not ours, so it names nothing.
    Ok(Some(folder_of(log).join(if is_plain { name } else { NO_NAME })))
}

/// Writes the name of a segment to disk. A lost note only means that lines stay in both places.
fn write_note(note: &Path, segment: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    layout::private(&mut options);
    let name = segment.file_name().unwrap_or_default().to_string_lossy();
    let mut file = options.open(note).map_err(StoreError::io("make", note))?;
    writeln!(file, "{name}").map_err(StoreError::io("write", note))?;
    sync::alone(&file, note)
}

/// Half a SHA-256 of a line, so that different lines never match.
type LineHash = [u8; 16];

fn hash_of(line: &[u8]) -> LineHash {
    let mut hash = [0; 16];
    hash.iter_mut().zip(Sha256::digest(line)).for_each(|(to, from)| *to = from);
    hash
}

/// Returns the lines of a segment if the log contains all of them in order.
fn left_over(log: &Path, segment: &Path) -> Result<Option<Vec<LineHash>>, StoreError> {
    let mut left = Vec::new();
    lines_of(segment, |line| left.push(hash_of(line.bytes)))?;
    let mut matching = Matching { left: &left, next: 0 };
    lines_of(log, |line| {
        matching.takes(&line);
    })?;
    let is_there = !left.is_empty() && matching.is_whole();
    Ok(is_there.then_some(left))
}

/// Finds lines in a log, one after another.
struct Matching<'a> {
    left: &'a [LineHash],
    next: usize,
}

impl Matching<'_> {
    fn takes(&mut self, line: &LogLine<'_>) -> bool {
        let Some(wanted) = self.left.get(self.next) else { return false };
        let is_it = *wanted == hash_of(line.bytes);
        self.next += usize::from(is_it);
        is_it
    }

    fn is_whole(&self) -> bool {
        self.next == self.left.len()
    }
}

/// Lines that are removed from a log because a segment has them.
struct Removing<'a> {
    matching: Matching<'a>,
    segment: &'a Path,
}

impl LineEdits for Removing<'_> {
    fn line(&mut self, line: LogLine<'_>) -> Result<LineFate, StoreError> {
        Ok(if self.matching.takes(&line) { LineFate::Leaves } else { LineFate::Stays })
    }

    fn seal(&mut self) -> Result<(), StoreError> {
        if !self.matching.is_whole() {
            let why = "another program changed what is in it; try again";
            return Err(StoreError::io("archive", self.segment)(io::Error::other(why)));
        }
        // The process that sealed the segment may have died before its name was on disk.
        let Some((file, _)) = layout::open_to_read(self.segment)? else { return Ok(()) };
        sync::alone(&file, self.segment)
    }

    fn reason(&self) -> RewriteReason {
        reason_of(self.segment)
    }
}
