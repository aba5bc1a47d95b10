//! An external model as an embedder: cuts and prefixes texts, sends them in batches that the provider takes, and checks what comes
//! back. It gives no vectors of tokens. Not here: the protocols (`vector_forms`), caching (`index::embed::cache`).

use std::time::Duration;

use serde_json::Value;

use crate::checked_vectors::{CheckedVector, ExpectedVectors, check_vectors};
use crate::provider_client::ProviderClient;
use crate::provider_command::{self, ProgramLimits};
use crate::provider_error::ProviderError;
use crate::vector_forms::{TextKind, VectorRequest, place_of_vectors, vectors_in};
use guard::secrets::RedactedText;
use index::embed::{BatchLimit, EmbedError, Embedder, Embedding, EmbeddingOutcomes, ModelId};
use settings::{EmbeddingProvider, ProviderForm};

/// How long a batch of texts may take, with everything that is tried again: a large model on a small machine is slow.
const TEXTS_WAIT: Duration = Duration::from_secs(60);
/// How long a query may take. Callers wait less; later ones find it answered.
const QUERY_WAIT: Duration = Duration::from_secs(5);
/// Bytes of texts in one batch.
const BATCH_BYTES_MAX: usize = 1024 * 1024;

/// How a provider is reached.
#[derive(Clone)]
pub(crate) enum ProviderAccess {
    Http(ProviderClient),
    Command(Vec<String>),
}

impl ProviderAccess {
    pub(crate) fn who(&self) -> &str {
        match self {
            Self::Http(client) => client.who(),
            Self::Command(words) => words.first().map_or("", String::as_str),
        }
    }
}

/// Vectors by a provider.
#[derive(Clone)]
pub(crate) struct RemoteEmbedder {
    provider: EmbeddingProvider,
    way: ProviderAccess,
    model_id: ModelId,
    /// Numbers per vector, once they are known.
    dims: Option<usize>,
    /// Texts in one request: what is set, or less where the provider refused that.
    batch: usize,
    asks_for_dimensions: bool,
}

impl RemoteEmbedder {
    pub(crate) fn new(provider: EmbeddingProvider, way: ProviderAccess, model_id: ModelId) -> Self {
        let batch = usize::try_from(provider.batch).unwrap_or(1).max(1);
        let dims = provider.dimensions.and_then(|dims| usize::try_from(dims).ok());
        Self { provider, way, model_id, dims, batch, asks_for_dimensions: dims.is_some() }
    }

    /// Embeds one text, from which the width of all vectors is known afterwards.
    pub(crate) fn embed_probe(&mut self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let embedding = self.each(&[text], TextKind::Text, TEXTS_WAIT).whole()?.pop();
        let vector = embedding.map_or_else(Vec::new, |embedding| embedding.vector);
        self.dims = Some(vector.len());
        Ok(vector)
    }

    /// Embeds texts in batches that the provider takes. A batch that is refused is halved, down to the text at fault; what was embedded
    /// is never sent again, since it is paid for.
    fn each(&mut self, texts: &[&str], kind: TextKind, wait: Duration) -> EmbeddingOutcomes {
        let before = self.batch;
        let ready: Vec<RedactedText> = texts.iter().map(|text| self.ready(text, kind)).collect();
        let (mut rest, mut each) = (ready.as_slice(), EmbeddingOutcomes::default());
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.batch.min(rest.len()));
            match self.vectors_of_batch(now, kind, wait) {
                Ok(of_batch) => {
                    each.outcomes.extend(of_batch.into_iter().map(outcome));
                    rest = later;
                }
                Err(error) if error.is_passing() => {
                    each.trouble = Some(error.into());
                    return each;
                }
                Err(_) if now.len() > 1 => self.batch = now.len() / 2,
                Err(error) => {
                    // A single text was at fault, not the number of texts.
                    self.batch = before;
                    each.outcomes.push(Err(error.into()));
                    rest = later;
                }
            }
        }
        each
    }

    /// Takes secrets out of a text, cuts it and puts the prefix before it. A query was not redacted before, and the rules may know
    /// more than when a memory was saved. Local servers refuse a whole batch for one text that is too long.
    fn ready(&self, text: &str, kind: TextKind) -> RedactedText {
        let max = usize::try_from(self.provider.max_chars).unwrap_or(usize::MAX);
        let text = RedactedText::redact(text).cut_to_characters(max);
        let prefix = match kind {
            TextKind::Query => &self.provider.query_prefix,
            TextKind::Text => &self.provider.text_prefix,
        };
        RedactedText::redact(&format!("{prefix}{text}"))
    }

    fn vectors_of_batch(
        &mut self,
        texts: &[RedactedText],
        kind: TextKind,
        wait: Duration,
    ) -> Result<Vec<CheckedVector>, ProviderError> {
        let answer = match self.answer(texts, kind, wait) {
            Err(error) if self.asks_for_dimensions && is_about_dimensions(&error) => {
                // Many servers have one width only, and refuse the question for it. What comes back is checked.
                self.asks_for_dimensions = false;
                self.answer(texts, kind, wait)?
            }
            other => other?,
        };
        let (form, who) = (self.provider.form, self.way.who());
        let found = vectors_in(form, &answer).ok_or_else(|| ProviderError::OtherForm {
            who: who.to_owned(),
            what: place_of_vectors(form),
        })?;
        check_vectors(found, &ExpectedVectors { who, count: texts.len(), dims: self.dims })
    }

    fn answer(
        &self,
        texts: &[RedactedText],
        kind: TextKind,
        wait: Duration,
    ) -> Result<Value, ProviderError> {
        let dimensions = self.provider.dimensions.filter(|_| self.asks_for_dimensions);
        let request = VectorRequest { model: &self.provider.model, texts, kind, dimensions };
        let form = self.provider.form;
        match &self.way {
            ProviderAccess::Http(client) => {
                client.post(&request.path(form), &request.body(form), wait)
            }
            ProviderAccess::Command(words) => {
                let limits = ProgramLimits::within(wait);
                provider_command::ask(words, &request.body(ProviderForm::Command), limits)
            }
        }
    }
}

fn outcome(vector: CheckedVector) -> Result<Embedding, EmbedError> {
    vector.map(|vector| Embedding { vector, tokens: Vec::new() }).map_err(EmbedError::from)
}

fn is_about_dimensions(error: &ProviderError) -> bool {
    matches!(error, ProviderError::Refused { said, .. } if said.to_ascii_lowercase().contains("dimension"))
}

impl Embedder for RemoteEmbedder {
    fn model_id(&self) -> &ModelId {
        &self.model_id
    }

    fn dims(&self) -> usize {
        self.dims.unwrap_or_default()
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.each(texts, TextKind::Text, TEXTS_WAIT).whole()
    }

    fn embed_each(&mut self, texts: &[&str]) -> EmbeddingOutcomes {
        self.each(texts, TextKind::Text, TEXTS_WAIT)
    }

    fn embed_query(&mut self, query: &str) -> Result<Embedding, EmbedError> {
        let nothing = || EmbedError::ProviderRefused { why: "it returned no vector".to_owned() };
        self.each(&[query], TextKind::Query, QUERY_WAIT).whole()?.pop().ok_or_else(nothing)
    }

    fn batch_limit(&self) -> Option<BatchLimit> {
        let texts = usize::try_from(self.provider.batch).unwrap_or(1).max(1);
        Some(BatchLimit { texts, bytes: BATCH_BYTES_MAX })
    }

    fn has_tokens(&self) -> bool {
        false
    }

    fn split_off_queries(&mut self) -> Option<Box<dyn Embedder>> {
        Some(Box::new(self.clone()))
    }
}
