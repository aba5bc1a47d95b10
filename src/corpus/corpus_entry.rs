//! A memory as an engine holds it: what it is found by, what it is filtered by, and its record. Not here: the bytes of the
//! record (`memory_record`).

use sha2::{Digest, Sha256};

use crate::memory_key::MemoryKey;
use crate::memory_record::{MemoryRecord, Viewpoint};
use event::{RepoKey, Timestamp, tag_key};
use index::lexical::{AnalysisCache, CorpusTotals, CountedPassage};
use search::snapshot::Snapshot;

/// A memory for an engine.
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusEntry {
    /// Its name.
    pub key: MemoryKey,
    /// Changes with everything else in the entry.
    pub mark: EntryMark,
    /// Its repository.
    pub repo: RepoKey,
    /// Its kind, in lower case.
    pub kind: String,
    /// Who learned it, in lower case.
    pub agent: String,
    /// Its tags, in lower case.
    pub tags: Vec<String>,
    /// Whether it is in force. What is not counts among the numbers, and is never found.
    pub is_live: bool,
    /// When it was written, in microseconds since 1970.
    pub time_us: Option<i64>,
    /// Its passages.
    pub passages: Vec<CountedPassage>,
    /// The average length of a passage by which these are weighed, in halves of a term.
    pub weighed_with: f32,
    /// Its direction in whole numbers from -127 to 127, where it has a vector.
    pub vector: Option<Vec<i8>>,
    /// Everything that ranking needs, packed.
    pub record: Vec<u8>,
}

/// Tells whether an entry is the one that an engine holds: a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryMark(pub i64);

impl CorpusEntry {
    /// Makes the entry of a memory of a snapshot. `None` for a number without a memory.
    #[must_use]
    pub fn from_snapshot(
        snapshot: &Snapshot,
        number: u32,
        viewpoint: &Viewpoint,
        now: Timestamp,
        weighed_with: f32,
        words: &mut AnalysisCache,
    ) -> Option<Self> {
        let memory = snapshot.memory(number)?;
        let record = MemoryRecord::from_snapshot(snapshot, number, words)?;
        let bytes = record.pack(viewpoint);
        let event = memory.event();
        // A log may hold the character zero, which databases refuse. These fields are only filtered by.
        let lower = |text: &str| text.trim().to_lowercase().replace('\0', "");
        let is_live = !memory.is_inactive(now);
        let hash = Sha256::new_with_prefix(weighed_with.to_le_bytes());
        let hash = hash.chain_update([is_live.into()]).chain_update(&bytes);
        let mut mark = [0; 8];
        mark.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
        Some(Self {
            key: MemoryKey::from_memory(memory),
            mark: EntryMark(i64::from_le_bytes(mark)),
            repo: memory.repo.clone(),
            kind: lower(memory.provenance.kind.as_str()),
            agent: lower(&memory.provenance.agent_id),
            tags: event.tags.iter().map(|tag| tag_key(tag)).collect(),
            is_live,
            time_us: memory.timestamp.map(Timestamp::as_microsecond),
            passages: record.passages,
            weighed_with,
            vector: record.vector,
            record: bytes,
        })
    }

    /// Returns the size of a corpus with the average length by which the entry is weighed.
    #[must_use]
    pub fn reference_totals(&self) -> CorpusTotals {
        // In 4,096 passages, so that the fraction of the average counts.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive average"
        )]
        let terms = (self.weighed_with * 4_096.0) as u64;
        CorpusTotals { passages: 4_096, documents: 4_096, terms, reply_terms: 0 }
    }
}
