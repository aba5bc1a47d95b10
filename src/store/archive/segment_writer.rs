//! Creates a segment: a hidden file that gets its name when it is complete and on disk. Not here: which lines
//! it contains.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};

use super::super::{StoreError, rewrite, sync};
use super::segment_format::LineBreak;

const COMMENT: &str = "agent-knowledge";

/// How many bytes of lines one part has, give or take one line. This is what one damaged byte costs. A single
/// part for all lines would pack one hundredth better.
const PART_BYTES: usize = 256 * 1024;

/// Longer lines are cut at this length, in bytes, so that every part can be read.
const LONG_BYTES: usize = 4 * 1024 * 1024;

/// A segment in progress. It is removed unless it gets its final name.
pub(super) struct SegmentWriter {
    path: PathBuf,
    file: File,
    part: Vec<u8>,
    /// The number of lines.
    pub lines: u64,
    /// The size of the lines, in bytes.
    pub line_bytes: u64,
    /// The size in the file, in bytes.
    pub packed_bytes: u64,
    is_in_place: bool,
}

impl SegmentWriter {
    /// Begins a segment in an existing folder, with the owner of the log.
    pub fn begin(folder: &Path, like: &Metadata) -> Result<Self, StoreError> {
        let path = folder.join(".sealing");
        let made = rewrite::make_anew(&path);
        let owned = made.and_then(|file| rewrite::owned_like(&file, like).map(|()| file));
        let file = owned.map_err(StoreError::io("make", &path))?;
        Ok(Self {
            path,
            file,
            part: Vec::new(),
            lines: 0,
            line_bytes: 0,
            packed_bytes: 0,
            is_in_place: false,
        })
    }

    /// Adds a line. It is whole within one part unless it is longer than any event.
    pub fn add(&mut self, line: &[u8], ended: LineBreak) -> Result<(), StoreError> {
        for bytes in line.chunks(LONG_BYTES) {
            self.part.extend_from_slice(bytes);
            if self.part.len() >= LONG_BYTES {
                self.end_part()?;
            }
        }
        if ended == LineBreak::Present {
            self.part.push(b'\n');
        }
        self.lines += 1;
        self.line_bytes += u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.line_bytes += u64::from(ended == LineBreak::Present);
        if self.part.len() >= PART_BYTES { self.end_part() } else { Ok(()) }
    }

    /// Copies bytes of another segment unchanged.
    pub fn add_packed(&mut self, bytes: &mut impl Read) -> Result<(), StoreError> {
        let count = io::copy(bytes, &mut self.file).map_err(StoreError::io("write", &self.path))?;
        self.packed_bytes += count;
        Ok(())
    }

    /// Ends the part, so that all added lines are in the file.
    pub fn end_part(&mut self) -> Result<(), StoreError> {
        if self.part.is_empty() {
            return Ok(());
        }
        let packed = pack(&self.part).map_err(StoreError::io("write", &self.path))?;
        self.part.clear();
        self.add_packed(&mut packed.as_slice())
    }

    /// Ends a segment: one without lines has an empty part, because a segment is never an empty file.
    pub fn end(&mut self) -> Result<(), StoreError> {
        self.end_part()?;
        if self.packed_bytes > 0 {
            return Ok(());
        }
        let packed = pack(&[]).map_err(StoreError::io("write", &self.path))?;
        self.add_packed(&mut packed.as_slice())
    }

    /// Returns once all added lines are on disk.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.end_part()?;
        self.file.sync_all().map_err(StoreError::io("sync", &self.path))
    }

    /// Gives the segment its name, and returns once the name is on disk too.
    pub fn put_at(&mut self, segment: &Path) -> Result<(), StoreError> {
        std::fs::rename(&self.path, segment).map_err(StoreError::io("write", segment))?;
        self.is_in_place = true;
        sync::names_of(segment)
    }
}

impl Drop for SegmentWriter {
    fn drop(&mut self) {
        if !self.is_in_place {
            // Nobody reads a leftover file, and the next run removes it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn pack(lines: &[u8]) -> io::Result<Vec<u8>> {
    let gzip = GzBuilder::new().comment(COMMENT).operating_system(255);
    let mut gzip = gzip.write(Vec::new(), Compression::default());
    gzip.write_all(lines)?;
    gzip.finish()
}
