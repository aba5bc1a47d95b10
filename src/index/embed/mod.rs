//! Turns text into vectors, one for the whole text and one for each token: one small trait, one file per provider, a
//! cache on disk, a worker thread.
//!
//! Reading order: this file, [`model`] (the files on disk and how they get there), `minilm` (the
//! local provider, with `questions`), `online` (fastembed downloads the weights itself), [`cache`], [`worker`].
//!
//! A provider that a build leaves out has a twin with the same functions that says so; the choice
//! is made in this file and nowhere else. fastembed and ort are named in the two providers and in
//! `runtime` only.
//!
//! What is not here: searching vectors (`index::vector`), and any stand-in for a missing model.
//! Without one there are no vectors, and search says that it runs on words alone.

pub mod cache;
mod error;
pub mod model;
pub mod worker;

#[cfg(not(target_env = "musl"))]
mod minilm;
#[cfg(target_env = "musl")]
#[path = "minilm_disabled.rs"]
mod minilm;

#[cfg(feature = "online")]
mod online;
#[cfg(not(feature = "online"))]
#[path = "online_disabled.rs"]
mod online;

#[cfg(not(target_env = "musl"))]
mod query_network;

#[cfg(not(target_env = "musl"))]
mod runtime;

#[cfg(any(test, feature = "testing"))]
pub mod test_embedder;

pub use error::EmbedError;

use std::num::NonZeroUsize;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::late::Token;
use store::EmbeddingPrecision as Precision;

/// Which provider makes the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Everything from the model directory, computed as the setting says; touches no network.
    Local(Precision),
    /// fastembed downloads the weights on first use; the runtime library still comes from the model
    /// directory.
    Online,
}

/// Whether this build can run a model on this machine. A static program cannot load ONNX Runtime: it finds memories by words alone.
pub const RUNS_MODEL: bool = cfg!(not(target_env = "musl"));

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
    pub fn of(name: &str) -> Self {
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
pub struct EmbeddedEach {
    /// Of each text, in order: its embedding, or why it has none. Shorter than the texts where there was trouble.
    pub outcomes: Vec<Result<Embedding, EmbedError>>,
    /// Why the remaining texts were not embedded now, and may be later.
    pub trouble: Option<EmbedError>,
}

impl EmbeddedEach {
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
    fn embed_each(&mut self, texts: &[&str]) -> EmbeddedEach {
        match self.embed(texts) {
            Ok(all) => {
                return EmbeddedEach { outcomes: all.into_iter().map(Ok).collect(), trouble: None };
            }
            Err(passing) if passing.is_passing() => {
                return EmbeddedEach { outcomes: Vec::new(), trouble: Some(passing) };
            }
            Err(error) if texts.len() == 1 => {
                return EmbeddedEach { outcomes: vec![Err(error)], trouble: None };
            }
            Err(_) => {}
        }
        let mut each = EmbeddedEach::default();
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

/// Checks the model files and loads the model: 0.3 to 1 s, so call it off the thread that answers
/// people.
///
/// `threads` is for one inference. One is right for a program in the background: a second thread
/// was measured to gain little on an idle machine and to lose a lot on a busy one.
///
/// # Errors
/// Missing or altered files, a runtime library that does not load, or a build without the provider.
/// Never panics for want of a library.
pub fn load(
    provider: Provider,
    model_dir: &Path,
    threads: NonZeroUsize,
) -> Result<Box<dyn Embedder>, EmbedError> {
    match provider {
        Provider::Local(precision) => minilm::load(model_dir, precision, threads),
        Provider::Online => online::load(model_dir, threads),
    }
}
