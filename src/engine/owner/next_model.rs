//! The model that is to answer next. Not here: the change to it (`run::switching`).

use std::sync::Arc;

use super::models::RunningModel;
use crate::follow::EmbeddingRequest;

/// Called when the next model answers.
pub type SwitchCallback = Box<dyn FnOnce() + Send>;

/// What answers until the next model has a vector of every memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterimSearch {
    /// The present model and its vectors.
    PresentModel,
    /// Words alone: the present model is not asked any more.
    WordsAlone,
}

/// The model that is to answer next.
pub(super) struct NextModel {
    pub(super) model: Arc<RunningModel>,
    pub(super) on_switched: SwitchCallback,
    pub(super) interim: InterimSearch,
}

/// The same, with its memories that are not queued yet.
pub(super) struct PreparedModel {
    pub(super) next: NextModel,
    pub(super) unqueued: Vec<EmbeddingRequest>,
}
