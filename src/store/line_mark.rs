//! A place in a log where a line begins, recognised by the bytes before it, so that a process that starts later can go on
//! from there. Unlike a [`Cursor`](super::Cursor), it also fits a copy of the log that only has more lines. Not here: following a log with
//! every change of it (`tail`).

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::{StoreError, layout};

/// How many bytes before the place are remembered.
const BEFORE_BYTES: usize = 64;

/// How much of the end of a log is searched for its last line break: more than the longest line that is read.
const LAST_BYTES: u64 = 4 * 1024 * 1024;

/// A place in one log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineMark {
    offset: u64,
    before: Vec<u8>,
}

/// What stands after a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadLines {
    /// Complete lines, with their line breaks.
    pub bytes: Vec<u8>,
    /// How many bytes follow them.
    pub left_bytes: u64,
}

impl LineMark {
    /// Returns the place at an offset. `None` if the log does not exist, is shorter, or has no line break before it.
    ///
    /// # Errors
    /// [`StoreError`] if the log cannot be read.
    pub fn at(log: &Path, offset: u64) -> Result<Option<Self>, StoreError> {
        let Some((mut file, metadata)) = layout::open_to_read(log)? else { return Ok(None) };
        if metadata.len() < offset {
            return Ok(None);
        }
        let before = before(&mut file, offset).map_err(StoreError::io("read", log))?;
        let is_line = before.last().is_none_or(|byte| *byte == b'\n');
        Ok(is_line.then_some(Self { offset, before }))
    }

    /// Returns the place after the last complete line of a log.
    ///
    /// # Errors
    /// [`StoreError`] if the log cannot be read.
    pub fn at_end(log: &Path) -> Result<Self, StoreError> {
        let Some((mut file, metadata)) = layout::open_to_read(log)? else {
            return Ok(Self::default());
        };
        let wrap = |error| StoreError::io("read", log)(error);
        let from = metadata.len().saturating_sub(LAST_BYTES);
        file.seek(SeekFrom::Start(from)).map_err(wrap)?;
        let mut last = Vec::new();
        (&mut file).take(LAST_BYTES).read_to_end(&mut last).map_err(wrap)?;
        let line_break = last.iter().rposition(|byte| *byte == b'\n');
        let complete = line_break.map_or(0, |at| at + 1);
        let offset = match (complete, from) {
            // A line without an end that is longer than any that is read.
            (0, 1..) => return Ok(Self::default()),
            _ => from + u64::try_from(complete).unwrap_or(0),
        };
        let before = before(&mut file, offset).map_err(wrap)?;
        Ok(Self { offset, before })
    }

    /// Returns the offset, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns a checksum of the bytes before the place. It may be stored, which the bytes may not: they can contain a
    /// secret.
    #[must_use]
    pub fn sum(&self) -> String {
        Sha256::digest(&self.before).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Moves past a line, given with its line break.
    pub fn advance(&mut self, line: &[u8]) {
        self.offset = self.offset.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
        self.before.extend_from_slice(line);
        let surplus = self.before.len().saturating_sub(BEFORE_BYTES);
        self.before.drain(..surplus);
    }

    /// Reads the complete lines after the place, at most about `bytes_max` bytes. `None` if this place is no longer in the
    /// log.
    ///
    /// # Errors
    /// [`StoreError`] if the log cannot be read.
    pub fn unread(&self, log: &Path, bytes_max: u64) -> Result<Option<UnreadLines>, StoreError> {
        let Some((mut file, metadata)) = layout::open_to_read(log)? else { return Ok(None) };
        let wrap = |error| StoreError::io("read", log)(error);
        if metadata.len() < self.offset
            || before(&mut file, self.offset).map_err(wrap)? != self.before
        {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(self.offset)).map_err(wrap)?;
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes).map_err(wrap)?;
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(complete);
        let end = self.offset + u64::try_from(complete).unwrap_or(0);
        Ok(Some(UnreadLines { bytes, left_bytes: metadata.len().saturating_sub(end) }))
    }
}

/// Reads the bytes before an offset.
fn before(file: &mut File, offset: u64) -> io::Result<Vec<u8>> {
    let most = u64::try_from(BEFORE_BYTES).unwrap_or(0).min(offset);
    file.seek(SeekFrom::Start(offset - most))?;
    let mut bytes = vec![0; usize::try_from(most).unwrap_or(0)];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-EVENT-2
    #[test]
    fn a_place_is_found_again_unless_it_moved() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.jsonl");
        let long = "x".repeat(100);
        std::fs::write(&log, format!("one\n{long}\ntorn")).unwrap();
        let end = LineMark::at_end(&log).unwrap();
        assert_eq!(end.offset(), 105);
        let mut read = LineMark::default();
        read.advance(b"one\n");
        assert_eq!(LineMark::at(&log, 4).unwrap(), Some(read.clone()));
        read.advance(format!("{long}\n").as_bytes());
        assert_eq!((read.sum(), &read), (end.sum(), &end));
        assert_eq!(LineMark::at(&log, 3).unwrap(), None);
        assert_eq!(LineMark::at(&log, 999).unwrap(), None);
        // A copy with more lines, as git makes it.
        std::fs::write(folder.path().join("b"), format!("one\n{long}\ntorn\nmore\n")).unwrap();
        std::fs::rename(folder.path().join("b"), &log).unwrap();
        let unread = end.unread(&log, 1_000).unwrap().unwrap();
        assert_eq!((unread.bytes.as_slice(), unread.left_bytes), (&b"torn\nmore\n"[..], 0));
        let part = end.unread(&log, 7).unwrap().unwrap();
        assert_eq!((part.bytes.as_slice(), part.left_bytes), (&b"torn\n"[..], 5));
        std::fs::write(&log, format!("two\n{long}y\ntorn\nmore\n")).unwrap();
        assert_eq!(end.unread(&log, 1_000).unwrap(), None);
        std::fs::remove_file(&log).unwrap();
        assert_eq!(end.unread(&log, 1_000).unwrap(), None);
        assert_eq!(LineMark::at_end(&log).unwrap(), LineMark::default());
    }
}
