//! The models of an engine: the one whose vectors answer, and the next one while its vectors are made. Not here: when the next
//! one takes its place (`run::switching`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model_access::ModelAccess;
use index::embed::SpaceId;
use index::embed::worker::Worker;
use search::CosineScale;

/// A model that runs.
pub(super) struct RunningModel {
    pub(super) worker: Worker,
    pub(super) space: SpaceId,
    /// The name under which checkpoints keep its vectors.
    pub(super) name: String,
    /// `None` for a model of this machine, which sees everything.
    pub(super) may_see: Option<ModelAccess>,
    /// Maps its cosines to those that likelihoods were fitted on.
    pub(super) scale: Mutex<CosineScale>,
}

impl RunningModel {
    /// Returns its scale.
    pub(super) fn scale(&self) -> CosineScale {
        *self.scale.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The models, as the thread of the engine and its callers share them.
#[derive(Clone, Default)]
pub(super) struct RunningModels(Arc<Mutex<ModelPair>>);

#[derive(Default)]
struct ModelPair {
    now: Option<Arc<RunningModel>>,
    next: Option<Arc<RunningModel>>,
}

impl RunningModels {
    fn both(&self) -> MutexGuard<'_, ModelPair> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the model that answers.
    pub(super) fn now(&self) -> Option<Arc<RunningModel>> {
        self.both().now.clone()
    }

    /// Returns the model whose vectors are being made.
    pub(super) fn next(&self) -> Option<Arc<RunningModel>> {
        self.both().next.clone()
    }

    /// Lets a model answer from now on. Returns the one before, which ends when it is dropped.
    pub(super) fn answer_with(
        &self,
        model: Option<Arc<RunningModel>>,
    ) -> Option<Arc<RunningModel>> {
        std::mem::replace(&mut self.both().now, model)
    }

    /// Sets the next one. Returns the one that was to be next before.
    pub(super) fn prepare(&self, model: Option<Arc<RunningModel>>) -> Option<Arc<RunningModel>> {
        std::mem::replace(&mut self.both().next, model)
    }
}
