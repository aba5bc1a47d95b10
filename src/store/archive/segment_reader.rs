//! Reads a segment: the lines of every part that unpacks, and a report of the parts that do not. Any gzip file
//! can be read, but the part after a damaged one can only be found in segments that we wrote. Not here: what a
//! line means.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::super::{LogLine, StoreError, layout};
use super::segment_format::{LineBreak, MARK, SEGMENT_BYTES_MAX};
use event::limits::READ_LINE_BYTES_MAX;

/// How many bytes are read at a time.
const BLOCK_BYTES: usize = 64 * 1024;

/// The largest part that is unpacked, in bytes. It is buffered until its checksum is verified. Our parts have
/// about 256 KiB. A segment that another program packed as one part fits if it is small.
const PART_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The most bytes that a segment may unpack to: the most that we put into one, plus its last line. A small
/// malicious file can unpack to terabytes.
const UNPACKED_BYTES_MAX: u64 = SEGMENT_BYTES_MAX + READ_LINE_BYTES_MAX as u64;

/// A piece of a segment.
pub(crate) enum SegmentPiece<'a> {
    /// A line without its line break, and whether it has one. Its offset counts damaged parts as empty.
    Line(LogLine<'a>, LineBreak),
    /// Bytes of the file that do not unpack.
    Damaged(Range<u64>),
}

/// The parts of a segment that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentDamage {
    /// The number of damaged places.
    pub places: usize,
    first: u64,
    why: &'static str,
}

impl fmt::Display for SegmentDamage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { places, first, why } = self;
        let noun = if *places == 1 { "place" } else { "places" };
        write!(out, "{places} damaged {noun}, the first at byte {first}: {why}; the rest was read")
    }
}

/// Passes every piece of an open segment to `each`, in order, and returns what could not be read.
///
/// # Errors
/// The system's error, or that of `each`.
pub(crate) fn read(
    file: &mut File,
    path: &Path,
    each: &mut dyn FnMut(SegmentPiece<'_>) -> Result<(), StoreError>,
) -> Result<Option<SegmentDamage>, StoreError> {
    read_within(UNPACKED_BYTES_MAX, file, path, each)
}

/// Like [`read`], but unpacks no more than this many bytes.
pub(super) fn read_within(
    unpacked_bytes_max: u64,
    file: &mut File,
    path: &Path,
    each: &mut dyn FnMut(SegmentPiece<'_>) -> Result<(), StoreError>,
) -> Result<Option<SegmentDamage>, StoreError> {
    let failed = || StoreError::io("read", path);
    file.rewind().map_err(failed())?;
    let length = file.metadata().map_err(failed())?.len();
    let mut reading = SegmentReader {
        source: BufReader::with_capacity(BLOCK_BYTES, file),
        at: 0,
        length,
        left_bytes: unpacked_bytes_max,
        held: Vec::new(),
        lines: Unfinished::default(),
        damage: None,
    };
    // An empty file is never a complete segment.
    if length == 0 {
        reading.record_damage("it is empty");
    }
    while reading.at < length {
        reading.part(path, each)?;
    }
    reading.lines.end(each)?;
    Ok(reading.damage)
}

/// Passes every line of a segment to `each`, like [`super::super::lines_of`]. Returns how many places could not
/// be read.
pub(crate) fn lines_of(
    path: &Path,
    each: &mut dyn FnMut(LogLine<'_>),
) -> Result<usize, StoreError> {
    let Some((mut file, _)) = layout::open_to_read(path)? else { return Ok(0) };
    let damage = read(&mut file, path, &mut |piece| {
        if let SegmentPiece::Line(line, _) = piece {
            each(line);
        }
        Ok(())
    })?;
    Ok(damage.map_or(0, |damage| damage.places))
}

struct SegmentReader<'a> {
    source: BufReader<&'a mut File>,
    /// The offset of the next part in the file.
    at: u64,
    length: u64,
    /// How many more bytes may be unpacked.
    left_bytes: u64,
    /// The unpacked part.
    held: Vec<u8>,
    lines: Unfinished,
    damage: Option<SegmentDamage>,
}

impl SegmentReader<'_> {
    fn record_damage(&mut self, why: &'static str) {
        let first = self.at;
        self.damage.get_or_insert(SegmentDamage { places: 0, first, why }).places += 1;
    }

    /// Reads the next part, or finds the end of a damaged range.
    fn part(
        &mut self,
        path: &Path,
        each: &mut dyn FnMut(SegmentPiece<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = || StoreError::io("read", path);
        let outcome = unpack(&mut self.source, &mut self.held, self.left_bytes).map_err(failed())?;
        let why = match outcome {
            Ok(packed_bytes) => {
                self.at += packed_bytes;
                let unpacked_bytes = u64::try_from(self.held.len()).unwrap_or(u64::MAX);
                self.left_bytes = self.left_bytes.saturating_sub(unpacked_bytes);
                return self.lines.feed(&self.held, each);
            }
            Err(why) => why,
        };
        self.lines.end(each)?;
        self.record_damage(why);
        let next = match self.left_bytes {
            // Too little of the budget is left to unpack another part.
            ..PART_BYTES_MAX => None,
            _ => next_mark(&mut self.source, self.at + 1).map_err(failed())?,
        };
        let end = next.unwrap_or(self.length);
        each(SegmentPiece::Damaged(self.at..end))?;
        self.at = end;
        self.source.seek(SeekFrom::Start(end)).map_err(failed())?;
        Ok(())
    }
}

/// Unpacks one member of a gzip file and returns its length in the file. Nothing counts before its checksum is
/// verified.
fn unpack(
    source: &mut impl BufRead,
    held: &mut Vec<u8>,
    bytes_max: u64,
) -> io::Result<Result<u64, &'static str>> {
    held.clear();
    let mut counted = Counted { source, bytes: 0 };
    let bytes_max = bytes_max.min(PART_BYTES_MAX);
    let outcome = GzDecoder::new(&mut counted).take(bytes_max + 1).read_to_end(held);
    match outcome {
        Ok(count) if u64::try_from(count).is_ok_and(|count| count <= bytes_max) => {
            Ok(Ok(counted.bytes))
        }
        Ok(_) => Ok(Err("it unpacks to more than the limit")),
        Err(error) if error.raw_os_error().is_some() => Err(error),
        Err(_) => Ok(Err("it cannot be unpacked")),
    }
}

/// Finds the beginning of the next part that we wrote, from an offset of the file.
fn next_mark(source: &mut (impl BufRead + Seek), from: u64) -> io::Result<Option<u64>> {
    source.seek(SeekFrom::Start(from))?;
    let (mut window, mut start) = (Vec::new(), from);
    loop {
        let block = source.fill_buf()?;
        let count = block.len();
        if count == 0 {
            return Ok(None);
        }
        window.extend_from_slice(block);
        source.consume(count);
        if let Some(place) = window.windows(MARK.len()).position(|bytes| bytes == MARK) {
            return Ok(Some(start + u64::try_from(place).unwrap_or(0)));
        }
        let surplus = window.len().saturating_sub(MARK.len());
        window.drain(..surplus);
        start += u64::try_from(surplus).unwrap_or(0);
    }
}

/// Counts the bytes taken from a reader.
struct Counted<'a, R> {
    source: &'a mut R,
    bytes: u64,
}

impl<R: BufRead> Read for Counted<'_, R> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(block)?;
        self.bytes += u64::try_from(count).unwrap_or(0);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.bytes += u64::try_from(count).unwrap_or(0);
        self.source.consume(count);
    }
}

/// The unfinished last line. Other programs cut lines in two at the end of a part; we never do.
#[derive(Default)]
struct Unfinished {
    held: Vec<u8>,
    offset: u64,
}

impl Unfinished {
    fn feed(
        &mut self,
        bytes: &[u8],
        each: &mut dyn FnMut(SegmentPiece<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if self.held.is_empty() {
                self.hand_out(line, LineBreak::Present, each)?;
            } else {
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(line);
                self.hand_out(&held, LineBreak::Present, each)?;
            }
        }
        self.held.extend_from_slice(rest);
        // No event is that long. The line is reported as one without an event.
        if self.held.len() > READ_LINE_BYTES_MAX { self.end(each) } else { Ok(()) }
    }

    fn end(
        &mut self,
        each: &mut dyn FnMut(SegmentPiece<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() { Ok(()) } else { self.hand_out(&held, LineBreak::Missing, each) }
    }

    fn hand_out(
        &mut self,
        bytes: &[u8],
        ended: LineBreak,
        each: &mut dyn FnMut(SegmentPiece<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let line_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let line = LogLine { offset: self.offset, bytes, line_bytes };
        self.offset += line_bytes + u64::from(ended == LineBreak::Present);
        each(SegmentPiece::Line(line, ended))
    }
}
