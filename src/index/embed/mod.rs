//! Turns text into vectors, one for the whole text and one for each token: one small trait, one file per provider, a
//! cache on disk, a worker thread.
//!
//! Reading order: this file, [`model`] (the files on disk and how they get there), `minilm` (the
//! model of this machine, with `query_network`), `word_pieces` (what it reads), `loaded_model` (running it), [`cache`],
//! [`worker`].
//!
//! A build that cannot run the model has a twin of `minilm` with the same function that says so. ort is named in
//! `loaded_model` and `runtime` only.
//!
//! What is not here: searching vectors (`index::vector`), and any stand-in for a missing model.
//! Without one there are no vectors, and search says that it runs on words alone.

pub mod cache;
mod embedder;
mod error;
pub mod model;
pub mod worker;

#[cfg(not(target_env = "musl"))]
mod bert_words;

#[cfg(not(target_env = "musl"))]
mod loaded_model;

#[cfg(not(target_env = "musl"))]
mod minilm;
#[cfg(target_env = "musl")]
#[path = "minilm_disabled.rs"]
mod minilm;

#[cfg(not(target_env = "musl"))]
mod query_network;

#[cfg(not(target_env = "musl"))]
mod runtime;

#[cfg(not(target_env = "musl"))]
mod word_pieces;

#[cfg(any(test, feature = "testing"))]
pub mod test_embedder;

pub use embedder::{BatchLimit, Embedder, Embedding, EmbeddingOutcomes, ModelId, SpaceId};
pub use error::EmbedError;

use std::num::NonZeroUsize;
use std::path::Path;

use settings::EmbeddingPrecision as Precision;

/// Whether this build can run a model on this machine. A static program cannot load ONNX Runtime: it finds memories by words alone.
pub const RUNS_MODEL: bool = cfg!(not(target_env = "musl"));

/// Checks the model files and loads the model: 0.3 to 1 s, so call it off the thread that answers
/// people.
///
/// `threads` is for one inference. One is right for a program in the background: a second thread
/// was measured to gain little on an idle machine and to lose a lot on a busy one.
///
/// # Errors
/// Missing or altered files, a runtime library that does not load, or a build that runs no model.
/// Never panics for want of a library.
pub fn load(
    precision: Precision,
    model_dir: &Path,
    threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    minilm::load(model_dir, precision, threads)
}
