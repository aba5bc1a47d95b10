//! Turns text into vectors, one for the whole text and one for each token: one small trait, one file per provider, a
//! cache on disk, a worker thread.
//!
//! Reading order: this file, [`model`] (the files on disk and how they get there), `minilm` (the
//! model of this machine, with `query_network`), `word_pieces` (what it reads), `loaded_model` (running it) with
//! `ort_network` or `plain_network`, [`cache`], [`worker`].
//!
//! A static program cannot load ONNX Runtime, and for some systems there is none: `plain_network` computes the model there. ort is
//! named in `ort_network` and `runtime` only.
//!
//! What is not here: searching vectors (`index::vector`), and any stand-in for a missing model.
//! Without one there are no vectors, and search says that it runs on words alone.

pub mod cache;
mod embedder;
mod error;
pub mod model;
pub mod worker;

mod bert_words;
mod loaded_model;
mod minilm;
#[cfg(not(target_env = "musl"))]
mod ort_network;
mod plain_math;
mod plain_network;
mod query_network;
#[cfg(not(target_env = "musl"))]
mod runtime;
#[cfg(any(test, feature = "testing"))]
pub mod test_embedder;
mod word_pieces;

pub use embedder::{BatchLimit, Embedder, Embedding, EmbeddingOutcomes, ModelId, SpaceId};
pub use error::EmbedError;

use std::num::NonZeroUsize;
use std::path::Path;

use settings::EmbeddingPrecision as Precision;

/// Checks the model files and loads the model: 0.3 to 1 s, so call it off the thread that answers
/// people.
///
/// `threads` is for one inference. One is right for a program in the background: a second thread
/// was measured to gain little on an idle machine and to lose a lot on a busy one.
///
/// # Errors
/// Missing or altered files, or a runtime library that does not load.
/// Never panics for want of a library.
pub fn load(
    precision: Precision,
    model_dir: &Path,
    threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    minilm::load(model_dir, precision, threads)
}
