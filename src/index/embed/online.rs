//! The online provider: fastembed downloads all-MiniLM-L6-v2 from its hub on first use.
//!
//! The weights land in `hub` inside the model directory unless the hub's own variables (`HF_HOME`)
//! say otherwise; a mirror is chosen with `HF_ENDPOINT`. The runtime library still comes from the
//! model directory: one that is loaded at run time is never linked, so no build downloads it.
//!
//! What is not here: checksums. The hub checks what it sends; these weights are not pinned by us,
//! so their vectors carry another model id and never mix with those of the local provider.

use std::num::NonZeroUsize;
use std::path::Path;

use fastembed::{EmbeddingModel, TextEmbedding, TextInitOptions};
use sha2::{Digest, Sha256};

use super::embedder::{Embedder, ModelId};
use super::error::EmbedError;
use super::error::one_line;
use super::model;
use super::runtime::{self, LoadedModel, TOKENS_MAX};

const MODEL: EmbeddingModel = EmbeddingModel::AllMiniLML6V2;

pub(super) fn load(
    model_dir: &Path,
    threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    let library = model::runtime_library(model_dir)?;
    let options = TextInitOptions::new(MODEL)
        .with_environment(runtime::environment(&library)?)
        .with_cache_dir(model_dir.join("hub"))
        // A progress bar would write where MCP speaks.
        .with_show_download_progress(false)
        .with_max_length(TOKENS_MAX)
        .with_intra_threads(threads.get());
    let failed = |error: fastembed::Error| EmbedError::Runtime { why: one_line(&error) };
    let text_embedding = TextEmbedding::try_new(options).map_err(failed)?;
    Ok(Box::new(LoadedModel { model_id: model_id()?, text_embedding, batch_texts: usize::MAX }))
}

/// Repository and file name stand for the content, which the hub serves under one revision per
/// cache.
fn model_id() -> Result<ModelId, EmbedError> {
    let failed = |error: fastembed::Error| EmbedError::Runtime { why: one_line(&error) };
    let info = TextEmbedding::get_model_info(&MODEL).map_err(failed)?;
    let mut digest = Sha256::new();
    for part in ["hub", &info.model_code, &info.model_file] {
        digest.update(part);
        digest.update([0]);
    }
    digest.update(TOKENS_MAX.to_le_bytes());
    Ok(ModelId::new("all-MiniLM-L6-v2 hub", digest.finalize().into()))
}
