//! The files of a checkpoint: writing and reading with a length and a checksum, and the file of
//! records, which is read by offset. Not here: their content.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Take, Write};

use serde::{Deserialize, Serialize};

use memory::texts::RecordStore;

/// The length of a file, and its checksum (CRC-32).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct FileSum {
    pub(super) length_bytes: u64,
    pub(super) checksum: u32,
}

/// A writer that computes the checksum of what it writes.
pub(super) struct ChecksumWriter {
    out: BufWriter<File>,
    hasher: crc32fast::Hasher,
    length_bytes: u64,
}

/// A larger buffer than the usual 8 KiB, for fewer system calls.
const BUFFER_BYTES: usize = 256 * 1024;

impl ChecksumWriter {
    pub(super) fn new(file: File) -> Self {
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        Self { out, hasher: crc32fast::Hasher::new(), length_bytes: 0 }
    }

    pub(super) fn finish(self) -> io::Result<(File, FileSum)> {
        let (length_bytes, checksum) = (self.length_bytes, self.hasher.finalize());
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((file, FileSum { length_bytes, checksum }))
    }
}

impl Write for ChecksumWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.length_bytes += u64::try_from(bytes.len()).unwrap_or(0);
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A reader that computes the checksum of what it reads, and reads no more than the expected
/// length.
pub(super) struct ChecksumReader {
    input: BufReader<Take<File>>,
    hasher: crc32fast::Hasher,
    read_bytes: u64,
    sum: FileSum,
}

impl ChecksumReader {
    /// `None` where the file has another length.
    pub(super) fn open(file: File, sum: FileSum) -> Option<Self> {
        let is_so_long = file.metadata().is_ok_and(|found| found.len() == sum.length_bytes);
        let input = BufReader::with_capacity(BUFFER_BYTES, file.take(sum.length_bytes));
        let hasher = crc32fast::Hasher::new();
        is_so_long.then_some(Self { input, hasher, read_bytes: 0, sum })
    }

    /// Tells whether the whole file was read and its checksum matches.
    pub(super) fn verify(self) -> bool {
        let read = FileSum { length_bytes: self.read_bytes, checksum: self.hasher.finalize() };
        read == self.sum
    }

    /// Reads the whole file. `None` where its checksum does not match.
    pub(super) fn read_all(mut self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.sum.length_bytes).ok()?);
        self.read_to_end(&mut bytes).ok()?;
        self.verify().then_some(bytes)
    }
}

impl Read for ChecksumReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(to)?;
        self.hasher.update(to.get(..count).unwrap_or_default());
        self.read_bytes += u64::try_from(count).unwrap_or(0);
        Ok(count)
    }
}

/// A file of records.
#[derive(Debug)]
pub(super) struct CheckpointRecords(pub(super) File);

impl RecordStore for CheckpointRecords {
    #[cfg(unix)]
    fn read_at(&self, to: &mut [u8], offset: u64) -> bool {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, to, offset).is_ok()
    }

    #[cfg(windows)]
    fn read_at(&self, mut to: &mut [u8], mut offset: u64) -> bool {
        while !to.is_empty() {
            let read = std::os::windows::fs::FileExt::seek_read(&self.0, to, offset);
            let Ok(count @ 1..) = read else { return false };
            let Some(rest) = to.get_mut(count..) else { return false };
            to = rest;
            offset += u64::try_from(count).unwrap_or(0);
        }
        true
    }
}
