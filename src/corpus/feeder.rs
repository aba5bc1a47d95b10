//! Feeds an engine from snapshots: puts what is new or has changed, and takes out what is gone. It may be
//! repeated, and begun anew: what an engine holds already is not sent again. Not here: when it runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::contract::{AskedNumbers, Corpus, Deadline};
use crate::corpus_entry::{CorpusEntry, EntryMark};
use crate::corpus_error::CorpusError;
use crate::memory_key::MemoryKey;
use crate::memory_record::{Viewpoint, is_sendable};
use event::Timestamp;
use index::lexical::AnalysisCache;
use memory::Memory;
use search::snapshot::Snapshot;

/// Memories that are put together. Their records take some megabytes, and an engine needs seconds for them.
const BATCH_MAX: usize = 1_000;

/// Keys of an engine that are read together.
const KNOWN_MAX: usize = 10_000;

/// By what share the average length of a passage may change before all is weighed anew: the weight of a word changes by a third of
/// it at most, and what is found is scored anew anyway.
const DRIFT_MAX: f32 = 0.1;

/// How long an engine may take to say how large it is.
const NUMBERS_WAIT: std::time::Duration = std::time::Duration::from_secs(30);

/// Feeds one engine. One feeder alone may do that: what it does not know is taken out.
pub struct Feeder {
    viewpoint: Viewpoint,
    may_send: Box<dyn Fn(&Memory) -> bool + Send>,
    words: AnalysisCache,
    /// What the engine holds; `None` before it was asked.
    held: Option<BTreeMap<MemoryKey, EntryMark>>,
    /// What was fed last; `None` if that failed.
    fed: Option<FedState>,
    weighed_with: f32,
}

/// What was fed last.
struct FedState {
    snapshot: Snapshot,
    /// The key of each memory that was sent.
    keys: Vec<Option<MemoryKey>>,
    now: Timestamp,
}

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeedReport {
    /// Memories that were put.
    pub put: usize,
    /// Memories that were taken out.
    pub deleted: usize,
}

impl Feeder {
    /// Makes a feeder that sends what `may_send` lets through; nothing private in any case.
    #[must_use]
    pub fn new(viewpoint: Viewpoint, may_send: Box<dyn Fn(&Memory) -> bool + Send>) -> Self {
        let (words, weighed_with) = (AnalysisCache::default(), 0.0);
        Self { viewpoint, may_send, words, held: None, fed: None, weighed_with }
    }

    /// Brings an engine to the state of a snapshot.
    ///
    /// # Errors
    /// [`CorpusError`]; the next round goes on.
    pub fn feed(
        &mut self,
        corpus: &dyn Corpus,
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Result<FeedReport, CorpusError> {
        let sent = self.brought(corpus, snapshot, now);
        if sent.is_err() {
            // Somebody may have emptied it, so it is asked anew.
            (self.held, self.fed) = (None, None);
        }
        sent
    }

    fn brought(
        &mut self,
        corpus: &dyn Corpus,
        snapshot: &Snapshot,
        now: Timestamp,
    ) -> Result<FeedReport, CorpusError> {
        self.settle_weights(corpus, snapshot)?;
        // Vectors of another model have taken the places of those that were sent.
        self.fed = self.fed.take().filter(|fed| fed.snapshot.space == snapshot.space);
        if self.held.is_none() {
            self.held = Some(held_by(corpus)?);
        }
        let fed = self.fed.take();
        let mut sent = FeedReport::default();
        let mut batch: Vec<CorpusEntry> = Vec::new();
        let mut keys: Vec<Option<MemoryKey>> = Vec::with_capacity(snapshot.memories().len());
        for number in 0..u32::try_from(snapshot.memories().len()).unwrap_or(u32::MAX) {
            let Some(memory) = snapshot.memory(number) else { break };
            // First, since it costs least.
            if let Some(key) =
                fed.as_ref().and_then(|fed| same_as_before(snapshot, number, now, fed))
            {
                keys.push(Some(key));
                continue;
            }
            if !is_sendable(memory) || !(self.may_send)(memory) {
                keys.push(None);
                continue;
            }
            let average = self.weighed_with;
            let entry = CorpusEntry::from_snapshot(
                snapshot,
                number,
                (&self.viewpoint, now),
                average,
                &mut self.words,
            );
            keys.push(entry.as_ref().map(|entry| entry.key));
            let held = self.held.as_ref();
            let is_held = |entry: &CorpusEntry| {
                held.is_some_and(|held| held.get(&entry.key) == Some(&entry.mark))
            };
            batch.extend(entry.filter(|entry| !is_held(entry)));
            if batch.len() >= BATCH_MAX {
                sent.put += self.send_batch(corpus, &mut batch)?;
            }
        }
        sent.put += self.send_batch(corpus, &mut batch)?;
        if fed.is_none_or(|fed| fed.keys != keys) {
            sent.deleted = self.take_the_rest(corpus, &keys)?;
        }
        self.fed = Some(FedState { snapshot: snapshot.clone(), keys, now });
        Ok(sent)
    }

    /// Chooses the average length that weights are computed with: the one that the engine's were, while it is near enough.
    fn settle_weights(
        &mut self,
        corpus: &dyn Corpus,
        snapshot: &Snapshot,
    ) -> Result<(), CorpusError> {
        let totals = snapshot.lexical().totals();
        #[expect(clippy::cast_precision_loss, reason = "an average")]
        let average = totals.terms as f32 / totals.passages.max(1) as f32;
        let until = Deadline::within(NUMBERS_WAIT);
        let numbers = corpus.numbers(&AskedNumbers::default(), until)?;
        let held = self.held.as_ref().map(BTreeMap::len);
        if held.is_none_or(|held| held != numbers.totals.documents) {
            // It is new to us, or somebody else changed it.
            (self.held, self.fed) = (None, None);
            self.weighed_with = numbers.weighed_with;
        }
        if (average - self.weighed_with).abs() > DRIFT_MAX * average {
            self.weighed_with = average;
            self.fed = None;
        }
        Ok(())
    }

    fn send_batch(
        &mut self,
        corpus: &dyn Corpus,
        batch: &mut Vec<CorpusEntry>,
    ) -> Result<usize, CorpusError> {
        if batch.is_empty() {
            return Ok(0);
        }
        corpus.put_entries(batch)?;
        if let Some(held) = &mut self.held {
            held.extend(batch.iter().map(|entry| (entry.key, entry.mark)));
        }
        Ok(std::mem::take(batch).len())
    }

    /// Takes out what the snapshot does not have.
    fn take_the_rest(
        &mut self,
        corpus: &dyn Corpus,
        keys: &[Option<MemoryKey>],
    ) -> Result<usize, CorpusError> {
        let wanted: std::collections::BTreeSet<MemoryKey> =
            keys.iter().flatten().copied().collect();
        let Some(held) = &mut self.held else { return Ok(0) };
        let rest: Vec<MemoryKey> =
            held.keys().filter(|key| !wanted.contains(key)).copied().collect();
        for some in rest.chunks(BATCH_MAX) {
            corpus.delete_entries(some)?;
            for key in some {
                held.remove(key);
            }
        }
        Ok(rest.len())
    }
}

/// Returns the key of a memory that is as it was in the last snapshot, its neighbours and its vector included.
fn same_as_before(
    snapshot: &Snapshot,
    number: u32,
    now: Timestamp,
    FedState { snapshot: before, keys, now: then }: &FedState,
) -> Option<MemoryKey> {
    let is_same = |number: u32| {
        let (now, then) = (snapshot.memory(number), before.memory(number));
        now.zip(then).is_some_and(|(now, then)| Arc::ptr_eq(now, then))
    };
    let near = snapshot.neighbours_of(number);
    let has_vector =
        |snapshot: &Snapshot| snapshot.vectors().is_some_and(|vectors| vectors.contains(number));
    let is_known = is_same(number)
        && snapshot
            .memory(number)
            .is_some_and(|memory| memory.is_inactive(now) == memory.is_inactive(*then))
        && near == before.neighbours_of(number)
        && near.numbers().all(is_same)
        && has_vector(snapshot) == has_vector(before)
        && snapshot.sign_locations.get(number) == before.sign_locations.get(number);
    keys.get(usize::try_from(number).ok()?).copied().flatten().filter(|_| is_known)
}

/// Returns everything that an engine holds.
fn held_by(corpus: &dyn Corpus) -> Result<BTreeMap<MemoryKey, EntryMark>, CorpusError> {
    let mut held = BTreeMap::new();
    loop {
        let after = held.last_key_value().map(|(key, _)| *key);
        let more = corpus.keys_after(after, KNOWN_MAX)?;
        if more.is_empty() {
            return Ok(held);
        }
        held.extend(more);
        if held.last_key_value().map(|(key, _)| *key) <= after {
            return Err(CorpusError::Wrong("its keys are in no order".to_owned()));
        }
    }
}
