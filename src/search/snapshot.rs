//! A frozen state of memories and indexes, on which a query runs. Taking one costs a few reference counts, and later
//! changes do not show in it. Not here: searching.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cosine_scale::CosineScale;
use super::subject_memo::SubjectMemo;
use event::{EventId, GLOBAL_REPO, RepoKey, SkipReason, Timestamp};
use index::embed::SpaceId;
use index::late::{SignLocation, SignLocations, SignState, SignStore, TokenSigns};
use index::lexical::LexicalIndex;
use index::vector::VectorIndex;
use memory::{CowVec, FoldMark, FrozenFold, IdShare, Memory, Neighbours, Version};

/// A frozen state of the retriever.
#[derive(Clone)]
pub struct Snapshot {
    /// The memories.
    pub fold: FrozenFold,
    /// The index of words.
    pub lexical: LexicalIndex,
    /// The index of vectors, where there is a model.
    pub vectors: Option<VectorIndex>,
    /// The vectors that these can be compared with.
    pub space: SpaceId,
    /// Maps their cosines to those that likelihoods were fitted on.
    pub scale: CosineScale,
    /// How many memories the model may not see.
    pub withheld: usize,
    /// For how many the model that is to answer next is done; `None` where there is none.
    pub next_embedded: Option<usize>,
    /// Where each memory's token signs are on the disk.
    pub sign_locations: SignLocations,
    /// The file that token signs are read from, where there is one.
    pub sign_store: Option<Arc<dyn SignStore>>,
    /// The neighbours of each memory in its session.
    pub neighbours: CowVec<Neighbours>,
    /// How many memories each repository has.
    pub repos: Arc<BTreeMap<RepoKey, usize>>,
    /// The result of reading the logs.
    pub health: Arc<Health>,
    /// Which notes are about one subject, as far as they were compared.
    pub subjects: Arc<SubjectMemo>,
}

/// The result of reading the logs.
#[derive(Debug, Clone, Default)]
pub struct Health {
    /// The number of logs.
    pub logs: usize,
    /// The number of archived segments.
    pub segments: usize,
    /// Writes in the spool, which wait for another process to unlock their log.
    pub waiting: usize,
    /// Lines that were read, without blank ones.
    pub lines: usize,
    /// Lines without an event.
    pub skipped: usize,
    /// The first of them.
    pub skips: Vec<SkippedLogLine>,
    /// Logs that could not be read, and why.
    pub troubles: BTreeMap<PathBuf, String>,
    /// Why the watcher of file changes does not work.
    pub watch_trouble: Option<String>,
    /// Events about memories that are not in any log.
    pub early: usize,
    /// Memories whose vector the index refused.
    pub without_vector: usize,
}

/// How much memory the memories take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUsage {
    /// The bound, in bytes.
    pub bytes_max: u64,
    /// The estimated size of the memories, in bytes.
    pub held_bytes: u64,
    /// How many of the oldest memories were left out.
    pub left_out: usize,
}

impl MemoryUsage {
    /// The bound in MiB.
    #[must_use]
    pub fn mib_max(&self) -> u64 {
        self.bytes_max >> 20
    }

    /// Says how many were left out, and what changes it; nothing where all are here.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let left_out = match self.left_out {
            0 => return None,
            1 => "the oldest memory is left out".to_owned(),
            many => format!("the {many} oldest memories are left out"),
        };
        Some(format!("{left_out} (memory_mib is {}; the logs keep all)", self.mib_max()))
    }
}

/// A line without an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLogLine {
    /// The log.
    pub log: Arc<Path>,
    /// Where the line begins, in bytes.
    pub offset: u64,
    /// Why it was skipped.
    pub reason: SkipReason,
}

/// The memory that an id means.
#[derive(Debug, Clone)]
pub enum CitedMemory {
    /// Exactly one memory.
    One(Arc<Memory>),
    /// A memory that was left out to stay within the bound.
    LeftOut,
    /// No memory.
    None,
    /// Several.
    Several {
        /// The ids of the first of them, at most eight.
        first: Vec<EventId>,
        /// Their number.
        count: usize,
    },
}

/// Ids that are returned for an ambiguous one.
const CITED_FIRST_MAX: usize = 8;

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shape = formatter.debug_struct("Snapshot");
        shape
            .field("memories", &self.memories().len())
            .field("health", &self.health)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns the mark of this state.
    #[must_use]
    pub fn mark(&self) -> FoldMark {
        self.fold.mark()
    }

    /// Tells whether a mark belongs to this state.
    #[must_use]
    pub fn is_marked(&self, mark: &FoldMark) -> bool {
        self.fold.is_marked(mark)
    }

    /// Returns the memories; a memory's place is its number in the indexes.
    #[must_use]
    pub fn memories(&self) -> &CowVec<Arc<Memory>> {
        self.fold.memories()
    }

    /// Returns the memory of a number.
    #[must_use]
    pub fn memory(&self, number: u32) -> Option<&Arc<Memory>> {
        self.memories().get(usize::try_from(number).ok()?)
    }

    /// Tells whether a number has an active memory ([`Memory::is_inactive`]). Most memories need not be read for that.
    #[must_use]
    pub fn is_live(&self, number: u32, now: Timestamp) -> bool {
        let Ok(place) = usize::try_from(number) else { return false };
        let memories = self.memories();
        place < memories.len()
            && (!memories.may_be_inactive(place)
                || memories.get(place).is_some_and(|memory| !memory.is_inactive(now)))
    }

    /// Returns the events about unknown memories, by the ids of these, in no order.
    pub fn early(&self) -> impl Iterator<Item = (&EventId, &[Arc<Version>])> {
        self.fold.orphans()
    }

    /// Returns how much memory the memories may take, how much they take, and how many were left out.
    #[must_use]
    pub fn memory_usage(&self) -> MemoryUsage {
        MemoryUsage {
            bytes_max: self.fold.bound().bytes_max,
            held_bytes: self.fold.held_bytes(),
            left_out: self.fold.left_out_len(),
        }
    }

    /// Returns the neighbours of a memory in its session.
    #[must_use]
    pub fn neighbours_of(&self, number: u32) -> Neighbours {
        let near = usize::try_from(number).ok().and_then(|place| self.neighbours.get(place));
        near.copied().unwrap_or_default()
    }

    /// Returns the index of words.
    #[must_use]
    pub fn lexical(&self) -> &LexicalIndex {
        &self.lexical
    }

    /// Returns the index of meanings, when there is one.
    #[must_use]
    pub fn vectors(&self) -> Option<&VectorIndex> {
        self.vectors.as_ref()
    }

    /// Returns this snapshot with a store for token signs.
    #[must_use]
    pub fn with_sign_store(self, sign_store: Option<Arc<dyn SignStore>>) -> Self {
        Self { sign_store, ..self }
    }

    /// Announces that the signs of these memories will be read next, so that the disk fetches them together.
    pub fn expect_signs(&self, numbers: impl Iterator<Item = u32>) {
        let Some(sign_store) = &self.sign_store else { return };
        let place = |number| match self.sign_locations.get(number) {
            SignState::At(place) => Some(place),
            SignState::NotYet | SignState::Never | SignState::Failed => None,
        };
        sign_store.expect(&numbers.filter_map(place).collect::<Vec<SignLocation>>());
    }

    /// Reads the signs of a memory's tokens from the disk. `None` where there are none. Signs that cannot be read are
    /// computed again.
    #[must_use]
    pub fn signs(&self, number: u32) -> Option<TokenSigns> {
        let (SignState::At(place), Some(sign_store)) =
            (self.sign_locations.get(number), &self.sign_store)
        else {
            return None;
        };
        let signs = sign_store.signs(place);
        if signs.is_none() {
            self.sign_locations.lose(number);
        }
        signs
    }

    /// Returns the number of memories whose tokens were processed, with those whose tokens are not stored.
    #[must_use]
    pub fn signed_count(&self) -> usize {
        self.sign_locations.known_len()
    }

    /// Tells whether a record of this state could not be read, so that an answer may lack something. The next state is
    /// read from the logs.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.fold.is_damaged()
    }

    /// Returns how many memories the model has dealt with, those included whose vector cannot be used and those that it may
    /// not see.
    #[must_use]
    pub fn embedded_count(&self) -> usize {
        let vectors = self.vectors.as_ref().map_or(0, VectorIndex::len);
        vectors + self.health.without_vector + self.withheld
    }

    /// Returns the result of reading the logs.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Returns the repositories and how many memories each has.
    #[must_use]
    pub fn repos(&self) -> &BTreeMap<RepoKey, usize> {
        &self.repos
    }

    /// Returns every key of the memories of `repo`: its own, and its short names that mean no other repository. Lines
    /// written by hand often say only `api`.
    #[must_use]
    pub fn keys_of(&self, repo: &RepoKey) -> BTreeSet<RepoKey> {
        // Looked up, since hardly any of hundreds of keys is a short name of it.
        // What applies everywhere belongs to no repository, whatever its name.
        let shorts = repo.abbreviations().filter(|short| *short != GLOBAL_REPO);
        let shorts = shorts.filter_map(|short| self.repos.get_key_value(short));
        let means_only_repo = |short: &RepoKey| {
            let mut keys = self.repos.keys();
            keys.all(|other| other == short || other == repo || !short.abbreviates(other))
        };
        let shorts = shorts.map(|(short, _)| short).filter(|short| *short != repo);
        let mut keys: BTreeSet<RepoKey> =
            shorts.filter(|short| means_only_repo(short)).cloned().collect();
        keys.insert(repo.clone());
        keys
    }

    /// Tells whether a whole id belongs to a memory that was left out.
    fn has_left_out(&self, id: &str) -> bool {
        let upper = id.to_ascii_uppercase();
        let ids = [id, &upper].into_iter().filter_map(EventId::foreign);
        ids.into_iter().any(|id| self.fold.has_left_out(&id))
    }

    /// Returns the first memory of each id: our own where several origins wrote different contents under it.
    pub fn first_of_ids(&self) -> impl Iterator<Item = &Arc<Memory>> {
        self.memories().iter().filter(|memory| memory.id_share() != IdShare::Beside)
    }

    /// Returns memories, each followed by the others of its id.
    #[must_use]
    pub fn with_same_ids(&self, memories: Vec<Arc<Memory>>) -> Vec<Arc<Memory>> {
        if memories.iter().all(|memory| memory.id_share() == IdShare::Alone) {
            return memories;
        }
        let all = self.memories().iter().filter(|memory| memory.id_share() == IdShare::Beside);
        let others: Vec<&Arc<Memory>> = all.collect();
        let with_others = |memory: Arc<Memory>| {
            let same =
                others.iter().filter(|other| other.id == memory.id).map(|other| Arc::clone(other));
            let mut same: Vec<Arc<Memory>> = same.collect();
            same.sort_by(|one, other| one.provenance.log.origin.cmp(&other.provenance.log.origin));
            same.insert(0, memory);
            same
        };
        memories.into_iter().flat_map(with_others).collect()
    }

    /// Finds the memory that an id, or the beginning or end of one, means. Of several memories of one id it is our own,
    /// else that of the first origin.
    #[must_use]
    pub fn find_cited(&self, id: &str) -> CitedMemory {
        let mut first: Vec<&Arc<Memory>> = Vec::new();
        let mut count = 0;
        for memory in self.first_of_ids().filter(|memory| memory.id.is_cited_by(id)) {
            if memory.id.as_str() == id {
                return CitedMemory::One(Arc::clone(memory));
            }
            count += 1;
            if first.len() < CITED_FIRST_MAX {
                first.push(memory);
            }
        }
        match first.as_slice() {
            [] if self.has_left_out(id) => CitedMemory::LeftOut,
            [] => CitedMemory::None,
            [only] => CitedMemory::One(Arc::clone(only)),
            several => {
                let first = several.iter().map(|memory| memory.id.clone()).collect();
                CitedMemory::Several { first, count }
            }
        }
    }
}
