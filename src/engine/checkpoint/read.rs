//! Reads a checkpoint. Everything is compared with its checksum before it is used, except the
//! records, which are checked when they are read. Not here: writing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::checked_file::{CheckpointRecords, ChecksumReader, FileSum};
use super::manifest::{Manifest, VectorsEntry};
use super::{CheckpointError, CheckpointKey, Checkpoints, LastCheckpoint, RestoredState, progress};
use index::late::SignLocations;
use index::lexical::LexicalIndex;
use index::vector::VectorIndex;
use memory::binary_encoding::BinaryDecoder;
use memory::{
    CowVec, Fold, FoldReader, MemoryBound, Neighbours, RecordFile, Section, read_neighbours,
};
use search::snapshot::Health;
use store::{Cursor, open_own_file, own_folder};

/// The longest manifest; it holds a few names and numbers.
const MANIFEST_BYTES_MAX: u64 = 1024 * 1024;

/// Tries while other processes replace the checkpoint meanwhile, which is rare.
const TRIES: usize = 3;

/// Threads that read memories; the other parts are read at the same time.
const READERS_MAX: usize = 4;

/// The content of `heads`.
struct CheckpointHeads {
    cursors: Vec<(std::path::PathBuf, Cursor)>,
    health: Health,
    fold: Fold,
    neighbours: CowVec<Neighbours>,
}

impl Checkpoints {
    /// Reads the checkpoint, if it has this key.
    ///
    /// # Errors
    /// [`CheckpointError`] tells why none can be used.
    pub fn read(
        &self,
        key: &CheckpointKey,
        bound: MemoryBound,
    ) -> Result<RestoredState, CheckpointError> {
        let (mut manifest, mut checksum) = self.current_manifest()?;
        for _ in 1..TRIES {
            let read = self.read_all(&manifest, checksum, key, bound);
            let (now, now_checksum) = self.current_manifest()?;
            if read.is_ok() || (now.number, now_checksum) == (manifest.number, checksum) {
                return read;
            }
            // Its files were removed because there is a newer checkpoint.
            (manifest, checksum) = (now, now_checksum);
        }
        self.read_all(&manifest, checksum, key, bound)
    }

    /// Returns the manifest in the folder, and its checksum.
    pub(super) fn current_manifest(&self) -> Result<(Manifest, u32), CheckpointError> {
        if self.folder.symlink_metadata().is_err() {
            return Err(CheckpointError::Missing);
        }
        own_folder(&self.folder)?;
        let file = open_own_file(&self.manifest())?.ok_or(CheckpointError::Missing)?;
        let mut bytes = Vec::new();
        file.take(MANIFEST_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok((Manifest::from_bytes(&bytes)?, crc32fast::hash(&bytes)))
    }

    fn read_all(
        &self,
        manifest: &Manifest,
        checksum: u32,
        key: &CheckpointKey,
        bound: MemoryBound,
    ) -> Result<RestoredState, CheckpointError> {
        check_key(&manifest.key, key)?;
        let number = manifest.number;
        let texts = self.texts(manifest)?;
        let store: Arc<CheckpointRecords> = Arc::new(CheckpointRecords(texts));
        let record_file = RecordFile { store: store.clone(), length_bytes: manifest.texts_bytes };
        let words = self.opened(&self.file("words", number), manifest.words, "words")?;
        let mine = |meanings: &&VectorsEntry| Some(&meanings.model) == self.model.as_ref();
        let meanings = manifest.meanings.as_ref().filter(mine);
        let path = self.file("meanings", number);
        let meanings = meanings.map(|meanings| self.opened(&path, meanings.sum, "meanings"));
        let meanings = meanings.transpose()?;
        // In parallel: each reads a file of its own.
        let (lexical, vectors, heads) = std::thread::scope(|scope| {
            let lexical = scope.spawn(|| read_whole(words, LexicalIndex::read_from));
            let vectors = scope.spawn(|| meanings.map(|file| read_whole(file, read_meanings)));
            let heads = self.heads(manifest, bound, &record_file);
            (lexical.join(), vectors.join(), heads)
        });
        let damaged = |which| move || CheckpointError::Damaged(which);
        let lexical = lexical.ok().flatten().ok_or_else(damaged("words"))?;
        let meanings = match vectors.ok().ok_or_else(damaged("meanings"))? {
            Some(read) => Some(read.ok_or_else(damaged("meanings"))?),
            None => None,
        };
        let (vectors, sign_locations) = meanings.unzip();
        let sign_locations = sign_locations.unwrap_or_default();
        let CheckpointHeads { cursors, health, fold, neighbours } = heads?;
        let base = LastCheckpoint {
            number,
            checksum,
            texts: store,
            texts_number: manifest.texts_number,
            texts_bytes: manifest.texts_bytes,
        };
        Ok(RestoredState {
            cursors,
            health,
            fold,
            neighbours,
            lexical,
            vectors,
            sign_locations,
            base,
        })
    }

    fn texts(&self, manifest: &Manifest) -> Result<File, CheckpointError> {
        let damaged = || CheckpointError::Damaged("texts");
        let texts = open_own_file(&self.file("texts", manifest.texts_number))?;
        let texts = texts.ok_or_else(damaged)?;
        // It may be longer: a writer may have been interrupted.
        let is_whole = texts.metadata().is_ok_and(|found| found.len() >= manifest.texts_bytes);
        is_whole.then_some(texts).ok_or_else(damaged)
    }

    fn opened(
        &self,
        path: &Path,
        sum: FileSum,
        which: &'static str,
    ) -> Result<ChecksumReader, CheckpointError> {
        let file = open_own_file(path)?;
        let summed = file.and_then(|file| ChecksumReader::open(file, sum));
        summed.ok_or(CheckpointError::Damaged(which))
    }

    fn heads(
        &self,
        manifest: &Manifest,
        bound: MemoryBound,
        record_file: &RecordFile,
    ) -> Result<CheckpointHeads, CheckpointError> {
        let path = self.file("heads", manifest.number);
        let bytes = self.opened(&path, manifest.heads, "heads")?.read_all();
        let read = bytes.and_then(|bytes| {
            let mut from = BinaryDecoder::new(&bytes);
            let cursors = progress::read_cursors(&mut from)?;
            let health = progress::read_health(&mut from)?;
            let restoring = FoldReader::begin(&mut from, bound, record_file)?;
            let sections = sections(&restoring)?;
            let fold = restoring.finish(sections, &mut from)?;
            let neighbours = read_neighbours(&mut from)?;
            let is_whole = from.is_at_end() && neighbours.len() == fold.memories().len();
            is_whole.then_some(CheckpointHeads { cursors, health, fold, neighbours })
        });
        read.ok_or(CheckpointError::Damaged("heads"))
    }
}

/// Reads the sections of a fold in parallel, as far as there are processors.
fn sections(restoring: &FoldReader<'_>) -> Option<Vec<Section>> {
    let readers = std::thread::available_parallelism().map_or(1, usize::from).min(READERS_MAX);
    let next = AtomicUsize::new(0);
    let read = || {
        let mut read = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= restoring.sections_len() {
                return Some(read);
            }
            read.push((place, restoring.section(place)?));
        }
    };
    let mut all = std::thread::scope(|scope| {
        // If a thread cannot be started, the others read more.
        let other = |_| std::thread::Builder::new().spawn_scoped(scope, read).ok();
        let others: Vec<_> = (1..readers).filter_map(other).collect();
        let mut all = read()?;
        for other in others {
            all.append(&mut other.join().ok()??);
        }
        Some(all)
    })?;
    all.sort_unstable_by_key(|(place, _)| *place);
    Some(all.into_iter().map(|(_, section)| section).collect())
}

fn check_key(current: &CheckpointKey, key: &CheckpointKey) -> Result<(), CheckpointError> {
    let differs = [
        (current.program != key.program, "of another version"),
        (current.store != key.store, "of another store"),
        (current.settings != key.settings, "of other settings"),
    ];
    let why = differs.into_iter().find(|(differs, _)| *differs);
    why.map_or(Ok(()), |(_, why)| Err(CheckpointError::Foreign(why)))
}

fn read_meanings(input: &mut dyn Read) -> io::Result<(VectorIndex, SignLocations)> {
    Ok((VectorIndex::read_from(input)?, SignLocations::read_from(input)?))
}

/// Reads a part to the end of its file. `None` where it does not match the checksum.
fn read_whole<T>(
    mut file: ChecksumReader,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> Option<T> {
    let part = read(&mut file).ok()?;
    file.verify().then_some(part)
}
