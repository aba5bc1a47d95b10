//! The embedding model of an engine. Not here: the model itself (`index::embed`).

use std::path::PathBuf;
use std::sync::Arc;

use crate::model_access::ModelAccess;
use index::embed::cache::AppendLock;
use index::embed::worker::IdleUnload;
use index::embed::{EmbedError, Embedder};
use search::CosineScale;

/// The embedding model and its vector cache.
pub struct DenseSetup {
    /// Loads the model, on a thread of its own.
    pub load: Box<dyn FnOnce() -> Result<Box<dyn Embedder>, EmbedError> + Send>,
    /// When a model that nobody uses leaves memory; `None` for never.
    pub idle: Option<IdleUnload>,
    /// The folder of the vector cache.
    pub cache_dir: PathBuf,
    /// The lock of the vector cache.
    pub lock: Arc<dyn AppendLock>,
    /// Covers everything that changes a vector; checkpoints keep vectors under it.
    pub name: String,
    /// What the model may see; `None` for a model of this machine, which sees everything.
    pub may_see: Option<ModelAccess>,
    /// Maps its cosines to those that likelihoods were fitted on.
    pub scale: CosineScale,
}
