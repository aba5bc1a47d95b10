//! An engine in this process, which holds what was put and does exactly what the contract says, with nothing but a list of the
//! passages of each term: the yardstick for other engines, and a stand-in where a test needs one. Not here: a store of memories
//! (`engine`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use corpus::{
    AskedNumbers, Conditions, Corpus, CorpusEntry, CorpusError, Deadline, EngineNumbers, EntryMark,
    FetchedRecord, MemoryKey, WeighedTerm,
};
use index::lexical::{CorpusTotals, CountedPassage};

/// Letters by which a near term may be longer or shorter.
const LETTERS_BESIDES: usize = 2;

/// An engine in this process.
#[derive(Debug, Default)]
pub struct MemoryCorpus(Mutex<HeldEntries>);

#[derive(Debug, Default)]
struct HeldEntries {
    entries: BTreeMap<MemoryKey, CorpusEntry>,
    /// The passages that hold each term, by their memory and their place in it.
    passages: BTreeMap<Box<str>, BTreeSet<(MemoryKey, usize)>>,
}

impl HeldEntries {
    fn insert(&mut self, entry: &CorpusEntry) {
        self.remove(entry.key);
        for (place, passage) in entry.passages.iter().enumerate() {
            for (term, _) in &passage.terms {
                self.passages.entry(term.clone()).or_default().insert((entry.key, place));
            }
        }
        self.entries.insert(entry.key, entry.clone());
    }

    fn remove(&mut self, key: MemoryKey) {
        let Some(entry) = self.entries.remove(&key) else { return };
        for (place, passage) in entry.passages.iter().enumerate() {
            for (term, _) in &passage.terms {
                if let Some(passages) = self.passages.get_mut(term) {
                    passages.remove(&(key, place));
                    if passages.is_empty() {
                        self.passages.remove(term);
                    }
                }
            }
        }
    }

    fn with_any(&self, terms: &[Box<str>]) -> usize {
        let held = terms.iter().filter_map(|term| self.passages.get(term));
        held.flatten().collect::<BTreeSet<_>>().len()
    }

    fn holding(&self, term: &str) -> usize {
        self.passages.get(term).map_or(0, BTreeSet::len)
    }
}

impl MemoryCorpus {
    fn held(&self) -> MutexGuard<'_, HeldEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Corpus for MemoryCorpus {
    fn numbers(
        &self,
        asked: &AskedNumbers,
        _until: Deadline,
    ) -> Result<EngineNumbers, CorpusError> {
        let held = self.held();
        let holding = |term: &str| (Box::from(term), held.holding(term));
        let is_near = |near: &str, term: &str| {
            near.as_bytes().first() == term.as_bytes().first()
                && near.len().abs_diff(term.len()) <= LETTERS_BESIDES
        };
        let near_of = |term: &str| {
            let near = held.passages.keys().filter(|near| is_near(near, term));
            (Box::from(term), near.map(|near| holding(near)).collect())
        };
        Ok(EngineNumbers {
            totals: totals(&held.entries),
            weighed_with: held.entries.values().next().map_or(0.0, |entry| entry.weighed_with),
            holding: asked.terms.iter().map(|term| holding(term)).collect(),
            unions: asked
                .unions
                .iter()
                .map(|terms| (terms.clone(), held.with_any(terms)))
                .collect(),
            near: asked.near.iter().map(|term| near_of(term)).collect(),
        })
    }

    fn by_words(
        &self,
        terms: &[WeighedTerm],
        conditions: &Conditions,
        limit: usize,
        _until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError> {
        let score = |entry: &CorpusEntry| {
            let weighing = entry.reference_totals();
            let of = |passage: &CountedPassage| dot(terms, &passage.weights(weighing));
            entry.passages.iter().map(of).fold(0.0, f32::max)
        };
        let held = self.held();
        let with_any = terms.iter().filter_map(|term| held.passages.get(&term.term)).flatten();
        let keys: BTreeSet<MemoryKey> = with_any.map(|(key, _)| *key).collect();
        let entries = keys.iter().filter_map(|key| held.entries.get(key));
        Ok(best(entries, conditions, limit, |entry| {
            Some(score(entry)).filter(|score| *score > 0.0)
        }))
    }

    fn by_meaning(
        &self,
        vector: &[f32],
        conditions: &Conditions,
        limit: usize,
        _until: Deadline,
    ) -> Result<Vec<MemoryKey>, CorpusError> {
        let score = |entry: &CorpusEntry| {
            let codes = entry.vector.as_ref().filter(|codes| codes.len() == vector.len())?;
            let numbers = || codes.iter().map(|code| f32::from(*code));
            let product: f32 = numbers().zip(vector).map(|(one, other)| one * other).sum();
            Some(product / numbers().map(|number| number * number).sum::<f32>().sqrt())
        };
        Ok(best(self.held().entries.values(), conditions, limit, score))
    }

    fn fetch(
        &self,
        keys: &[MemoryKey],
        _until: Deadline,
    ) -> Result<Vec<FetchedRecord>, CorpusError> {
        let held = self.held();
        let found = keys.iter().filter_map(|key| held.entries.get(key));
        Ok(found
            .map(|entry| FetchedRecord { key: entry.key, record: entry.record.clone() })
            .collect())
    }

    fn put_entries(&self, batch: &[CorpusEntry]) -> Result<(), CorpusError> {
        let mut held = self.held();
        batch.iter().for_each(|entry| held.insert(entry));
        Ok(())
    }

    fn delete_entries(&self, keys: &[MemoryKey]) -> Result<(), CorpusError> {
        let mut held = self.held();
        keys.iter().for_each(|key| held.remove(*key));
        Ok(())
    }

    fn keys_after(
        &self,
        after: Option<MemoryKey>,
        limit: usize,
    ) -> Result<Vec<(MemoryKey, EntryMark)>, CorpusError> {
        let held = self.held();
        let behind =
            held.entries.values().filter(|entry| after.is_none_or(|after| entry.key > after));
        Ok(behind.take(limit).map(|entry| (entry.key, entry.mark)).collect())
    }
}

fn totals(entries: &BTreeMap<MemoryKey, CorpusEntry>) -> CorpusTotals {
    let passages = || entries.values().flat_map(|entry| &entry.passages);
    CorpusTotals {
        passages: passages().count(),
        documents: entries.len(),
        terms: passages().map(|passage| u64::from(passage.length)).sum(),
        reply_terms: passages()
            .filter(|passage| passage.is_reply)
            .map(|passage| u64::from(passage.length))
            .sum(),
    }
}

fn dot(terms: &[WeighedTerm], weights: &[(&str, f32)]) -> f32 {
    let weight = |term: &WeighedTerm| {
        let place = weights.binary_search_by(|(other, _)| (*other).cmp(&term.term)).ok()?;
        weights.get(place).map(|(_, weight)| weight * term.weight)
    };
    terms.iter().filter_map(weight).sum()
}

fn best<'held>(
    entries: impl Iterator<Item = &'held CorpusEntry>,
    conditions: &Conditions,
    limit: usize,
    score: impl Fn(&CorpusEntry) -> Option<f32>,
) -> Vec<MemoryKey> {
    let fitting = entries.filter(|entry| meets(conditions, entry));
    let mut scored: Vec<(f32, MemoryKey)> =
        fitting.filter_map(|entry| Some((score(entry)?, entry.key))).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(limit).map(|(_, key)| key).collect()
}

/// Tells whether an entry meets conditions.
fn meets(conditions: &Conditions, entry: &CorpusEntry) -> bool {
    let has = |sets: &[Vec<String>], one: &str| {
        sets.iter().all(|set| set.iter().any(|other| other == one))
    };
    let is_after =
        conditions.since_us.is_none_or(|since| entry.time_us.is_some_and(|at| at >= since));
    let is_before =
        conditions.until_us.is_none_or(|until| entry.time_us.is_some_and(|at| at <= until));
    entry.is_live
        && has(&conditions.repos, entry.repo.as_str())
        && has(&conditions.kinds, &entry.kind)
        && has(&conditions.agents, &entry.agent)
        && !conditions.not_kinds.contains(&entry.kind)
        && conditions.tags.iter().all(|tag| entry.tags.contains(tag))
        && is_after
        && is_before
}
