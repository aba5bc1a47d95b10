//! What makes vectors from texts: the trait, what it gives, and the names by which vectors are told apart. Not here: the models.

use sha2::{Digest, Sha256};

use super::error::EmbedError;
use crate::late::Token;

/// Name and content hash of a model. Vectors of models with different hashes must never be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelId {
    name: String,
    hash: [u8; 32],
}

impl ModelId {
    /// `hash` must cover everything that changes a vector: weights, graph, tokenizer, longest text.
    #[must_use]
    pub fn new(name: impl Into<String>, hash: [u8; 32]) -> Self {
        Self { name: name.into(), hash }
    }

    /// The name people read, for example in `status`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 over everything that changes a vector.
    #[must_use]
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }
}

/// Tells vectors that can be compared from all others. Vectors of two spaces must never be compared, even where they are of
/// one width. Known before a model is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpaceId(u64);

impl SpaceId {
    /// `name` must cover everything that changes a vector.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let digest = Sha256::digest(name);
        Self(digest.first_chunk().map_or(0, |start| u64::from_le_bytes(*start)))
    }
}

/// How many texts an embedder takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimit {
    /// Most texts.
    pub texts: usize,
    /// Most bytes: the number of texts times the longest of them.
    pub bytes: usize,
}

/// The output of the model for one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Of length one.
    pub vector: Vec<f32>,
    /// Its tokens with their vectors; empty where the model gives none.
    pub tokens: Vec<Token>,
}

/// The output for texts that were embedded as far as possible.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddingOutcomes {
    /// Of each text, in order: its embedding, or why it has none. Shorter than the texts where there was trouble.
    pub outcomes: Vec<Result<Embedding, EmbedError>>,
    /// Why the remaining texts were not embedded now, and may be later.
    pub trouble: Option<EmbedError>,
}

impl EmbeddingOutcomes {
    /// Returns all embeddings.
    ///
    /// # Errors
    /// What happened first where one is missing.
    pub fn whole(self) -> Result<Vec<Embedding>, EmbedError> {
        let all: Vec<Embedding> = self.outcomes.into_iter().collect::<Result<_, _>>()?;
        self.trouble.map_or(Ok(all), Err)
    }
}

/// Makes vectors from texts. Blocking; owned by one thread at a time.
pub trait Embedder: Send {
    /// The model these vectors belong to.
    fn model_id(&self) -> &ModelId;

    /// What `status` says of the model: its name, and what is wrong with it.
    fn description(&self) -> String {
        self.model_id().name().to_owned()
    }

    /// Numbers per vector.
    fn dims(&self) -> usize;

    /// Embeds each text, in order. An embedding does not depend on the other texts.
    ///
    /// # Errors
    /// [`EmbedError::Inference`] when the model could not run; then there is no embedding for any of
    /// `texts`.
    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError>;

    /// Embeds texts as far as possible: each alone where together they fail, so that one text does not fail the others.
    fn embed_each(&mut self, texts: &[&str]) -> EmbeddingOutcomes {
        match self.embed(texts) {
            Ok(all) => {
                return EmbeddingOutcomes {
                    outcomes: all.into_iter().map(Ok).collect(),
                    trouble: None,
                };
            }
            Err(passing) if passing.is_passing() => {
                return EmbeddingOutcomes { outcomes: Vec::new(), trouble: Some(passing) };
            }
            Err(error) if texts.len() == 1 => {
                return EmbeddingOutcomes { outcomes: vec![Err(error)], trouble: None };
            }
            Err(_) => {}
        }
        let mut each = EmbeddingOutcomes::default();
        for text in texts {
            match self.embed(&[text]) {
                Err(passing) if passing.is_passing() => {
                    each.trouble = Some(passing);
                    return each;
                }
                alone => each.outcomes.push(alone.and_then(first_of)),
            }
        }
        each
    }

    /// Embeds a query that somebody waits for. A provider may compute it less exactly than a text, as long as the two
    /// can be compared.
    ///
    /// # Errors
    /// [`EmbedError::Inference`] when the model could not run.
    fn embed_query(&mut self, query: &str) -> Result<Embedding, EmbedError> {
        first_of(self.embed(&[query])?)
    }

    /// How many texts it takes at once; `None` for what is best on this machine.
    fn batch_limit(&self) -> Option<BatchLimit> {
        None
    }

    /// Whether it gives the vectors of tokens too.
    fn has_tokens(&self) -> bool {
        true
    }

    /// Gives away the network that only embeds queries, so that they can be embedded while texts are; `None` where
    /// there is none.
    fn split_off_queries(&mut self) -> Option<Box<dyn Embedder>> {
        None
    }
}

fn first_of(mut embeddings: Vec<Embedding>) -> Result<Embedding, EmbedError> {
    let nothing = || EmbedError::Inference { why: "it returned no vector".to_owned() };
    embeddings.pop().ok_or_else(nothing)
}
