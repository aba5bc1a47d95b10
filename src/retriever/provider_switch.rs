//! Asks an external model only while the settings name one: who turns it off does not want the next query to be sent, and the thread
//! that changes models looks but once a second. Not here: which model answers then (`model_watch`).

use std::path::PathBuf;

use crate::followed_config::FollowedConfig;
use index::embed::{BatchLimit, EmbedError, Embedder, Embedding, EmbeddingOutcomes, ModelId};

/// Whether the settings name an external model.
pub struct ProviderSwitch {
    config_file: Option<PathBuf>,
    followed: Option<FollowedConfig>,
    is_off: bool,
}

impl ProviderSwitch {
    /// Follows the settings. Without a file they cannot change.
    pub fn follow(config_file: Option<PathBuf>) -> Self {
        let followed = config_file.clone().map(FollowedConfig::new);
        Self { config_file, followed, is_off: false }
    }

    /// Opens a model that is asked as long as the settings name one.
    pub fn open(
        mut self,
        open: impl FnOnce() -> Result<Box<dyn Embedder>, EmbedError>,
    ) -> Result<Box<dyn Embedder>, EmbedError> {
        self.checked()?;
        Ok(Box::new(SwitchedEmbedder { model: open()?, switch: self }))
    }

    /// Tells why nobody may be asked now. Another model that is named changes nothing here: until that one is whole, this one answers.
    fn checked(&mut self) -> Result<(), EmbedError> {
        // A file that cannot be read changes nothing, as it does for the model that answers.
        if let Some(Ok(config)) = self.followed.as_mut().and_then(FollowedConfig::read_if_changed) {
            self.is_off = config.provider.is_none();
        }
        let why = || "the settings name no external embedding model any more".to_owned();
        if self.is_off { Err(EmbedError::ProviderAway { why: why() }) } else { Ok(()) }
    }
}

/// An external model that can be turned off.
struct SwitchedEmbedder {
    model: Box<dyn Embedder>,
    switch: ProviderSwitch,
}

impl Embedder for SwitchedEmbedder {
    fn model_id(&self) -> &ModelId {
        self.model.model_id()
    }

    fn description(&self) -> String {
        self.model.description()
    }

    fn dims(&self) -> usize {
        self.model.dims()
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.switch.checked()?;
        self.model.embed(texts)
    }

    fn embed_each(&mut self, texts: &[&str]) -> EmbeddingOutcomes {
        match self.switch.checked() {
            Ok(()) => self.model.embed_each(texts),
            Err(off) => EmbeddingOutcomes { outcomes: Vec::new(), trouble: Some(off) },
        }
    }

    fn embed_query(&mut self, query: &str) -> Result<Embedding, EmbedError> {
        self.switch.checked()?;
        self.model.embed_query(query)
    }

    fn batch_limit(&self) -> Option<BatchLimit> {
        self.model.batch_limit()
    }

    fn has_tokens(&self) -> bool {
        self.model.has_tokens()
    }

    fn split_off_queries(&mut self) -> Option<Box<dyn Embedder>> {
        let switch = ProviderSwitch::follow(self.switch.config_file.clone());
        Some(Box::new(Self { model: self.model.split_off_queries()?, switch }))
    }
}
