//! The vectors of the model that is to answer next, while they are made. Not here: when it does (`owner::run::switching`).

use std::sync::Arc;

use super::space_vectors::{NextSpace, may_see};
use super::{EmbeddingRequest, Follower};
use crate::model_access::ModelAccess;
use index::embed::worker::{EmbeddedDocument, Job, WantedOutput};
use index::late::SignState;
use index::vector::VectorIndex;
use memory::Memory;

impl Follower {
    /// Sets what the model that answers may see.
    #[must_use]
    pub fn with_model_access(mut self, may_see: Option<ModelAccess>) -> Self {
        self.built.may_see = may_see;
        self
    }

    /// Sets what the model that answers may see from now on. What it may see no more loses its vector, also one that is under way;
    /// a model that was to answer next is forgotten.
    pub fn change_model_access(&mut self, may_see_now: Option<ModelAccess>) {
        (self.built.may_see, self.built.next) = (may_see_now, None);
        self.built.withheld.clear();
        let seen = self.built.may_see.as_ref();
        if seen.is_none() {
            return;
        }
        let memory = |number: &u32| self.built.memory(*number);
        let hidden = |number: &u32| memory(number).is_some_and(|memory| !may_see(seen, &memory));
        let hidden: Vec<u32> = self.numbers().filter(hidden).collect();
        self.is_saved &= hidden.is_empty();
        for number in hidden {
            self.built.forget_vector(number);
            self.built.withheld.insert(number);
        }
    }

    /// Begins with the vectors of another model. Returns all memories.
    pub fn begin_next_space(&mut self, may_see: Option<ModelAccess>) -> Vec<EmbeddingRequest> {
        self.built.next = Some(NextSpace { may_see, ..NextSpace::default() });
        self.numbers().map(|number| self.built.embedding_request(number)).collect()
    }

    /// Returns the memories without a vector of the model that answers.
    #[must_use]
    pub fn without_vector(&self) -> Vec<EmbeddingRequest> {
        let has = |number: &u32| {
            self.built.withheld.contains(number)
                || self.built.vectors.as_ref().is_some_and(|vectors| vectors.contains(*number))
        };
        self.numbers()
            .filter(|number| !has(number))
            .map(|number| self.built.embedding_request(number))
            .collect()
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        (0..).take(self.built.fold.memories().len())
    }

    /// Returns the text that the next model embeds, unless it has changed since or the model may not see it.
    pub fn next_space_job(&mut self, wanted: EmbeddingRequest, want: WantedOutput) -> Option<Job> {
        let EmbeddingRequest { doc, generation } = wanted;
        let memory = self.current(wanted)?;
        let next = self.built.next.as_mut()?;
        if !may_see(next.may_see.as_ref(), &memory) {
            next.withheld.insert(doc);
            return None;
        }
        Some(Job { doc, generation, text: memory.meaning_text(), want })
    }

    /// Returns the memory whose vector is wanted, unless it has changed since.
    pub(super) fn current(
        &self,
        EmbeddingRequest { doc, generation }: EmbeddingRequest,
    ) -> Option<Arc<Memory>> {
        let is_current = generation == self.built.requested.generation_of(doc);
        self.built.memory(doc).filter(|_| is_current)
    }

    /// Stores a vector of the next model.
    pub fn store_next_vector(&mut self, embedded: &EmbeddedDocument) {
        let EmbeddedDocument { doc, generation, vector, signed } = embedded;
        let is_current = *generation == self.built.requested.generation_of(*doc);
        let Some(next) = self.built.next.as_mut().filter(|_| is_current) else { return };
        let vectors = next.vectors.get_or_insert_with(|| VectorIndex::new(vector.len()));
        // A vector without a direction cannot be compared; its memory is found by words only.
        if vectors.set(*doc, vector).is_ok() {
            next.sign_locations.set(*doc, *signed);
        }
    }

    /// Returns how many memories are done for the next model, and of how many.
    #[must_use]
    pub fn next_progress(&self) -> (usize, usize) {
        let memories = self.built.fold.memories().len();
        (self.built.next.as_ref().map_or(0, NextSpace::len).min(memories), memories)
    }

    /// Lets the next model answer. Returns the memories that still need the signs of their tokens.
    pub fn switch_to_next(&mut self) -> Vec<EmbeddingRequest> {
        let Some(next) = self.built.next.take() else { return Vec::new() };
        let NextSpace { vectors, sign_locations, withheld, may_see } = next;
        (self.built.vectors, self.built.sign_locations) = (vectors, sign_locations);
        (self.built.withheld, self.built.may_see) = (withheld, may_see);
        self.built.to_sign.clear();
        self.is_saved = false;
        Arc::make_mut(&mut self.built.health).without_vector = 0;
        let has_vector =
            |number: u32| self.built.vectors.as_ref().is_some_and(|all| all.contains(number));
        let is_unsigned = |number: &u32| {
            has_vector(*number) && self.built.sign_locations.get(*number) == SignState::NotYet
        };
        self.numbers()
            .filter(is_unsigned)
            .map(|number| self.built.embedding_request(number))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelInput;
    use memory::MemoryBound;
    use settings::Config;
    use store::Store;

    fn embed_all(follower: &mut Follower, wanted: &[EmbeddingRequest]) -> Vec<EmbeddedDocument> {
        let jobs: Vec<Job> = wanted
            .iter()
            .filter_map(|wanted| follower.embedding_job(*wanted, WantedOutput::Vector))
            .collect();
        let signed = SignState::Never;
        let vector = |Job { doc, generation, .. }| EmbeddedDocument {
            doc,
            generation,
            vector: vec![1.0],
            signed,
        };
        jobs.into_iter().map(vector).collect()
    }

    fn store(follower: &mut Follower, vectors: &[EmbeddedDocument]) {
        for embedded in vectors {
            assert_eq!(follower.store_vector(embedded), None, "no signs are missing");
        }
    }

    // S-PROVIDER-7
    #[test]
    fn what_is_hidden_later_has_no_vector() {
        let folder = tempfile::tempdir().unwrap();
        for (repo, lesson) in [("shop", "walrus"), ("lab", "otter")] {
            let line = format!("{{\"id\":\"{lesson}\",\"lesson\":\"{lesson}\"}}\n");
            std::fs::write(folder.path().join(format!("{repo}.jsonl")), line).unwrap();
        }
        let mut follower =
            Follower::new(Store::at(folder.path()), Config::default(), MemoryBound::NONE, None);
        let wanted = follower.catch_up().to_embed;
        let under_way = embed_all(&mut follower, &wanted);
        store(&mut follower, &under_way);
        follower.begin_next_space(None);
        let counts = |follower: &Follower| {
            let snapshot = follower.snapshot();
            (snapshot.vectors().map_or(0, VectorIndex::len), snapshot.withheld)
        };
        assert_eq!(counts(&follower), (2, 0));
        let shop_alone: ModelAccess = Arc::new(
            |input| matches!(input, ModelInput::Memory(memory) if memory.repo.as_str() == "shop"),
        );
        follower.change_model_access(Some(shop_alone));
        assert_eq!(counts(&follower), (1, 1));
        assert_eq!(follower.snapshot().next_embedded, None, "the next model is forgotten");
        assert!(follower.without_vector().is_empty());
        store(&mut follower, &under_way);
        assert_eq!(counts(&follower), (1, 1), "a late vector is refused");
        follower.change_model_access(None);
        let wanted = follower.without_vector();
        let embedded = embed_all(&mut follower, &wanted);
        store(&mut follower, &embedded);
        assert_eq!(counts(&follower), (2, 0));
    }
}
