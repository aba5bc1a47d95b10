//! A file of JSON records, one a line, read as a stream: it may be written while we read, be compressed, or be larger than
//! memory. The only file that names `ruzstd`. Not here: what a record means (`readers`).

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::source::{ReadError, has_extension};
use super::transcript::{RecordStatus, TranscriptSink};

/// Longest line that is parsed, in bytes. Images and copied histories make longer ones; no message does.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// Bytes read at once.
const BUFFER_BYTES: usize = 1 << 18;

/// The mark of UTF-8 that some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The complete lines of a file, from an offset on.
pub struct RecordLines {
    reader: Box<dyn BufRead>,
    offset: u64,
    line: Vec<u8>,
}

/// A line, and where it begins.
pub enum RecordLine<'a> {
    /// Its bytes, without the line break; empty lines are left out.
    Whole {
        /// Its first byte in the file, uncompressed.
        offset: u64,
        /// Its bytes.
        bytes: &'a [u8],
    },
    /// It is longer than [`LINE_BYTES_MAX`] and was skipped.
    TooLong,
}

impl RecordLines {
    /// Opens a file, `.zst` or plain. A compressed file is always read from the beginning.
    ///
    /// # Errors
    /// [`ReadError::Io`]
    pub fn open(path: &Path, offset: u64) -> Result<Self, ReadError> {
        let mut file = File::open(path).map_err(ReadError::io(path))?;
        if has_extension(path, "jsonl.zst") || has_extension(path, "jsonl.zstd") {
            let decoder = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file))
                .map_err(|error| ReadError::form(path, format!("no zstd file: {error}")))?;
            let reader = BufReader::with_capacity(BUFFER_BYTES, decoder);
            return Ok(Self { reader: Box::new(reader), offset: 0, line: Vec::new() });
        }
        file.seek(SeekFrom::Start(offset)).map_err(ReadError::io(path))?;
        Ok(Self::from_reader(BufReader::with_capacity(BUFFER_BYTES, file), offset))
    }

    /// Reads lines from any reader.
    pub fn from_reader(reader: impl BufRead + 'static, offset: u64) -> Self {
        Self { reader: Box::new(reader), offset, line: Vec::new() }
    }

    /// Returns where the next line begins: after the last line, where reading goes on when the file has grown.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next complete line, or nothing at the end. A last line without a line break is still being written;
    /// it is left for the next time.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<RecordLine<'_>>> {
        loop {
            self.line.clear();
            let begin = self.offset;
            let read = self
                .reader
                .by_ref()
                .take(LINE_BYTES_MAX as u64)
                .read_until(b'\n', &mut self.line)?;
            if self.line.last() != Some(&b'\n') {
                if read < LINE_BYTES_MAX {
                    return Ok(None);
                }
                let skipped = self.reader.skip_until(b'\n')?;
                self.offset += (read + skipped) as u64;
                return Ok(Some(RecordLine::TooLong));
            }
            self.offset += read as u64;
            let is_first = begin == 0;
            let bytes = self.line.trim_ascii();
            let skip = if is_first && bytes.starts_with(BYTE_ORDER_MARK) {
                BYTE_ORDER_MARK.len()
            } else {
                0
            };
            if bytes.len() > skip {
                let from = self.line.len() - self.line.trim_ascii_start().len() + skip;
                let bytes = self.line.get(from..).unwrap_or_default().trim_ascii_end();
                return Ok(Some(RecordLine::Whole { offset: begin, bytes }));
            }
        }
    }
}

/// Reads a file that is one value.
///
/// # Errors
/// [`ReadError`] if it cannot be read, or has more than `bytes_max` bytes.
pub fn file_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path).map_err(ReadError::io(path))?;
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(ReadError::io(path))?;
    if bytes.len() as u64 > bytes_max {
        return Err(ReadError::form(path, format!("larger than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// Unpacks a value that a tool keeps compressed (zstd), or returns nothing if it is no such value, or has more than
/// `bytes_max` bytes.
#[must_use]
pub fn decompressed(bytes: &[u8], bytes_max: u64) -> Option<Vec<u8>> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).ok()?;
    let mut unpacked = Vec::new();
    decoder.take(bytes_max.saturating_add(1)).read_to_end(&mut unpacked).ok()?;
    (unpacked.len() as u64 <= bytes_max).then_some(unpacked)
}

/// Compresses a value as tools do, for tests.
#[cfg(any(test, feature = "testing"))]
#[must_use]
pub fn compressed(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Calls `each` for every JSON value in the lines of a file from `offset` on, and returns the offset after the last
/// complete line. Two values on one line, which tools write when they race, are both read. `is_noise` may dismiss a line
/// by its bytes before it is parsed; it is counted as left. `each` says how it recognised a value.
///
/// # Errors
/// [`ReadError`] if the file cannot be opened or read.
pub fn each_record<T: DeserializeOwned>(
    path: &Path,
    offset: u64,
    sink: &mut dyn TranscriptSink,
    is_noise: &dyn Fn(&[u8]) -> bool,
    each: &mut dyn FnMut(T, &mut dyn TranscriptSink) -> Option<String>,
) -> Result<u64, ReadError> {
    let mut lines = RecordLines::open(path, offset)?;
    loop {
        let line = lines.next_line().map_err(ReadError::io(path))?;
        let (offset, bytes) = match line {
            None => return Ok(lines.offset()),
            Some(RecordLine::TooLong) => {
                sink.count(RecordStatus::TooLong);
                continue;
            }
            Some(RecordLine::Whole { offset, bytes }) => (offset, bytes),
        };
        if is_noise(bytes) {
            sink.count(RecordStatus::Left);
            continue;
        }
        sink.offset(offset);
        each_value(bytes, sink, each);
    }
}

/// Calls `each` for every value of one line. `each` returns the kind of a value that it does not know.
fn each_value<T: DeserializeOwned>(
    bytes: &[u8],
    sink: &mut dyn TranscriptSink,
    each: &mut dyn FnMut(T, &mut dyn TranscriptSink) -> Option<String>,
) {
    values_of_line(bytes, &mut |value| match value.map(|value| each(value, sink)) {
        Ok(None) => sink.count(RecordStatus::Understood),
        Ok(Some(kind)) if kind.is_empty() => sink.count(RecordStatus::Left),
        Ok(Some(kind)) => sink.count(RecordStatus::Unknown(&kind)),
        Err(_) => sink.count(RecordStatus::Broken),
    });
}

/// Calls `each` for every JSON value of a line, up to the first that is broken.
pub fn values_of_line<T: DeserializeOwned>(
    line: &[u8],
    each: &mut dyn FnMut(serde_json::Result<T>),
) {
    let text = mended(line);
    for value in serde_json::Deserializer::from_str(&text).into_iter() {
        let is_broken = value.is_err();
        each(value);
        if is_broken {
            return;
        }
    }
}

/// Reads a value that is a whole text, such as a column of a database.
///
/// # Errors
/// Those of the parser.
pub fn repaired_value<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    serde_json::from_str(&mended(json))
}

/// Returns JSON without what would lose all of it for one character: half a surrogate pair, bytes that are no UTF-8, and
/// NULs, which a crash leaves in files.
fn mended(json: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(json);
    let whole = text.contains("\\ud").then(|| event::surrogates_mended(&text)).flatten();
    let text = whole.map_or(text, Cow::Owned);
    if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::transcript::{Census, SessionExtent, SessionFact, TranscriptMoment};

    #[derive(Default)]
    struct Counts {
        census: Census,
        offsets: Vec<u64>,
    }

    impl TranscriptSink for Counts {
        fn session(&mut self, _native_id: &str, _extent: SessionExtent) {}
        fn fact(&mut self, _fact: SessionFact) {}
        fn moment(&mut self, _moment: TranscriptMoment) {}
        fn offset(&mut self, offset: u64) {
            self.offsets.push(offset);
        }
        fn count(&mut self, record: RecordStatus<'_>) {
            self.census.count(record);
        }
    }

    fn read(bytes: &[u8], offset: u64) -> (Vec<Value>, Counts, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let (mut values, mut counts) = (Vec::new(), Counts::default());
        let mut each = |value: Value, _: &mut dyn TranscriptSink| {
            values.push(value);
            None
        };
        let is_noise = |line: &[u8]| line.starts_with(b"{\"noise\"");
        let end = each_record(&path, offset, &mut counts, &is_noise, &mut each).unwrap();
        (values, counts, end)
    }

    #[test]
    fn a_torn_last_line_waits_for_the_next_time() {
        let (values, counts, end) = read(b"{\"a\":1}\n{\"b\":2}\n{\"c\":", 0);
        assert_eq!((values.len(), end), (2, 16));
        assert_eq!((counts.census.understood, counts.census.broken), (2, 0));
        assert_eq!(counts.offsets, [0, 8]);
        let (values, counts, end) = read(b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n", 16);
        assert_eq!((values.len(), end), (1, 24));
        assert_eq!(counts.offsets, [16]);
    }

    #[test]
    fn a_mark_glued_values_and_damage_lose_no_neighbour() {
        let mut bytes = BYTE_ORDER_MARK.to_vec();
        bytes.extend_from_slice(b"{\"a\":1}\r\n\n{\"b\":2}{\"c\":3}\nno json\n{\"noise\":1}\n{\"d\":\"\\ud83d\"}\n{\"e\":\"\xff\"}\n");
        let (values, counts, end) = read(&bytes, 0);
        assert_eq!(values.len(), 5, "{values:?}");
        assert_eq!(
            values.iter().skip(3).map(ToString::to_string).collect::<Vec<_>>(),
            ["{\"d\":\"\u{fffd}\"}", "{\"e\":\"\u{fffd}\"}"]
        );
        assert_eq!((counts.census.broken, counts.census.left), (1, 1));
        assert_eq!(end, bytes.len() as u64);
    }

    #[test]
    fn a_line_beyond_the_limit_is_skipped_alone() {
        let mut bytes = b"{\"a\":\"".to_vec();
        bytes.resize(LINE_BYTES_MAX + 10, b'x');
        bytes.extend_from_slice(b"\"}\n{\"b\":2}\n");
        let (values, Counts { census, .. }, end) = read(&bytes, 0);
        assert_eq!((values.len(), census.too_long, census.broken), (1, 1, 0));
        assert_eq!(end, bytes.len() as u64);
    }

    #[test]
    fn a_compressed_value_has_a_bound() {
        let packed = compressed(&vec![b'x'; 100_000]);
        assert!(packed.len() < 1_000);
        assert_eq!(decompressed(&packed, 100_000).map(|bytes| bytes.len()), Some(100_000));
        assert_eq!(decompressed(&packed, 99_999), None);
        assert_eq!(decompressed(b"{}", 10), None);
    }
}
