//! Writes a fold to a checkpoint. The records of memories are stored in another file; only their
//! offsets are written here. Memories are written in sections, so that several threads can read
//! them. Not here: reading (`fold_reader`), files and checksums (`engine::checkpoint`).

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::binary_encoding::{BinaryDecoder, BinaryEncoder};
use super::bound::MemoryAge;
use super::ledger::Ledger;
use super::texts::{RecordBlock, RecordStore};
use super::{
    Fold, IdShare, LineOrigin, LogFile, Memory, MemoryBound, Provenance, Version, event_record,
};
use event::{Confidence, EventId, FolderPath, MemoryScope, RepoKey, StoreOrigin, SuccessRate};

/// Bytes that are buffered before they are written.
const PART_BYTES: usize = 256 * 1024;

/// The file of records.
#[derive(Debug, Clone)]
pub struct RecordFile {
    /// Reads the records.
    pub store: Arc<dyn RecordStore>,
    /// Its length in bytes.
    pub length_bytes: u64,
}

/// The values that memories share, each numbered in the order of first use.
struct SharedFields<'a> {
    logs: Vec<&'a LogFile>,
    repos: Vec<&'a RepoKey>,
    provenances: Vec<&'a Provenance>,
    log_numbers: HashMap<&'a LogFile, usize>,
    repo_numbers: HashMap<&'a RepoKey, usize>,
    provenance_numbers: HashMap<*const Provenance, usize>,
}

impl<'a> SharedFields<'a> {
    fn collect(fold: &'a Fold) -> io::Result<Self> {
        let (logs, repos, provenances) = (Vec::new(), Vec::new(), Vec::new());
        let (log_numbers, repo_numbers) = (HashMap::new(), HashMap::new());
        let provenance_numbers = HashMap::new();
        let mut shared =
            Self { logs, repos, provenances, log_numbers, repo_numbers, provenance_numbers };
        for memory in fold.memories.iter() {
            shared.add_repo(&memory.repo);
            shared.add_log(&memory.provenance.log)?;
            if let std::collections::hash_map::Entry::Vacant(free) =
                shared.provenance_numbers.entry(Arc::as_ptr(&memory.provenance))
            {
                free.insert(shared.provenances.len());
                shared.provenances.push(&memory.provenance);
            }
            for version in memory.about().iter().chain(memory.conflicts()).chain(memory.copies()) {
                shared.add_version(version)?;
            }
        }
        fold.orphans.values().flatten().try_for_each(|version| shared.add_version(version))?;
        Ok(shared)
    }

    fn add_version(&mut self, version: &'a Version) -> io::Result<()> {
        self.add_repo(&version.repo);
        self.add_log(&version.place.log)
    }

    fn add_repo(&mut self, repo: &'a RepoKey) {
        if !self.repo_numbers.contains_key(repo) {
            self.repo_numbers.insert(repo, self.repos.len());
            self.repos.push(repo);
        }
    }

    fn add_log(&mut self, log: &'a LogFile) -> io::Result<()> {
        if !self.log_numbers.contains_key(log) {
            self.log_numbers.insert(log, self.logs.len());
            log.path().to_str().ok_or_else(not_utf8)?;
            self.logs.push(log);
        }
        Ok(())
    }

    fn log(&self, log: &LogFile) -> usize {
        self.log_numbers.get(log).copied().unwrap_or(usize::MAX)
    }

    fn repo(&self, repo: &RepoKey) -> usize {
        self.repo_numbers.get(repo).copied().unwrap_or(usize::MAX)
    }

    fn write(&self, to: &mut BinaryEncoder) {
        to.size(self.logs.len());
        self.logs.iter().for_each(|log| write_log(log, to));
        to.size(self.repos.len());
        self.repos.iter().for_each(|repo| to.text(repo.as_str()));
        to.size(self.provenances.len());
        for provenance in &self.provenances {
            to.size(self.log(&provenance.log));
            to.text(provenance.kind.as_str());
            to.text(&provenance.agent_id);
            to.optional_text(provenance.session_id.as_deref());
            to.optional_text(provenance.source.as_deref());
            to.instant(provenance.expires);
            to.size(usize::from(provenance.confidence == Confidence::Inferred));
            to.size(usize::from(provenance.applies == MemoryScope::Global));
            to.optional_text(provenance.folder.as_ref().map(FolderPath::as_str));
            to.size(usize::from(provenance.is_private));
        }
    }

    fn write_memory(&self, memory: &Memory, offset: u64, to: &mut BinaryEncoder) {
        to.text(memory.id.as_str());
        to.instant(memory.timestamp);
        to.size(self.repo(&memory.repo));
        let (successes, attempts) = memory.success_rate.map_or((0, 0), SuccessRate::counts);
        to.number(successes.into());
        to.number(attempts.into());
        let provenance = self.provenance_numbers.get(&Arc::as_ptr(&memory.provenance));
        to.size(provenance.copied().unwrap_or(usize::MAX));
        to.number(memory.offset);
        to.number(offset);
        to.number(memory.text.length_bytes());
        to.raw(&memory.text.checksum().to_le_bytes());
        self.write_versions(memory.about(), to);
        self.write_versions(memory.conflicts(), to);
        self.write_versions(memory.copies(), to);
        to.size(match memory.id_share() {
            IdShare::Alone => 0,
            IdShare::First => 1,
            IdShare::Beside => 2,
        });
        memory.write_flag(to);
    }

    fn write_versions(&self, versions: &[Arc<Version>], to: &mut BinaryEncoder) {
        to.size(versions.len());
        for version in versions {
            to.text(version.event.id.as_str());
            to.instant(version.event.timestamp);
            to.size(self.repo(&version.repo));
            to.size(self.log(&version.place.log));
            to.number(version.place.offset);
            to.raw(&version.digest);
            event_record::write(&version.event, to);
        }
    }
}

fn write_log(log: &LogFile, to: &mut BinaryEncoder) {
    to.text(log.path().to_str().unwrap_or_default());
    to.optional_text(log.origin.other().map(StoreOrigin::as_str));
    to.size(usize::from(matches!(log.origin, LineOrigin::Trusted(_))));
}

/// A path that is not UTF-8 cannot be written.
fn not_utf8() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path of a log is not UTF-8")
}

impl Fold {
    /// Writes everything but the records. `offset_of` gives the offset of each memory's record.
    ///
    /// # Errors
    /// An error of `out`, a log whose path is not UTF-8, or a record that is stored nowhere.
    pub fn write(
        &self,
        out: &mut dyn Write,
        offset_of: &dyn Fn(usize, &Memory) -> Option<u64>,
    ) -> io::Result<()> {
        let shared = SharedFields::collect(self)?;
        let mut packing = BinaryEncoder::default();
        shared.write(&mut packing);
        packing.size(self.memories.len());
        let mut numbered = self.memories.iter().enumerate();
        for chunk in self.memories.chunks() {
            let mut section = BinaryEncoder::default();
            for (number, memory) in numbered.by_ref().take(chunk.len()) {
                let offset = offset_of(number, memory).ok_or(io::ErrorKind::InvalidInput)?;
                shared.write_memory(memory, offset, &mut section);
            }
            packing.bytes(&section.into_bytes());
            packing.flush_over(out, PART_BYTES)?;
        }
        packing.size(self.orphans.len());
        for (about, versions) in self.orphans.iter() {
            packing.text(about.as_str());
            shared.write_versions(versions, &mut packing);
            packing.flush_over(out, PART_BYTES)?;
        }
        self.ledger.write(&mut packing);
        packing.flush_over(out, 0)
    }

    /// Writes all needed records to a new file, and returns their offsets.
    ///
    /// # Errors
    /// An error of `out`, or a record that cannot be read.
    pub fn write_texts(&self, out: &mut dyn Write) -> io::Result<Vec<u64>> {
        let mut offset = 0;
        let mut offsets = Vec::with_capacity(self.memories.len());
        for memory in self.memories.iter() {
            offsets.push(offset);
            out.write_all(&memory.text.bytes().ok_or(io::ErrorKind::InvalidData)?)?;
            offset += memory.text.length_bytes();
        }
        Ok(offsets)
    }

    /// Returns the blocks of records that are in memory, and adds no more records to them.
    pub fn seal(&mut self) -> Vec<Arc<RecordBlock>> {
        self.texts.seal()
    }

    /// Returns the full blocks, once more than `blocks_max` are in memory. After that only
    /// [`Fold::write_texts`] writes all records.
    pub fn take_full(&mut self, blocks_max: usize) -> Vec<Arc<RecordBlock>> {
        self.texts.take_full(blocks_max)
    }

    /// Returns the size of all records in bytes.
    #[must_use]
    pub fn texts_bytes(&self) -> u64 {
        self.texts.live_bytes()
    }

    /// Reads the records from the file that [`Fold::write_texts`] wrote from now on.
    pub fn move_texts(&mut self, store: &Arc<dyn RecordStore>, offsets: &[u64]) {
        let damage_flag = self.texts.damage_flag().clone();
        let block = RecordBlock::stored(Arc::clone(store), 0, damage_flag);
        for (place, offset) in offsets.iter().enumerate() {
            if let Some(memory) = self.memories.get_mut(place) {
                let memory = Arc::make_mut(memory);
                memory.text = memory.text.moved(&block, *offset);
            }
        }
        self.texts.begin_compaction();
    }
}

impl Ledger {
    fn write(&self, to: &mut BinaryEncoder) {
        to.number(self.held_bytes());
        to.number(self.horizon().is_some().into());
        if let Some(MemoryAge { when, id }) = self.horizon() {
            to.number(when.is_some().into());
            to.instant(when.flatten());
            to.text(id.as_str());
        }
        to.size(self.left_out().len());
        for (key, timestamp) in self.left_out().iter() {
            to.raw(key);
            to.instant(*timestamp);
        }
        to.size(self.orphaned().len());
        self.orphaned().iter().for_each(|key| to.raw(key));
    }

    pub(super) fn read(from: &mut BinaryDecoder<'_>, bound: MemoryBound) -> Option<Self> {
        let held_bytes = from.number()?;
        let horizon = match from.number()? {
            0 => None,
            _ => {
                let is_known = from.number()? == 1;
                let instant = from.instant()?;
                let id = EventId::foreign(from.text()?)?;
                Some(MemoryAge { when: is_known.then_some(instant), id })
            }
        };
        let left_out = (0..from.count()?).map(|_| Some((from.array()?, from.instant()?)));
        let left_out = left_out.collect::<Option<Vec<_>>>()?;
        let orphaned = (0..from.count()?).map(|_| from.array());
        let orphaned = orphaned.collect::<Option<_>>()?;
        Some(Self::restored(bound, held_bytes, horizon, left_out, orphaned))
    }
}
