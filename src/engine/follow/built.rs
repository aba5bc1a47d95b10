//! Everything that is made from the logs, and how an event that was folded changes it. Not here: reading
//! (`follow`), writing it down (`kept`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::lookups::Lookups;
use super::wanted_vectors::{Asked, Wanted};
use event::{RepoKey, SkipReason};
use index::late::{Places, Signed};
use index::lexical::{DocId, LexicalIndex, Passage};
use index::vector::VectorIndex;
use memory::{CowVec, Effect, Fold, Gone, Memory, Neighbours, Sessions};
use search::snapshot::{Health, Skip};
use store::LogLine;

/// Skipped lines that are kept to be shown; the rest are only counted.
const SKIPS_SHOWN_MAX: usize = 1_000;

/// How many memories wait for their words to be indexed while logs are read: enough that what is learned
/// side by side is indexed once, few enough that their texts are some megabytes.
const UNINDEXED_MAX: usize = 1_024;

/// So much of each neighbour is indexed with a memory, in bytes: a whole lesson of the usual length.
const NEARBY_BYTES_MAX: usize = 1_000;

/// Everything that is made from the logs and nothing else.
#[derive(Default)]
pub(super) struct Built {
    pub(super) fold: Fold,
    /// What fold and sessions lack since they were restored, until a line is read.
    pub(super) lookups: Option<Lookups>,
    pub(super) lexical: LexicalIndex,
    pub(super) vectors: Option<VectorIndex>,
    pub(super) places: Places,
    pub(super) sessions: Sessions,
    pub(super) near: CowVec<Neighbours>,
    /// Memories whose words are to be indexed anew; also numbers that are free now.
    pub(super) unindexed: BTreeSet<u32>,
    pub(super) repos: Arc<BTreeMap<RepoKey, usize>>,
    pub(super) health: Arc<Health>,
    pub(super) to_embed: Vec<Wanted>,
    pub(super) to_sign: Vec<Wanted>,
    pub(super) asked: Asked,
}

impl Built {
    /// Gets what is needed to apply an event, where it was restored and has none of it yet.
    pub(super) fn complete(&mut self) {
        if let Some(lookups) = self.lookups.take() {
            let (lookup, sessions) = lookups.done(self.fold.memories());
            self.fold.complete(lookup);
            self.sessions = sessions;
        }
    }

    pub(super) fn skip(&mut self, log: &Arc<Path>, line: LogLine<'_>, reason: SkipReason) {
        let health = Arc::make_mut(&mut self.health);
        health.lines += 1;
        health.skipped += 1;
        if health.skips.len() < SKIPS_SHOWN_MAX {
            let reason = match reason {
                SkipReason::TooLong { .. } => SkipReason::TooLong { line_bytes: line.line_bytes },
                other => other,
            };
            health.skips.push(Skip { log: Arc::clone(log), offset: line.offset, reason });
        }
    }

    pub(super) fn index(&mut self, effect: Effect) {
        match effect {
            Effect::Added(number) => self.add(number),
            Effect::Changed { number, old_repo } => {
                self.uncount(&old_repo);
                self.forget_vector(number);
                self.add(number);
            }
            Effect::Nothing => {}
        }
    }

    /// Indexes a memory under a number that is free.
    pub(super) fn add(&mut self, number: u32) {
        let Some(memory) = self.memory(number) else { return };
        *Arc::make_mut(&mut self.repos).entry(memory.repo.clone()).or_default() += 1;
        self.place(number, Some(&memory));
        self.want_vector(number);
        if self.unindexed.len() >= UNINDEXED_MAX {
            self.index_words();
        }
    }

    /// Takes in what stands under a number now: its words, and those of its neighbours, are to be indexed.
    pub(super) fn place(&mut self, number: u32, memory: Option<&Memory>) {
        self.unindexed.extend(self.sessions.note(number, memory));
        self.unindexed.insert(number);
    }

    /// Indexes the words of all that changed since the last time.
    pub(super) fn index_words(&mut self) {
        if self.unindexed.is_empty() {
            return;
        }
        let numbers = std::mem::take(&mut self.unindexed);
        self.near.resize(self.fold.memories().len(), &Neighbours::default());
        for number in &numbers {
            let place = usize::try_from(*number).ok();
            let (is, was) = (self.sessions.near(*number), place.and_then(|at| self.near.get(at)));
            if was.is_some_and(|was| *was != is)
                && let Some(near) = place.and_then(|place| self.near.get_mut(place))
            {
                *near = is;
            }
        }
        let documents = numbers.into_iter().map(|number| (DocId(number), self.passages(number)));
        let documents: BTreeMap<DocId, Vec<Passage>> = documents.collect();
        self.lexical.put_all(&documents);
    }

    /// The passages of a memory, none where the number is free. What was learned beside a short one is part of
    /// it: a lesson often leaves out what it is about.
    pub(super) fn passages(&self, number: u32) -> Vec<Passage> {
        let Some(memory) = self.memory(number) else { return Vec::new() };
        let mut passages: Vec<Passage> = memory.passages().into_iter().map(Passage::of).collect();
        if let [only] = passages.as_mut_slice() {
            let near = usize::try_from(number).ok().and_then(|place| self.near.get(place));
            let near = near.copied().unwrap_or_default();
            for neighbour in near.numbers().filter_map(|number| self.memory(number)) {
                only.nearby.push_str(beginning(&neighbour.index_text()));
                only.nearby.push('\n');
            }
        }
        passages
    }

    pub(super) fn memory(&self, number: u32) -> Option<Arc<Memory>> {
        self.fold.memories().get(usize::try_from(number).ok()?).cloned()
    }

    /// Returns a key as the memories of its repository share it.
    pub(super) fn shared(&self, repo: RepoKey) -> RepoKey {
        self.repos.get_key_value(&repo).map_or(repo, |(known, _)| known.clone())
    }

    pub(super) fn uncount(&mut self, repo: &RepoKey) {
        let repos = Arc::make_mut(&mut self.repos);
        if let Some(count) = repos.get_mut(repo) {
            *count -= 1;
            if *count == 0 {
                repos.remove(repo);
            }
        }
    }

    /// Keeps within the bound: what the fold leaves out leaves the indexes too.
    pub(super) fn trim(&mut self, slack_bytes: u64) {
        if !self.fold.is_over(slack_bytes) {
            return;
        }
        self.complete();
        let gone = self.fold.trim(slack_bytes);
        let mut changed: BTreeSet<u32> = BTreeSet::new();
        for Gone { number, repo, moved_from } in gone {
            self.uncount(&repo);
            let vector = moved_from.and_then(|from| self.vectors.as_ref()?.get(from));
            let signed = moved_from.map_or(Signed::NotYet, |from| self.places.get(from));
            for number in [number].into_iter().chain(moved_from) {
                self.forget_vector(number);
                self.place(number, None);
                changed.insert(number);
            }
            let moved = moved_from.and_then(|_| self.memory(number));
            self.place(number, moved.as_deref());
            if let (Some(vector), Some(vectors)) = (vector, &mut self.vectors) {
                // It was taken before.
                let _ = vectors.set(number, &vector);
                self.places.set(number, signed);
            }
        }
        for number in changed {
            let has_vector = self.vectors.as_ref().is_some_and(|vectors| vectors.contains(number));
            if self.memory(number).is_none() {
                continue;
            }
            if !has_vector {
                self.want_vector(number);
            } else if self.places.get(number) == Signed::NotYet {
                self.to_sign.push(self.wanted(number));
            }
        }
    }

    pub(super) fn forget_vector(&mut self, number: u32) {
        self.asked.changed(number);
        if let Some(vectors) = &mut self.vectors {
            vectors.remove(number);
        }
        self.places.set(number, Signed::NotYet);
    }

    pub(super) fn want_vector(&mut self, number: u32) {
        self.to_embed.push(self.wanted(number));
    }

    pub(super) fn wanted(&self, number: u32) -> Wanted {
        Wanted { doc: number, generation: self.asked.awaited(number) }
    }

    /// Wants the signs anew that somebody looked for and did not find.
    pub(super) fn want_lost_signs(&mut self) {
        for number in self.places.take_lost() {
            self.to_sign.push(self.wanted(number));
        }
    }
}

/// The beginning of a neighbour's text.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(NEARBY_BYTES_MAX)).unwrap_or(text)
}
