//! The note of an archiving: which segment is about to be sealed, and which file is about to replace the log. It tells the
//! next process whether the lines of the segment are still in the log. Not here: removing them (`interrupted_archiving`).

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::super::open_private;
use super::super::rewrite::copy_of;
use super::super::{FileId, StoreError, layout, sync};
use super::{folder_of, is_name};

/// The bytes of the first field, the name of the segment, filled with blanks. Earlier versions read no more than this.
const NAME_BYTES: usize = 256;

/// The most bytes of the note.
const NOTE_BYTES_MAX: u64 = 512;

/// A name that no segment has.
const NO_NAME: &str = ".none.jsonl.gz";

/// Returns the path of the note, beside the lock of the appenders.
pub(super) fn note_of(appenders: &Path) -> PathBuf {
    appenders.with_extension("archiving")
}

/// The contents of a note.
pub(super) struct ArchivingNote {
    /// The segment. It does not exist if it was never sealed.
    pub segment: PathBuf,
    /// The file that was to replace the log; empty if that is not known.
    copy: String,
}

impl ArchivingNote {
    /// Reads a note of a log.
    pub fn read(note: &Path, log: &Path) -> Result<Option<Self>, StoreError> {
        let Some((file, _)) = layout::open_to_read(note)? else { return Ok(None) };
        let (mut bytes, failed) = (Vec::new(), StoreError::io("read", note));
        file.take(NOTE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
        let (name, copy) = bytes.split_at(bytes.len().min(NAME_BYTES));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let (name, copy) = (text(name), text(copy));
        let is_plain = is_name(name.as_ref()) && !name.contains(['/', '\\']);
        // The note is torn or not ours, so it names nothing.
        let name = if is_plain { &name } else { NO_NAME };
        Ok(Some(Self { segment: folder_of(log).join(name), copy }))
    }

    /// Writes a note to disk. A lost note only means that lines stay in both places.
    pub fn write(note: &Path, segment: &Path, copy: Option<FileId>) -> Result<(), StoreError> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true);
        let name = segment.file_name().unwrap_or_default().to_string_lossy();
        let copy = copy.map(|copy| copy.to_string()).unwrap_or_default();
        let text = format!("{name:NAME_BYTES$}{copy}\n");
        let mut file = open_private(&mut options, note).map_err(StoreError::io("make", note))?;
        file.write_all(text.as_bytes()).map_err(StoreError::io("write", note))?;
        sync::sync_alone(&file, note)
    }

    /// Tells whether the log was replaced, so that only the note had to be removed: the copy no longer has its own name. A line
    /// of the log that equals a line of the segment was then written later.
    pub fn is_done(&self, log: &Path) -> bool {
        !self.copy.is_empty() && !self.is_copy(&copy_of(log))
    }

    /// Tells whether a file is the one that was to replace the log.
    pub fn is_copy(&self, file: &Path) -> bool {
        FileId::from_path(file).is_some_and(|found| found.to_string() == self.copy)
    }
}
