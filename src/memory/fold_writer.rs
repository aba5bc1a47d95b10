//! A fold as bytes, without the records of its memories: those are kept apart, and only where they are is
//! written. Memories stand in sections, so that several threads can read them. Not here: reading them
//! (`restored`), files, checksums, whose fold it was (`checkpoint`).

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::bound::{Age, Ledger};
use super::packed::{Packed, Packing};
use super::texts::{RecordBlock, RecordStore};
use super::{Bound, Fold, Memory, Provenance, Version, event_record};
use event::{Confidence, EventId, RepoKey, SuccessRate};

/// Bytes that are gathered before they are handed on.
const PART_BYTES: usize = 256 * 1024;

/// Where records are kept.
#[derive(Debug, Clone)]
pub struct RecordFile {
    /// What reads them.
    pub store: Arc<dyn RecordStore>,
    /// How long it is.
    pub length_bytes: u64,
}

/// What memories have in common, each under a number in the order of first use.
struct SharedFields<'a> {
    logs: Vec<&'a str>,
    repos: Vec<&'a RepoKey>,
    provenances: Vec<&'a Provenance>,
    log_numbers: HashMap<&'a Path, usize>,
    repo_numbers: HashMap<&'a RepoKey, usize>,
    provenance_numbers: HashMap<*const Provenance, usize>,
}

impl<'a> SharedFields<'a> {
    fn of(fold: &'a Fold) -> io::Result<Self> {
        let (logs, repos, provenances) = (Vec::new(), Vec::new(), Vec::new());
        let (log_numbers, repo_numbers) = (HashMap::new(), HashMap::new());
        let provenance_numbers = HashMap::new();
        let mut shared =
            Self { logs, repos, provenances, log_numbers, repo_numbers, provenance_numbers };
        for memory in fold.memories.iter() {
            shared.note_repo(&memory.repo);
            shared.note_log(&memory.provenance.log)?;
            if let std::collections::hash_map::Entry::Vacant(free) =
                shared.provenance_numbers.entry(Arc::as_ptr(&memory.provenance))
            {
                free.insert(shared.provenances.len());
                shared.provenances.push(&memory.provenance);
            }
            for version in memory.about().iter().chain(memory.conflicts()) {
                shared.note(version)?;
            }
        }
        fold.orphans.values().flatten().try_for_each(|version| shared.note(version))?;
        Ok(shared)
    }

    fn note(&mut self, version: &'a Version) -> io::Result<()> {
        self.note_repo(&version.repo);
        self.note_log(&version.origin.log)
    }

    fn note_repo(&mut self, repo: &'a RepoKey) {
        if !self.repo_numbers.contains_key(repo) {
            self.repo_numbers.insert(repo, self.repos.len());
            self.repos.push(repo);
        }
    }

    fn note_log(&mut self, log: &'a Path) -> io::Result<()> {
        if !self.log_numbers.contains_key(log) {
            self.log_numbers.insert(log, self.logs.len());
            self.logs.push(log.to_str().ok_or_else(not_text)?);
        }
        Ok(())
    }

    fn log(&self, log: &Path) -> usize {
        self.log_numbers.get(log).copied().unwrap_or(usize::MAX)
    }

    fn repo(&self, repo: &RepoKey) -> usize {
        self.repo_numbers.get(repo).copied().unwrap_or(usize::MAX)
    }

    fn write(&self, to: &mut Packing) {
        to.size(self.logs.len());
        self.logs.iter().for_each(|log| to.text(log));
        to.size(self.repos.len());
        self.repos.iter().for_each(|repo| to.text(repo.as_str()));
        to.size(self.provenances.len());
        for provenance in &self.provenances {
            to.size(self.log(&provenance.log));
            to.text(provenance.kind.as_str());
            to.text(&provenance.agent_id);
            to.maybe(provenance.session_id.as_deref());
            to.maybe(provenance.source.as_deref());
            to.instant(provenance.expires);
            to.size(usize::from(provenance.confidence == Confidence::Inferred));
        }
    }

    fn write_memory(&self, memory: &Memory, offset: u64, to: &mut Packing) {
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
        memory.write_flag(to);
    }

    fn write_versions(&self, versions: &[Arc<Version>], to: &mut Packing) {
        to.size(versions.len());
        for version in versions {
            to.text(version.event.id.as_str());
            to.instant(version.event.timestamp);
            to.size(self.repo(&version.repo));
            to.size(self.log(&version.origin.log));
            to.number(version.origin.offset);
            to.raw(&version.digest);
            event_record::write(&version.event, to);
        }
    }
}

/// A path that is no text cannot be written down.
fn not_text() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path of a log is no text")
}

impl Fold {
    /// Writes all but the records; `offset_of` tells where that of a number is kept.
    ///
    /// # Errors
    /// What `out` said; a log whose path is no text, a record that is kept nowhere.
    pub fn write(
        &self,
        out: &mut dyn Write,
        offset_of: &dyn Fn(usize, &Memory) -> Option<u64>,
    ) -> io::Result<()> {
        let shared = SharedFields::of(self)?;
        let mut packing = Packing::default();
        shared.write(&mut packing);
        packing.size(self.memories.len());
        let mut numbered = self.memories.iter().enumerate();
        for chunk in self.memories.chunks() {
            let mut section = Packing::default();
            for (number, memory) in numbered.by_ref().take(chunk.len()) {
                let offset = offset_of(number, memory).ok_or(io::ErrorKind::InvalidInput)?;
                shared.write_memory(memory, offset, &mut section);
            }
            packing.bytes(&section.done());
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

    /// Writes all records anew, without what nobody needs, and returns where each is.
    ///
    /// # Errors
    /// What `out` said, and a record that cannot be read.
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

    /// Returns the blocks of records that are in memory; none is added to them any more.
    pub fn seal(&mut self) -> Vec<Arc<RecordBlock>> {
        self.texts.seal()
    }

    /// Returns the blocks that take no more records, once more than `blocks_max` are in memory. From then on only
    /// [`Fold::write_texts`] writes all records.
    pub fn take_full(&mut self, blocks_max: usize) -> Vec<Arc<RecordBlock>> {
        self.texts.take_full(blocks_max)
    }

    /// Returns the bytes of all records.
    #[must_use]
    pub fn texts_bytes(&self) -> u64 {
        self.texts.live_bytes()
    }

    /// Takes the records from where [`Fold::write_texts`] wrote them.
    pub fn move_texts(&mut self, store: &Arc<dyn RecordStore>, offsets: &[u64]) {
        let damage = self.texts.shared_damage().clone();
        let block = RecordBlock::stored(Arc::clone(store), 0, damage);
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
    fn write(&self, to: &mut Packing) {
        to.number(self.held_bytes());
        to.number(self.horizon().is_some().into());
        if let Some(Age { when, id }) = self.horizon() {
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

    pub(super) fn read(from: &mut Packed<'_>, bound: Bound) -> Option<Self> {
        let held_bytes = from.number()?;
        let horizon = match from.number()? {
            0 => None,
            _ => {
                let is_known = from.number()? == 1;
                let instant = from.instant()?;
                let id = EventId::foreign(from.text()?)?;
                Some(Age { when: is_known.then_some(instant), id })
            }
        };
        let left_out = (0..from.count()?).map(|_| Some((from.array()?, from.instant()?)));
        let left_out = left_out.collect::<Option<Vec<_>>>()?;
        let orphaned = (0..from.count()?).map(|_| from.array());
        let orphaned = orphaned.collect::<Option<_>>()?;
        Some(Self::restored(bound, held_bytes, horizon, left_out, orphaned))
    }
}
