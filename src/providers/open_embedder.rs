//! Opens the embedder of a provider: checks the settings, and asks once, which shows the width of its vectors and whether the model
//! is the one it was. Not here: embedding (`remote_embedder`).

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::probe_record::{PROBE, ProbeRecord};
use crate::provider_client::ProviderClient;
use crate::provider_error::ProviderError;
use crate::provider_url::provider_url;
use crate::remote_embedder::{ProviderAccess, RemoteEmbedder};
use http_client::KeyHeader;
use index::embed::{EmbedError, Embedder, ModelId};
use settings::{EmbeddingProvider, ProviderForm};

/// Goes up with the form of the texts that are embedded, or of the requests.
const FORM_VERSION: &str = "1";

/// The name of a provider's model, with everything that changes a vector. Known without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    shown: String,
    hash: [u8; 32],
    key: String,
}

impl ModelName {
    /// Names the model of a provider. `cache_dir` holds what is known of it from before.
    #[must_use]
    pub fn from_provider(provider: &EmbeddingProvider, cache_dir: &Path) -> Self {
        let key = hex(&digest(provider, 0));
        let edition = ProbeRecord::read(&ProbeRecord::path(cache_dir, &key));
        let edition = edition.map_or(0, |record| record.edition);
        let hash = digest(provider, edition);
        let EmbeddingProvider { form, model, .. } = provider;
        let model = if model.is_empty() { "model" } else { model };
        let shown = format!("{model} of {} ({})", who(provider), form.as_str());
        Self { shown, hash, key }
    }

    /// Returns what people read.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the name under which vectors are kept.
    #[must_use]
    pub fn name_of_vectors(&self) -> String {
        format!("{} {}", self.shown, hex(&self.hash))
    }
}

/// Opens the embedder. `key` is the content of the variable that the settings name.
///
/// # Errors
/// [`EmbedError::ProviderAway`] where it may work later, [`EmbedError::ProviderChanged`] where another model answers under the
/// same name; then its record is renewed, and the next call opens it.
pub fn open(
    provider: &EmbeddingProvider,
    key: Option<String>,
    cache_dir: &Path,
) -> Result<Box<dyn Embedder>, EmbedError> {
    let name = ModelName::from_provider(provider, cache_dir);
    let way = way(provider, key).map_err(EmbedError::from)?;
    let model_id = ModelId::new(name.shown.clone(), name.hash);
    let mut embedder = RemoteEmbedder::new(provider.clone(), way, model_id);
    let vector = embedder.embed_probe(PROBE)?;
    let path = ProbeRecord::path(cache_dir, &name.key);
    match ProbeRecord::read(&path) {
        Some(known) if known.fits(&vector) => {}
        None => ProbeRecord { edition: 0, vector }.write(&path),
        Some(known) => {
            ProbeRecord { edition: known.edition + 1, vector }.write(&path);
            return Err(EmbedError::ProviderChanged { provider: name.shown });
        }
    }
    Ok(Box::new(embedder))
}

fn way(provider: &EmbeddingProvider, key: Option<String>) -> Result<ProviderAccess, ProviderError> {
    if provider.form == ProviderForm::Command {
        return Ok(ProviderAccess::Command(provider.command.clone()));
    }
    let url = provider_url(&provider.url)?;
    let key = needed_key(provider.key_env.as_deref(), key)?;
    let header = match provider.form {
        ProviderForm::Gemini => KeyHeader::Google,
        _ => KeyHeader::Bearer,
    };
    Ok(ProviderAccess::Http(ProviderClient::new(url, key, header)))
}

/// Returns the key where one is needed.
pub(crate) fn needed_key(
    key_env: Option<&str>,
    key: Option<String>,
) -> Result<Option<String>, ProviderError> {
    let Some(name) = key_env else { return Ok(None) };
    let key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    key.ok_or_else(|| ProviderError::NoKey(name.to_owned())).map(Some)
}

/// Returns the host of a provider, or its program.
fn who(provider: &EmbeddingProvider) -> String {
    match provider.form {
        ProviderForm::Command => provider.command.first().cloned().unwrap_or_default(),
        _ => provider_url(&provider.url).map_or_else(
            |_| "an address that cannot be used".to_owned(),
            |url| url.authority().to_owned(),
        ),
    }
}

/// Returns what stands behind the host: some servers have one path for each model.
fn path(provider: &EmbeddingProvider) -> String {
    provider_url(&provider.url).map_or_else(|_| String::new(), |url| url.path().to_owned())
}

/// Covers what changes a vector: who computes it, of what text. Not the batch, the key or what is left out.
fn digest(provider: &EmbeddingProvider, edition: u64) -> [u8; 32] {
    let EmbeddingProvider { form, model, command, dimensions, max_chars, .. } = provider;
    let numbers = [format!("{dimensions:?}"), max_chars.to_string(), edition.to_string()];
    let mut parts = vec![FORM_VERSION, form.as_str(), model];
    let (who, path) = (who(provider), path(provider));
    parts.extend([who.as_str(), &path, &provider.query_prefix, &provider.text_prefix]);
    parts.extend(numbers.iter().map(String::as_str));
    parts.extend(command.iter().map(String::as_str));
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

/// Enough of a hash to tell models apart.
fn hex(hash: &[u8; 32]) -> String {
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
