//! From one model to another: the vectors of the next one are made while the present one answers, and then all answers change at
//! once. Vectors of two models are never compared. Not here: embedding (`index::embed`), which model is wanted (the retriever).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::next_model::{InterimSearch, NextModel, PreparedModel};
use super::{LoopState, ReadState};
use crate::follow::EmbeddingRequest;
use index::embed::worker::{EmbeddedDocument, Progress, SubmitError, WantedOutput, WorkerState};

/// Of ten memories so many may lack a vector of the next model. With more, something is wrong with the model, and
/// the present one goes on.
const LACKING_OF_TEN_MAX: usize = 1;

impl LoopState {
    /// Begins to make the vectors of another model.
    pub(super) fn begin_switch(&mut self, next: NextModel) {
        let is_same = self.models.now().is_some_and(|now| now.space == next.model.space);
        if is_same {
            return self.replace_worker(next);
        }
        if next.interim == InterimSearch::WordsAlone {
            drop(self.models.answer_with(None));
            self.unqueued.clear();
            self.without_signs.clear();
        }
        drop(self.models.prepare(Some(Arc::clone(&next.model))));
        let mut preparing = PreparedModel { next, unqueued: Vec::new() };
        if let ReadState::Following(follower) = &mut self.reading {
            preparing.unqueued = follower.begin_next_space(preparing.next.model.may_see.clone());
        }
        self.preparing = Some(preparing);
        self.submit_next();
    }

    /// Goes on with the same vectors and another worker, because the last one could not load its model, or may see something else.
    fn replace_worker(&mut self, next: NextModel) {
        drop(self.models.prepare(None));
        self.preparing = None;
        let may_see = next.model.may_see.clone();
        drop(self.models.answer_with(Some(next.model)));
        self.unqueued.clear();
        if let ReadState::Following(follower) = &mut self.reading {
            follower.change_model_access(may_see);
            self.unqueued = follower.without_vector();
            self.order.record_news();
        }
        self.submit_wanted();
        (next.on_switched)();
    }

    /// Begins what was asked for while the logs were read.
    pub(super) fn begin_waiting_switch(&mut self) {
        if let Some(PreparedModel { next, .. }) = self.preparing.take() {
            self.begin_switch(next);
        }
    }

    /// Takes in memories that need a vector of the next model too.
    pub(super) fn request_next_vectors(
        &mut self,
        to_embed: &[EmbeddingRequest],
        started_over: bool,
    ) {
        if let Some(preparing) = &mut self.preparing {
            if started_over {
                preparing.unqueued.clear();
            }
            preparing.unqueued.extend_from_slice(to_embed);
            self.submit_next();
        }
    }

    /// Stores vectors of the next model.
    pub(super) fn store_next_vectors(&mut self, batch: &[EmbeddedDocument]) {
        if let ReadState::Following(follower) = &mut self.reading {
            batch.iter().for_each(|embedded| follower.store_next_vector(embedded));
        }
        self.submit_next();
    }

    fn submit_next(&mut self) {
        let (Some(preparing), ReadState::Following(follower)) =
            (&mut self.preparing, &mut self.reading)
        else {
            return;
        };
        while let Some(wanted) = preparing.unqueued.pop() {
            let Some(job) = follower.next_space_job(wanted, WantedOutput::Vector) else { continue };
            match preparing.next.model.worker.submit(job) {
                Ok(()) => {}
                Err(SubmitError::Full(_)) => return preparing.unqueued.push(wanted),
                Err(SubmitError::Stopped(_)) => preparing.unqueued.clear(),
            }
        }
    }

    /// Lets the next model answer, once it has a vector of every memory that it may see and can embed.
    pub(super) fn switch_if_whole(&mut self) {
        let (Some(preparing), ReadState::Following(follower)) =
            (&self.preparing, &mut self.reading)
        else {
            return;
        };
        let Progress { state, queued, .. } = preparing.next.model.worker.progress();
        let is_ready = matches!(state, WorkerState::Ready { .. });
        let is_idle = queued == 0
            && preparing.unqueued.is_empty()
            && self.pending_batches.load(Ordering::SeqCst) == 0;
        let (done, memories) = follower.next_progress();
        let is_enough = (memories - done) * 10 <= memories * LACKING_OF_TEN_MAX;
        if !is_ready || !is_idle || !is_enough || follower.is_behind() {
            return;
        }
        self.without_signs = follower.switch_to_next();
        self.unqueued.clear();
        let Some(PreparedModel { next: NextModel { model, on_switched: on_whole, .. }, .. }) =
            self.preparing.take()
        else {
            return;
        };
        if let Some(schedule) = &mut self.schedule {
            schedule.checkpoints.keep_vectors_of(&model.name);
        }
        drop(self.models.prepare(None));
        // After the vectors and before the next answer: both change while the state is locked.
        drop(self.models.answer_with(Some(model)));
        on_whole();
        self.submit_wanted();
        self.save_checkpoint();
    }
}
