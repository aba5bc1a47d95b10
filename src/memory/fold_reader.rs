//! Reads a fold from a checkpoint, section by section, in any order and on any number of threads.
//! Not here: writing it (`fold_writer`), the threads (`engine::checkpoint`).

use std::collections::HashMap;
use std::sync::Arc;

use super::binary_encoding::BinaryDecoder;
use super::ledger::Ledger;
use super::memory::{MemoryHead, RelatedEvents};
use super::texts::{RecordBlock, RecordText};
use super::{
    CowVec, Fold, IdShare, LineOrigin, LinePlace, LogFile, Memory, MemoryBound, Provenance,
    RecordFile, Version, event_record,
};
use event::{
    Confidence, EventId, EventType, FolderPath, MemoryScope, RepoKey, StoreOrigin, SuccessRate,
};

/// A fold that is being read.
pub struct FoldReader<'a> {
    fold: Fold,
    logs: Vec<Arc<LogFile>>,
    repos: Vec<RepoKey>,
    provenances: Vec<Arc<Provenance>>,
    block: Arc<RecordBlock>,
    length_bytes: u64,
    memories_len: usize,
    sections: Vec<&'a [u8]>,
}

/// The memories of one section.
pub struct Section {
    memories: Vec<Arc<Memory>>,
    texts_bytes: u64,
}

impl<'a> FoldReader<'a> {
    /// Reads the shared tables and finds the sections. `None` for bytes that `Fold::write` did not
    /// write.
    #[must_use]
    pub fn begin(
        from: &mut BinaryDecoder<'a>,
        bound: MemoryBound,
        record_file: &RecordFile,
    ) -> Option<Self> {
        let fold = Fold::within(bound, None);
        let damage_flag = fold.texts.damage_flag().clone();
        let block = RecordBlock::stored(Arc::clone(&record_file.store), 0, damage_flag);
        let logs = (0..from.count()?).map(|_| log_file(from).map(Arc::new));
        let logs: Vec<Arc<LogFile>> = logs.collect::<Option<_>>()?;
        let repos = (0..from.count()?).map(|_| repo(from.text()?));
        let repos: Vec<RepoKey> = repos.collect::<Option<_>>()?;
        let (provenances, length_bytes) = (Vec::new(), record_file.length_bytes);
        let (memories_len, sections) = (0, Vec::new());
        let mut restoring =
            Self { fold, logs, repos, provenances, block, length_bytes, memories_len, sections };
        let provenances = (0..from.count()?).map(|_| restoring.provenance(from).map(Arc::new));
        restoring.provenances = provenances.collect::<Option<_>>()?;
        restoring.memories_len = from.count()?;
        let sections = CowVec::<Arc<Memory>>::chunk_lengths(restoring.memories_len);
        restoring.sections = sections.map(|_| from.bytes()).collect::<Option<_>>()?;
        Some(restoring)
    }

    /// Returns the number of sections.
    #[must_use]
    pub fn sections_len(&self) -> usize {
        self.sections.len()
    }

    /// Reads one section.
    #[must_use]
    pub fn section(&self, place: usize) -> Option<Section> {
        let mut from = BinaryDecoder::new(self.sections.get(place)?);
        let length = CowVec::<Arc<Memory>>::chunk_lengths(self.memories_len).nth(place)?;
        let mut section = Section { memories: Vec::with_capacity(length), texts_bytes: 0 };
        for _ in 0..length {
            let memory = self.memory(&mut from)?;
            section.texts_bytes = section.texts_bytes.saturating_add(memory.text.length_bytes());
            section.memories.push(Arc::new(memory));
        }
        from.is_at_end().then_some(section)
    }

    /// Joins all sections in order, and reads what follows them. Events can be applied after
    /// [`Fold::set_lookup`] only.
    #[must_use]
    pub fn finish(self, sections: Vec<Section>, from: &mut BinaryDecoder<'a>) -> Option<Fold> {
        let mut orphans = HashMap::new();
        for _ in 0..from.count()? {
            let about = EventId::foreign(from.text()?)?;
            orphans.insert(about, self.versions(from)?);
        }
        let mut fold = self.fold;
        fold.orphans = Arc::new(orphans);
        fold.ledger = Ledger::read(from, fold.ledger.bound())?;
        for section in &sections {
            fold.texts.add_stored(section.texts_bytes);
        }
        let chunks = sections.into_iter().map(|section| section.memories).collect();
        fold.memories = CowVec::of_chunks(chunks)?;
        (fold.memories.len() == self.memories_len).then_some(fold)
    }

    fn provenance(&self, from: &mut BinaryDecoder<'_>) -> Option<Provenance> {
        Some(Provenance {
            log: self.log(from)?,
            kind: EventType::from_line(from.text()?),
            agent_id: from.text()?.to_owned(),
            session_id: from.optional_text()?.map(str::to_owned),
            source: from.optional_text()?.map(str::to_owned),
            expires: from.instant()?,
            confidence: match from.size()? {
                0 => Confidence::Stated,
                1 => Confidence::Inferred,
                _ => return None,
            },
            applies: match from.size()? {
                0 => MemoryScope::Repo,
                1 => MemoryScope::Global,
                _ => return None,
            },
            folder: match from.optional_text()? {
                None => None,
                Some(path) => Some(FolderPath::parse(path)?),
            },
            is_private: match from.size()? {
                0 => false,
                1 => true,
                _ => return None,
            },
        })
    }

    fn log(&self, from: &mut BinaryDecoder<'_>) -> Option<Arc<LogFile>> {
        self.logs.get(from.size()?).cloned()
    }

    fn repo(&self, from: &mut BinaryDecoder<'_>) -> Option<RepoKey> {
        self.repos.get(from.size()?).cloned()
    }

    fn memory(&self, from: &mut BinaryDecoder<'_>) -> Option<Memory> {
        let id = EventId::foreign(from.text()?)?;
        let timestamp = from.instant()?;
        let repo = self.repo(from)?;
        let success_rate = match (from.number()?, from.number()?) {
            (0, 0) => None,
            (successes, attempts) => {
                let counts = (u32::try_from(successes).ok()?, u32::try_from(attempts).ok()?);
                Some(SuccessRate::from_counts(counts.0, counts.1)?)
            }
        };
        let (provenance, offset) =
            (Arc::clone(self.provenances.get(from.size()?)?), from.number()?);
        let text = self.text(from)?;
        let related = RelatedEvents::new(self.versions(from)?, self.versions(from)?);
        let copies = self.versions(from)?;
        let share = match from.size()? {
            0 => IdShare::Alone,
            1 => IdShare::First,
            2 => IdShare::Beside,
            _ => return None,
        };
        let related = RelatedEvents { copies, share, ..related };
        let head = MemoryHead { id, timestamp, success_rate };
        Memory::new(head, repo, provenance, offset, text, related).with_flag(from)
    }

    fn text(&self, from: &mut BinaryDecoder<'_>) -> Option<RecordText> {
        let offset = from.number()?;
        let length_bytes = u32::try_from(from.number()?).ok()?;
        let checksum = u32::from_le_bytes(from.array()?);
        // A record beyond the end of the file is refused here.
        let end = offset.checked_add(length_bytes.into())?;
        let is_there = end <= self.length_bytes;
        is_there.then(|| RecordText::stored(&self.block, offset, length_bytes, checksum))
    }

    fn versions(&self, from: &mut BinaryDecoder<'_>) -> Option<Vec<Arc<Version>>> {
        (0..from.count()?).map(|_| self.version(from).map(Arc::new)).collect()
    }

    fn version(&self, from: &mut BinaryDecoder<'_>) -> Option<Version> {
        let id = EventId::foreign(from.text()?)?;
        let timestamp = from.instant()?;
        let repo = self.repo(from)?;
        let place = LinePlace { log: self.log(from)?, offset: from.number()? };
        let digest = from.array()?;
        Some(Version { event: event_record::read(from, id, timestamp)?, repo, place, digest })
    }
}

fn log_file(from: &mut BinaryDecoder<'_>) -> Option<LogFile> {
    let path = from.text()?.into();
    let origin = match (from.optional_text()?, from.size()?) {
        (None, 0) => LineOrigin::Own,
        (Some(origin), 0) => LineOrigin::Voice(StoreOrigin::parse(origin)?),
        (Some(origin), 1) => LineOrigin::Trusted(StoreOrigin::parse(origin)?),
        _ => return None,
    };
    Some(LogFile { path, origin })
}

/// Reads a repository key. A key that does not parse to itself was not written by us.
fn repo(text: &str) -> Option<RepoKey> {
    RepoKey::parse(text).ok().filter(|key| key.as_str() == text)
}
