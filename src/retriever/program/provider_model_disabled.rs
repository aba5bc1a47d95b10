//! Twin of `provider_model.rs` for builds without the feature `providers`: the same functions, saying so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::MaySee;
use index::embed::{EmbedError, Embedder};
use store::EmbeddingProvider;

pub(super) type Load = Box<dyn FnOnce() -> Result<Box<dyn Embedder>, EmbedError> + Send>;

pub(super) fn name_of(provider: &EmbeddingProvider, _cache_dir: &Path) -> String {
    format!("{provider:?}")
}

pub(super) fn load(
    provider: EmbeddingProvider,
    _variable: fn(&str) -> Option<OsString>,
    _cache_dir: PathBuf,
    _config_file: Option<PathBuf>,
) -> Load {
    let form = provider.form;
    drop(provider);
    Box::new(move || Err(EmbedError::NotBuilt { provider: form.as_str(), feature: "providers" }))
}

pub(super) fn may_see(_provider: EmbeddingProvider) -> MaySee {
    Arc::new(|_| false)
}
