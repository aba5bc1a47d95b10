//! The model that is to answer next. Not here: the change to it (`run::switching`).

use std::sync::Arc;

use super::models::Model;
use crate::follow::Wanted;

/// Called when the next model answers.
pub type OnWhole = Box<dyn FnOnce() + Send>;

/// What answers until the next model has a vector of every memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    /// The present model and its vectors.
    PresentModel,
    /// Words alone: the present model is not asked any more.
    WordsAlone,
}

/// The model that is to answer next.
pub(super) struct NextModel {
    pub(super) model: Arc<Model>,
    pub(super) on_whole: OnWhole,
    pub(super) meanwhile: Meanwhile,
}

/// The same, with its memories that are not queued yet.
pub(super) struct Preparing {
    pub(super) next: NextModel,
    pub(super) unqueued: Vec<Wanted>,
}
