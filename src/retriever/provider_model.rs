//! An external model as the engine takes it. Not here: the provider itself (crate `providers`), when it answers (`model_plan`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::provider_switch::ProviderSwitch;
use engine::{ModelAccess, ModelInput};
use index::embed::{EmbedError, Embedder};
use providers::{ModelName, provider_url};
use settings::{EmbeddingProvider, ProviderForm};

/// Opens an embedder.
pub type ModelLoader = Box<dyn FnOnce() -> Result<Box<dyn Embedder>, EmbedError> + Send>;

/// Returns the name under which its vectors are kept.
pub fn model_name(provider: &EmbeddingProvider, cache_dir: &Path) -> String {
    ModelName::from_provider(provider, cache_dir).name_of_vectors()
}

/// Returns what opens it. The key is read when it is opened, and kept nowhere. It is asked while the file names an external model.
pub fn model_loader(
    provider: EmbeddingProvider,
    variable: fn(&str) -> Option<OsString>,
    cache_dir: PathBuf,
    config_file: Option<PathBuf>,
) -> ModelLoader {
    Box::new(move || {
        let key = provider.key_env.as_deref().and_then(variable);
        let key = key.and_then(|key| key.into_string().ok());
        ProviderSwitch::follow(config_file).open(|| providers::open(&provider, key, &cache_dir))
    })
}

/// Decides what it may see: nothing of a repository that is left out, and nothing private unless it runs on this machine.
pub fn may_see(provider: EmbeddingProvider) -> ModelAccess {
    let stays_here = stays_here(&provider);
    Arc::new(move |shown| match shown {
        ModelInput::Memory(memory) => {
            let is_private = memory.provenance.is_private && !stays_here;
            !is_private && provider.is_on_for(&memory.repo)
        }
        ModelInput::Query(repo) => provider.is_on_for(repo),
    })
}

/// Tells whether nothing that it sees leaves this machine, as far as we can tell. A program may do anything.
fn stays_here(provider: &EmbeddingProvider) -> bool {
    provider.form != ProviderForm::Command
        && provider_url(&provider.url).is_ok_and(|url| url.is_loopback())
}
