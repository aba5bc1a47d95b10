//! A snapshot of the memories that an engine found, in which a search runs as in one of everything. Not here: finding them
//! (`engine_query`), searching (`search`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::contract::FetchedRecord;
use crate::corpus_error::CorpusError;
use crate::memory_key::MemoryKey;
use crate::memory_record::{MemoryRecord, RecordedLine, Viewpoint};
use event::RepoKey;
use index::late::{SignLocation, SignLocations, SignState, SignStore, TokenSigns};
use index::lexical::{CorpusNumbers, CountedPassage, DocId, LexicalIndex};
use index::vector::VectorIndex;
use memory::{CowVec, Effect, Fold, NEIGHBOURS_MAX, Neighbours};
use search::Hit;
use search::snapshot::Snapshot;

/// The memories that an engine found. More can be added.
#[derive(Default)]
pub struct SmallSnapshot {
    fold: Fold,
    lexical: LexicalIndex,
    vectors: Option<VectorIndex>,
    signs: HashMap<u32, TokenSigns>,
    sign_locations: SignLocations,
    numbers: BTreeMap<MemoryKey, u32>,
    keys: Vec<MemoryKey>,
    neighbours: Vec<[Option<MemoryKey>; 2 * NEIGHBOURS_MAX]>,
    repos: BTreeMap<RepoKey, usize>,
}

/// Unpacks records.
///
/// # Errors
/// [`CorpusError::Wrong`] for bytes that are no record.
pub fn unpack_records(
    fetched: &[FetchedRecord],
    viewpoint: &Viewpoint,
) -> Result<BTreeMap<MemoryKey, MemoryRecord>, CorpusError> {
    let record = |FetchedRecord { key, record }: &FetchedRecord| {
        let record = MemoryRecord::unpack(record, viewpoint);
        record
            .map(|record| (*key, record))
            .ok_or_else(|| CorpusError::Wrong(format!("{key} is damaged")))
    };
    fetched.iter().map(record).collect()
}

impl SmallSnapshot {
    /// Holds no memory yet. `repos` are the repositories that are known besides those of its memories.
    #[must_use]
    pub fn among(repos: &BTreeMap<RepoKey, usize>) -> Self {
        Self { repos: repos.clone(), ..Self::default() }
    }

    /// Adds memories, in the order of their lines, as the logs have them.
    pub fn add(&mut self, records: BTreeMap<MemoryKey, MemoryRecord>) {
        let mut records: Vec<(MemoryKey, MemoryRecord)> = records.into_iter().collect();
        records.sort_by(|(_, one), (_, other)| line_place(one).cmp(&line_place(other)));
        let mut documents = Vec::new();
        for (key, record) in records {
            documents.extend(self.add_one(key, record));
        }
        if !documents.is_empty() {
            self.lexical.put_counted(&documents);
        }
    }

    /// Tells whether a memory was added.
    #[must_use]
    pub fn holds(&self, key: &MemoryKey) -> bool {
        self.numbers.contains_key(key)
    }

    /// Returns the number of memories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Tells whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the terms of all memories.
    #[must_use]
    pub fn vocabulary(&self) -> BTreeSet<Box<str>> {
        self.lexical.vocabulary()
    }

    /// Returns the keys of hits. `None` where one is not the memory under whose key it was stored.
    #[must_use]
    pub fn keys_of(&self, hits: &[Hit]) -> Option<Vec<MemoryKey>> {
        let key = |hit: &Hit| {
            let key = self.keys.get(usize::try_from(hit.number).ok()?).copied();
            key.filter(|key| *key == MemoryKey::from_memory(&hit.memory))
        };
        hits.iter().map(key).collect()
    }

    /// Returns a snapshot of the memories so far, with the numbers of a corpus in the place of its own.
    #[must_use]
    pub fn snapshot(&self, numbers: Arc<CorpusNumbers>) -> Snapshot {
        let number_of =
            |key: &Option<MemoryKey>| key.and_then(|key| self.numbers.get(&key)).copied();
        let near_of = |keys: &[Option<MemoryKey>; 2 * NEIGHBOURS_MAX]| {
            let mut numbers = keys.iter().map(number_of);
            let before = std::array::from_fn(|_| numbers.next().flatten());
            let after = std::array::from_fn(|_| numbers.next().flatten());
            Neighbours { before, after }
        };
        let mut repos = self.repos.clone();
        for memory in self.fold.memories().iter() {
            repos.entry(memory.repo.clone()).or_insert(1);
        }
        Snapshot {
            fold: self.fold.frozen(),
            lexical: self.lexical.clone().with_numbers(numbers),
            vectors: self.vectors.clone(),
            space: Default::default(),
            scale: Default::default(),
            withheld: 0,
            next_embedded: None,
            sign_locations: self.sign_locations.clone(),
            sign_store: Some(Arc::new(FetchedSigns(self.signs.clone()))),
            neighbours: self.neighbours.iter().map(near_of).collect::<CowVec<Neighbours>>(),
            repos: Arc::new(repos),
            health: Arc::default(),
            subjects: Arc::default(),
        }
    }

    fn add_one(
        &mut self,
        key: MemoryKey,
        record: MemoryRecord,
    ) -> Option<(DocId, Vec<CountedPassage>)> {
        let signs = record.token_signs();
        let MemoryRecord { versions, passages, neighbours, vector, .. } = record;
        let mut number = None;
        for RecordedLine { event, repo, place } in versions {
            number = number.or(added_number(&self.fold.apply(event, repo, place)));
        }
        // Lines of a memory that was fetched before under another key add nothing.
        let number = number?;
        self.numbers.insert(key, number);
        self.keys.push(key);
        self.neighbours.push(neighbours);
        if let Some(codes) = vector {
            let vector: Vec<f32> = codes.iter().map(|code| f32::from(*code)).collect();
            let vectors = self.vectors.get_or_insert_with(|| VectorIndex::new(vector.len()));
            // One of another model has another width and counts as none.
            let _ = vectors.set(number, &vector);
        }
        if let Some(signs) = signs {
            self.signs.insert(number, signs);
            self.sign_locations.set(number, SignState::At(SignLocation { row: number, check: 0 }));
        }
        Some((DocId(number), passages))
    }
}

/// Where the shown line of a record is.
fn line_place(record: &MemoryRecord) -> Option<(&memory::LinePlace, &event::EventId)> {
    record.versions.first().map(|version| (&version.place, &version.event.id))
}

/// The signs of the fetched memories, by their numbers.
struct FetchedSigns(HashMap<u32, TokenSigns>);

impl SignStore for FetchedSigns {
    fn signs(&self, place: SignLocation) -> Option<TokenSigns> {
        self.0.get(&place.row).cloned()
    }
}

fn added_number(effect: &Effect) -> Option<u32> {
    match effect {
        Effect::Added(number) => Some(*number),
        Effect::Several(effects) => effects.iter().find_map(added_number),
        Effect::Changed { .. } | Effect::Removed(_) | Effect::Nothing => None,
    }
}
