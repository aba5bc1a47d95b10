//! All lines of a file, however long. Not here: following a log with lines of bounded length (`tail`).

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use super::log_file::describe_non_log;
use super::{LogLine, StoreError, layout};

/// The longest line that is passed on, in bytes. This is far more than the reading bound of events. Longer
/// lines are copied unchanged.
pub(super) const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How much is read at a time, in bytes.
const BLOCK_BYTES: usize = 256 * 1024;

/// Lines above which a log is worth archiving: jq and grep slow down, and every first read does.
const LONG_LOG_LINES: usize = 10_000;

/// A line has at least this many bytes, so a shorter log need not be counted.
const LINE_BYTES_MIN: u64 = 64;

/// Counts the lines of a plain file. A file that is not there, or is none, has no lines.
#[must_use]
pub fn line_count(file: &Path) -> usize {
    // Opening a pipe would block.
    if !file.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return 0;
    }
    let Ok(file) = File::open(file) else { return 0 };
    let mut reader = BufReader::new(file);
    let mut lines = 0;
    while reader.skip_until(b'\n').is_ok_and(|count| count > 0) {
        lines += 1;
    }
    lines
}

/// Counts the lines of a log that is worth archiving: one with more than 10,000. `None` for a shorter one.
#[must_use]
pub fn lines_of_long_log(log: &Path) -> Option<usize> {
    let bytes = log.symlink_metadata().ok()?.len();
    let may_be_long = bytes / LINE_BYTES_MIN > LONG_LOG_LINES as u64;
    may_be_long.then(|| line_count(log)).filter(|lines| *lines > LONG_LOG_LINES)
}

/// Passes every line of a file to `each`, including a last line without a line break and lines longer than
/// [`super::Tail`] passes on. A missing file has no lines. Bytes appended meanwhile are left out, because
/// writers may never pause. Returns how many lines were too long (over 64 MiB), and for a segment how many
/// places are damaged.
///
/// # Errors
/// [`StoreError::Io`], or [`StoreError::NotALog`].
pub fn lines_of(file: &Path, mut each: impl FnMut(LogLine<'_>)) -> Result<usize, StoreError> {
    #[cfg(feature = "archive")]
    if super::archive::is_segment(file) {
        return super::archive::lines_of(file, &mut each);
    }
    let Some((opened, metadata)) = open(file)? else { return Ok(0) };
    let mut lines = FileLines::new(opened);
    let mut held = Vec::new();
    while lines.offset < metadata.len()
        && let Some(piece) = lines.next(&mut held).map_err(StoreError::io("read", file))?
    {
        if let LinePiece::Line(offset) = piece {
            each(line_at(offset, &held));
        }
    }
    Ok(lines.too_long)
}

pub(super) fn open(file: &Path) -> Result<Option<(File, Metadata)>, StoreError> {
    let opened = layout::open_to_read(file)?;
    match opened.as_ref().and_then(|(_, metadata)| describe_non_log(metadata)) {
        Some(what) => Err(StoreError::NotALog { path: file.to_owned(), what }),
        None => Ok(opened),
    }
}

pub(super) fn line_at(offset: u64, held: &[u8]) -> LogLine<'_> {
    let bytes = held.strip_suffix(b"\n").unwrap_or(held);
    LogLine { offset, bytes, line_bytes: bytes_u64(bytes.len()) }
}

pub(super) fn bytes_u64(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Iterates over the lines of a file.
pub(super) struct FileLines {
    pub(super) source: BufReader<File>,
    /// Where the next line begins.
    pub(super) offset: u64,
    is_in_long: bool,
    too_long: usize,
}

/// A piece of a file.
pub(super) enum LinePiece {
    /// A line, or the unfinished last one, that begins at this offset.
    Line(u64),
    /// Part of a line that is too long.
    Part,
}

impl FileLines {
    pub(super) fn new(file: File) -> Self {
        let source = BufReader::with_capacity(BLOCK_BYTES, file);
        Self { source, offset: 0, is_in_long: false, too_long: 0 }
    }

    /// Reads the next line, with its line break, into `held`. Returns `None` at the end.
    pub(super) fn next(&mut self, held: &mut Vec<u8>) -> io::Result<Option<LinePiece>> {
        held.clear();
        let offset = self.offset;
        let mut bounded = (&mut self.source).take(bytes_u64(LINE_BYTES_MAX));
        let count = bounded.read_until(b'\n', held)?;
        self.offset += bytes_u64(count);
        let (is_whole, was_in_long) = (held.ends_with(b"\n"), self.is_in_long);
        self.is_in_long = !is_whole && (was_in_long || count == LINE_BYTES_MAX);
        self.too_long += usize::from(self.is_in_long && !was_in_long);
        Ok(match count {
            0 => None,
            _ if was_in_long || self.is_in_long => Some(LinePiece::Part),
            _ => Some(LinePiece::Line(offset)),
        })
    }

    /// Seeks back to the beginning of `held`.
    pub(super) fn put_back(&mut self, held: &[u8]) -> io::Result<()> {
        self.offset -= bytes_u64(held.len());
        self.source.seek(io::SeekFrom::Start(self.offset)).map(drop)
    }
}
