//! The state made from the logs, and how a folded event changes it. Not here: reading (`follow`),
//! checkpoints (`checkpointing`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::lookups::Lookups;
use super::requested_vectors::{EmbeddingRequest, RequestedVectors};
use super::space_vectors::NextSpace;
use crate::model_access::ModelAccess;
use event::{RepoKey, SkipReason};
use index::late::{SignLocations, SignState};
use index::lexical::{DocId, LexicalIndex, Passage, passages_of};
use index::vector::VectorIndex;
use memory::{CowVec, Effect, Fold, Memory, Neighbours, RemovedMemory, Sessions};
use search::SubjectMemo;
use search::snapshot::{Health, SkippedLogLine};
use store::LogLine;

/// Skipped lines with details; further ones are only counted.
const SKIPS_SHOWN_MAX: usize = 1_000;

/// Memories that wait for lexical indexing while logs are read. Enough that neighbours are indexed
/// once, few enough that their texts take some megabytes.
const UNINDEXED_MAX: usize = 1_024;

/// The state made from the logs, and nothing else.
#[derive(Default)]
pub(super) struct FoldedState {
    pub(super) fold: Fold,
    /// The tables that fold and sessions lack after a restore, until a line is read.
    pub(super) lookups: Option<Lookups>,
    pub(super) lexical: LexicalIndex,
    pub(super) vectors: Option<VectorIndex>,
    pub(super) sign_locations: SignLocations,
    /// What the model that answers may see, and the memories that it may not.
    pub(super) may_see: Option<ModelAccess>,
    pub(super) withheld: BTreeSet<u32>,
    /// The vectors of the model that is to answer next.
    pub(super) next: Option<NextSpace>,
    pub(super) sessions: Sessions,
    pub(super) neighbours: CowVec<Neighbours>,
    /// Memories to index again. A number can be free by now.
    pub(super) unindexed: BTreeSet<u32>,
    pub(super) repos: Arc<BTreeMap<RepoKey, usize>>,
    pub(super) health: Arc<Health>,
    pub(super) subjects: Arc<SubjectMemo>,
    pub(super) to_embed: Vec<EmbeddingRequest>,
    pub(super) to_sign: Vec<EmbeddingRequest>,
    pub(super) requested: RequestedVectors,
}

impl FoldedState {
    /// Sets the lookup tables, where a restored state still lacks them.
    pub(super) fn complete(&mut self) {
        if let Some(lookups) = self.lookups.take() {
            let (lookup, sessions) = lookups.join(self.fold.memories());
            self.fold.set_lookup(lookup);
            self.sessions = sessions;
        }
    }

    pub(super) fn skip(&mut self, log: &Path, line: LogLine<'_>, reason: SkipReason) {
        let health = Arc::make_mut(&mut self.health);
        health.lines += 1;
        health.skipped += 1;
        if health.skips.len() < SKIPS_SHOWN_MAX {
            let reason = match reason {
                SkipReason::TooLong { .. } => SkipReason::TooLong { line_bytes: line.line_bytes },
                other => other,
            };
            let log = log.into();
            health.skips.push(SkippedLogLine { log, offset: line.offset, reason });
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
            Effect::Removed(removed) => self.forget_removed(vec![removed]),
            Effect::Several(effects) => effects.into_iter().for_each(|effect| self.index(effect)),
            Effect::Nothing => {}
        }
    }

    /// Indexes a new memory.
    pub(super) fn add(&mut self, number: u32) {
        let Some(memory) = self.memory(number) else { return };
        *Arc::make_mut(&mut self.repos).entry(memory.repo.clone()).or_default() += 1;
        self.update_memory(number, Some(&memory));
        self.want_vector(number);
        if self.unindexed.len() >= UNINDEXED_MAX {
            self.index_words();
        }
    }

    /// Updates the memory of a number, and marks it and its neighbours for indexing.
    pub(super) fn update_memory(&mut self, number: u32, memory: Option<&Memory>) {
        self.unindexed.extend(self.sessions.update(number, memory));
        self.unindexed.insert(number);
    }

    /// Updates the lexical index for all marked memories.
    pub(super) fn index_words(&mut self) {
        if self.unindexed.is_empty() {
            return;
        }
        let numbers = std::mem::take(&mut self.unindexed);
        self.neighbours.resize(self.fold.memories().len(), &Neighbours::default());
        for number in &numbers {
            let place = usize::try_from(*number).ok();
            let (is, was) = (
                self.sessions.neighbours_of(*number),
                place.and_then(|at| self.neighbours.get(at)),
            );
            if was.is_some_and(|was| *was != is)
                && let Some(known) = place.and_then(|place| self.neighbours.get_mut(place))
            {
                *known = is;
            }
        }
        let documents = numbers.into_iter().map(|number| (DocId(number), self.passages(number)));
        let documents: BTreeMap<DocId, Vec<Passage>> = documents.collect();
        self.lexical.put_all(&documents);
    }

    /// Returns the passages of a memory; none where the number is free. A short one includes its
    /// neighbours, since a lesson often leaves out its subject.
    pub(super) fn passages(&self, number: u32) -> Vec<Passage> {
        let Some(memory) = self.memory(number) else { return Vec::new() };
        let place = usize::try_from(number).ok();
        let near = place.and_then(|place| self.neighbours.get(place)).copied().unwrap_or_default();
        let near: Vec<Arc<Memory>> =
            near.numbers().filter_map(|number| self.memory(number)).collect();
        passages_of(&memory, near.iter().map(AsRef::as_ref))
    }

    pub(super) fn memory(&self, number: u32) -> Option<Arc<Memory>> {
        self.fold.memories().get(usize::try_from(number).ok()?).cloned()
    }

    /// Returns the shared copy of a repository key.
    pub(super) fn shared_key(&self, repo: RepoKey) -> RepoKey {
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

    /// Keeps the bound: removed memories leave the indexes too.
    pub(super) fn trim(&mut self, slack_bytes: u64) {
        if !self.fold.exceeds_bound(slack_bytes) {
            return;
        }
        self.complete();
        let removed = self.fold.trim(slack_bytes);
        self.forget_removed(removed);
    }

    /// Takes removed memories out of the indexes, and gives those that moved their new numbers.
    fn forget_removed(&mut self, removed: Vec<RemovedMemory>) {
        let mut changed: BTreeSet<u32> = BTreeSet::new();
        for RemovedMemory { number, repo, moved_from } in removed {
            self.uncount(&repo);
            let vector = moved_from.and_then(|from| self.vectors.as_ref()?.get(from));
            let signed = moved_from.map_or(SignState::NotYet, |from| self.sign_locations.get(from));
            for number in [number].into_iter().chain(moved_from) {
                self.forget_vector(number);
                self.update_memory(number, None);
                changed.insert(number);
            }
            let moved = moved_from.and_then(|_| self.memory(number));
            self.update_memory(number, moved.as_deref());
            if let (Some(vector), Some(vectors)) = (vector, &mut self.vectors) {
                // The index held this very vector before.
                let _ = vectors.set(number, &vector);
                self.sign_locations.set(number, signed);
            }
        }
        for number in changed {
            let has_vector = self.vectors.as_ref().is_some_and(|vectors| vectors.contains(number));
            if self.memory(number).is_none() {
                continue;
            }
            let has_next = self.next.as_ref().is_none_or(|next| next.has(number));
            if !has_vector || !has_next {
                self.want_vector(number);
            } else if self.sign_locations.get(number) == SignState::NotYet {
                self.to_sign.push(self.embedding_request(number));
            }
        }
    }

    pub(super) fn forget_vector(&mut self, number: u32) {
        self.requested.bump(number);
        if let Some(vectors) = &mut self.vectors {
            vectors.remove(number);
        }
        self.withheld.remove(&number);
        self.next.iter_mut().for_each(|next| next.forget(number));
        self.sign_locations.set(number, SignState::NotYet);
    }

    pub(super) fn want_vector(&mut self, number: u32) {
        self.to_embed.push(self.embedding_request(number));
    }

    pub(super) fn embedding_request(&self, number: u32) -> EmbeddingRequest {
        EmbeddingRequest { doc: number, generation: self.requested.generation_of(number) }
    }

    /// Requests the signs that a query looked for and did not find.
    pub(super) fn want_lost_signs(&mut self) {
        for number in self.sign_locations.take_lost() {
            self.to_sign.push(self.embedding_request(number));
        }
    }
}
