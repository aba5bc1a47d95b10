//! Twin of `minilm.rs` for static programs, which cannot load ONNX Runtime: the same function, which returns that error.

use std::num::NonZeroUsize;
use std::path::Path;

use super::embedder::Embedder;
use super::error::EmbedError;
use settings::EmbeddingPrecision;

pub(super) fn load(
    _model_dir: &Path,
    _embedding: EmbeddingPrecision,
    _threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    Err(EmbedError::RunsNoModel)
}
