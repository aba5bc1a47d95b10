//! Hands memories to the model. Its queue is kept short, so that the order of those that wait can still change, and what has a vector
//! waits for all that has none. Not here: the order (`embedding_order`), the queue (`index::embed::worker`).

use super::{LoopState, ReadState};
use index::embed::worker::{SubmitError, WantedOutput};

/// The length of the model's queue up to which texts join it: enough to keep the model busy, few enough that an urgent text waits
/// for seconds of work only.
const QUEUED_MAX: usize = 128;

/// The same for texts that already have a vector.
const SIGNING_MAX: usize = 64;

impl LoopState {
    /// Submits texts to the worker's queue as far as it has room. Texts that are embedded again join when the queue is short.
    pub(super) fn submit_wanted(&mut self) {
        let (Some(model), ReadState::Following(follower)) = (self.models.now(), &mut self.reading)
        else {
            return;
        };
        self.order.sort(follower, &mut self.unqueued);
        let worker = &model.worker;
        while worker.queued() < QUEUED_MAX
            && let Some(wanted) = self.unqueued.pop()
        {
            let Some(job) = follower.embedding_job(wanted, WantedOutput::Vector) else { continue };
            match worker.submit(job) {
                Ok(()) => {}
                Err(SubmitError::Full(_)) => {
                    self.unqueued.push(wanted);
                    return;
                }
                Err(SubmitError::Stopped(_)) => self.unqueued.clear(),
            }
        }
        while self.unqueued.is_empty()
            && worker.queued() < SIGNING_MAX
            && let Some(wanted) = self.without_signs.pop()
        {
            let Some(job) = follower.embedding_job(wanted, WantedOutput::Signs) else { continue };
            match worker.submit(job) {
                Ok(()) => {}
                Err(SubmitError::Full(_)) => self.without_signs.push(wanted),
                Err(SubmitError::Stopped(_)) => self.without_signs.clear(),
            }
        }
    }
}
