//! Twin of `online.rs` for builds without the feature `online`: the same function, saying so.

use std::num::NonZeroUsize;
use std::path::Path;

use super::embedder::Embedder;
use super::error::EmbedError;

pub(super) fn load(
    _model_dir: &Path,
    _threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    Err(EmbedError::NotOnline)
}
