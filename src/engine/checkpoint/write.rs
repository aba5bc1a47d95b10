//! Writes a checkpoint. Records in memory are appended to the existing file of records, until half
//! of that is unused; everything else is written anew. Not here: reading.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;

use super::checked_file::{CheckpointRecords, ChecksumWriter, FileSum};
use super::manifest::{Manifest, VectorsEntry};
use super::{
    CheckpointError, CheckpointKey, CheckpointParts, Checkpoints, KINDS, LastCheckpoint, progress,
};
use memory::binary_encoding::BinaryEncoder;
use memory::texts::{self, RecordBlock};
use memory::{Fold, Memory, write_neighbours};
use store::{FileLock, StoreError, make_own_file, open_own_file, own_folder};

/// The file of records is rewritten when it is this many times the size that is needed.
const TEXTS_TIMES_MAX: u64 = 2;

/// A file of records up to this size is not worth rewriting.
const TEXTS_BYTES_MIN: u64 = 4 * 1024 * 1024;

/// Where the records are stored.
struct RecordPlacement {
    number: u64,
    bytes: u64,
    records: Arc<CheckpointRecords>,
    how: Placement,
}

/// How the records were stored.
enum Placement {
    /// These blocks were appended, at these offsets.
    Appended(Vec<(Arc<RecordBlock>, u64)>),
    /// All records were rewritten, each memory's at this offset.
    Rewritten(Vec<u64>),
}

impl Checkpoints {
    /// Replaces the current checkpoint, and takes the records out of memory. If the current one is
    /// `base`, the records it holds are not written again.
    ///
    /// # Errors
    /// [`CheckpointError::Busy`] while another process writes; otherwise another
    /// [`CheckpointError`], and the current one stays.
    pub fn write(
        &self,
        key: CheckpointKey,
        parts: CheckpointParts<'_>,
        base: Option<&LastCheckpoint>,
    ) -> Result<LastCheckpoint, CheckpointError> {
        own_folder(&self.folder)?;
        let _turn = match FileLock::acquire(&self.folder.join("lock"), 0) {
            Err(StoreError::Busy { .. }) => return Err(CheckpointError::Busy),
            taken => taken?,
        };
        let current = self.current_manifest().ok();
        let is_current = |base: &&LastCheckpoint| {
            let now = current.as_ref().map(|(manifest, checksum)| (manifest.number, *checksum));
            now == Some((base.number, base.checksum))
        };
        let written = self.write_all(key, parts, base.filter(is_current));
        if written.is_err() {
            // The files of a failed checkpoint are removed.
            self.remove_unused(current.as_ref().map(|(manifest, _)| manifest));
        }
        written
    }

    fn write_all(
        &self,
        key: CheckpointKey,
        parts: CheckpointParts<'_>,
        base: Option<&LastCheckpoint>,
    ) -> Result<LastCheckpoint, CheckpointError> {
        let CheckpointParts { cursors, health, fold, neighbours, lexical, meanings } = parts;
        let number = self.numbers().map(|(_, number)| number).max().unwrap_or(0) + 1;
        let placed = match base {
            Some(base) if !needs_rewrite(base, fold) => self.add(base, fold)?,
            _ => self.write_anew(number, fold)?,
        };
        let mut first = BinaryEncoder::default();
        progress::write_cursors(&cursors, &mut first);
        let health = progress::write_health(health, &mut first);
        health.ok_or(CheckpointError::NotNow("the path of a log is not UTF-8"))?;
        let heads = self.summed("heads", number, |out| {
            first.flush_over(out, 0)?;
            fold.write(out, &placed.offsets())?;
            write_neighbours(neighbours, out)
        })?;
        let words = self.summed("words", number, |out| lexical.write_to(out))?;
        let meanings = match self.model.clone().zip(meanings) {
            Some((model, (vectors, places))) => {
                let sum = self.summed("meanings", number, |out| {
                    vectors.write_to(out)?;
                    places.write_to(out)
                })?;
                Some(VectorsEntry { model, sum })
            }
            None => None,
        };
        let (texts_number, texts_bytes) = (placed.number, placed.bytes);
        let manifest = Manifest { key, number, heads, words, meanings, texts_number, texts_bytes };
        let checksum = self.publish(&manifest)?;
        self.remove_unused(Some(&manifest));
        let texts = placed.release_memory(fold);
        Ok(LastCheckpoint { number, checksum, texts, texts_number, texts_bytes })
    }

    fn summed(
        &self,
        kind: &str,
        number: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<FileSum, CheckpointError> {
        let mut out = ChecksumWriter::new(make_own_file(&self.file(kind, number))?);
        write(&mut out)?;
        Ok(out.finish()?.1)
    }

    /// Appends the records in memory to the file of a checkpoint.
    fn add(
        &self,
        base: &LastCheckpoint,
        fold: &mut Fold,
    ) -> Result<RecordPlacement, CheckpointError> {
        let file = open_own_file(&self.file("texts", base.texts_number))?;
        let mut file = file.ok_or(CheckpointError::Damaged("texts"))?;
        // Bytes after that come from an interrupted writer.
        file.set_len(base.texts_bytes)?;
        file.seek(SeekFrom::Start(base.texts_bytes))?;
        let (mut added, mut bytes) = (Vec::new(), base.texts_bytes);
        for block in fold.seal() {
            let Some(records) = block.bytes_in_memory() else { continue };
            file.write_all(&records)?;
            added.push((block, bytes));
            bytes += u64::try_from(records.len()).unwrap_or(0);
        }
        let records = Arc::clone(&base.texts);
        Ok(RecordPlacement {
            number: base.texts_number,
            bytes,
            records,
            how: Placement::Appended(added),
        })
    }

    fn write_anew(&self, number: u64, fold: &Fold) -> Result<RecordPlacement, CheckpointError> {
        let mut out = ChecksumWriter::new(make_own_file(&self.file("texts", number))?);
        let offsets = fold.write_texts(&mut out)?;
        let (file, sum) = out.finish()?;
        let records = Arc::new(CheckpointRecords(file));
        Ok(RecordPlacement {
            number,
            bytes: sum.length_bytes,
            records,
            how: Placement::Rewritten(offsets),
        })
    }

    /// Replaces the current manifest.
    fn publish(&self, manifest: &Manifest) -> Result<u32, CheckpointError> {
        let bytes = manifest.to_bytes()?;
        let path = self.folder.join("manifest.new");
        make_own_file(&path)?.write_all(&bytes)?;
        std::fs::rename(&path, self.manifest())?;
        Ok(crc32fast::hash(&bytes))
    }

    /// Removes the files that belong to no checkpoint. A process that has one open keeps reading
    /// it.
    fn remove_unused(&self, current: Option<&Manifest>) {
        for (kind, number) in self.numbers().collect::<Vec<_>>() {
            let is_needed = current.is_some_and(|manifest| match kind {
                "texts" => number == manifest.texts_number,
                "meanings" => number == manifest.number && manifest.meanings.is_some(),
                _ => number == manifest.number,
            });
            if !is_needed {
                // The next checkpoint tries again.
                let _ = std::fs::remove_file(self.file(kind, number));
            }
        }
    }

    /// Returns the kinds and numbers of the files in the folder.
    fn numbers(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = entry.file_name();
            let (kind, number) = name.to_str()?.split_once('-')?;
            let kind = KINDS.into_iter().find(|known| *known == kind)?;
            Some((kind, number.parse().ok()?))
        })
    }
}

impl RecordPlacement {
    /// Returns the offset of each memory's record.
    fn offsets(&self) -> impl Fn(usize, &Memory) -> Option<u64> {
        let (rewritten, starts) = match &self.how {
            Placement::Rewritten(offsets) => (Some(offsets), HashMap::new()),
            Placement::Appended(blocks) => {
                let start = |(block, start): &(Arc<RecordBlock>, u64)| (Arc::as_ptr(block), *start);
                (None, blocks.iter().map(start).collect())
            }
        };
        move |number, memory| match rewritten {
            Some(offsets) => offsets.get(number).copied(),
            None => memory.text.stored_at().map(|(offset, ..)| offset).or_else(|| {
                let (block, offset) = memory.text.place();
                starts.get(&Arc::as_ptr(block))?.checked_add(offset)
            }),
        }
    }

    /// Frees the records in memory; from now on they are read from the file.
    fn release_memory(self, fold: &mut Fold) -> Arc<CheckpointRecords> {
        let store: Arc<dyn texts::RecordStore> = self.records.clone();
        match self.how {
            Placement::Rewritten(offsets) => fold.move_texts(&store, &offsets),
            Placement::Appended(blocks) => {
                blocks.iter().for_each(|(block, start)| block.move_to(Arc::clone(&store), *start));
            }
        }
        self.records
    }
}

/// Tells whether enough of the file of records is unused for it to be rewritten.
fn needs_rewrite(base: &LastCheckpoint, fold: &Fold) -> bool {
    let needed = fold.texts_bytes().saturating_mul(TEXTS_TIMES_MAX);
    base.texts_bytes > needed.max(TEXTS_BYTES_MIN)
}
