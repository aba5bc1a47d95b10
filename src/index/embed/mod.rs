//! Turns text into vectors, one for the whole text and one for each token: one small trait, one file per provider, a
//! cache on disk, a worker thread.
//!
//! Reading order: this file, [`model`] (the files on disk and how they get there), `minilm` (the
//! local provider, with `questions`), `online` (fastembed downloads the weights itself), [`cache`], [`worker`].
//!
//! A provider that a build leaves out has a twin with the same functions that says so; the choice
//! is made in this file and nowhere else. fastembed and ort are named in the two providers and in
//! `runtime` only.
//!
//! What is not here: searching vectors (`index::vector`), and any stand-in for a missing model.
//! Without one there are no vectors, and search says that it runs on words alone.

pub mod cache;
mod embedder;
mod error;
pub mod model;
pub mod worker;

#[cfg(not(target_env = "musl"))]
mod minilm;
#[cfg(target_env = "musl")]
#[path = "minilm_disabled.rs"]
mod minilm;

#[cfg(feature = "online")]
mod online;
#[cfg(not(feature = "online"))]
#[path = "online_disabled.rs"]
mod online;

#[cfg(not(target_env = "musl"))]
mod query_network;

#[cfg(not(target_env = "musl"))]
mod runtime;

#[cfg(any(test, feature = "testing"))]
pub mod test_embedder;

pub use embedder::{BatchLimit, EmbeddedEach, Embedder, Embedding, ModelId, SpaceId};
pub use error::EmbedError;

use std::num::NonZeroUsize;
use std::path::Path;

use settings::EmbeddingPrecision as Precision;

/// Which provider makes the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Everything from the model directory, computed as the setting says; touches no network.
    Local(Precision),
    /// fastembed downloads the weights on first use; the runtime library still comes from the model
    /// directory.
    Online,
}

/// Whether this build can run a model on this machine. A static program cannot load ONNX Runtime: it finds memories by words alone.
pub const RUNS_MODEL: bool = cfg!(not(target_env = "musl"));

/// Checks the model files and loads the model: 0.3 to 1 s, so call it off the thread that answers
/// people.
///
/// `threads` is for one inference. One is right for a program in the background: a second thread
/// was measured to gain little on an idle machine and to lose a lot on a busy one.
///
/// # Errors
/// Missing or altered files, a runtime library that does not load, or a build without the provider.
/// Never panics for want of a library.
pub fn load(
    provider: Provider,
    model_dir: &Path,
    threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    match provider {
        Provider::Local(precision) => minilm::load(model_dir, precision, threads),
        Provider::Online => online::load(model_dir, threads),
    }
}
