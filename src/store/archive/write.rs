//! Making a segment: a hidden file beside its place, which takes that place when it is whole and on the
//! disk. Not here: which lines it is made of.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};

use super::super::{StoreError, rewrite, sync};
use super::format::Ended;

const COMMENT: &str = "agent-knowledge";

/// How many bytes of lines one part has, a line more or less: what a damaged byte costs. One part for
/// all packs by a hundredth better.
const PART_BYTES: usize = 256 * 1024;

/// What is longer than this is cut, in bytes, so that every part can be read.
const LONG_BYTES: usize = 4 * 1024 * 1024;

/// A segment in the making; removed unless it takes its place.
pub(super) struct Sealing {
    path: PathBuf,
    file: File,
    part: Vec<u8>,
    /// How many lines it has.
    pub lines: u64,
    /// How many bytes they have.
    pub line_bytes: u64,
    /// How long it is in the file, in bytes.
    pub packed_bytes: u64,
    is_in_place: bool,
}

impl Sealing {
    /// Begins a segment in a folder that is there, with the owner of the file whose lines it takes.
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

    /// Adds a line, whole in one part unless it is longer than any event.
    pub fn add(&mut self, line: &[u8], ended: Ended) -> Result<(), StoreError> {
        for bytes in line.chunks(LONG_BYTES) {
            self.part.extend_from_slice(bytes);
            if self.part.len() >= LONG_BYTES {
                self.end_part()?;
            }
        }
        if ended == Ended::Yes {
            self.part.push(b'\n');
        }
        self.lines += 1;
        self.line_bytes += u64::try_from(line.len()).unwrap_or(u64::MAX);
        self.line_bytes += u64::from(ended == Ended::Yes);
        if self.part.len() >= PART_BYTES { self.end_part() } else { Ok(()) }
    }

    /// Adds bytes of another segment as they stand there.
    pub fn add_packed(&mut self, bytes: &mut impl Read) -> Result<(), StoreError> {
        let count = io::copy(bytes, &mut self.file).map_err(StoreError::io("write", &self.path))?;
        self.packed_bytes += count;
        Ok(())
    }

    /// Ends the part, so that what was added is in the file.
    pub fn end_part(&mut self) -> Result<(), StoreError> {
        if self.part.is_empty() {
            return Ok(());
        }
        let packed = pack(&self.part).map_err(StoreError::io("write", &self.path))?;
        self.part.clear();
        self.add_packed(&mut packed.as_slice())
    }

    /// Returns when all that was added is on the disk.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.end_part()?;
        self.file.sync_all().map_err(StoreError::io("put on the disk", &self.path))
    }

    /// Takes its place, and returns when the name is on the disk too.
    pub fn put_at(&mut self, segment: &Path) -> Result<(), StoreError> {
        std::fs::rename(&self.path, segment).map_err(StoreError::io("write", segment))?;
        self.is_in_place = true;
        sync::names_of(segment)
    }
}

impl Drop for Sealing {
    fn drop(&mut self) {
        if !self.is_in_place {
            // One that stays behind is read by nobody, and the next removes it.
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
