//! ONNX Runtime in this process: loads the library once, or says why not; and drives a loaded
//! model.
//!
//! What is not here: which model to load (`minilm`, `online`).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fastembed::TextEmbedding;
use ort::environment::Environment;
use ort::logging::LogLevel;

use super::error::one_line;
use super::{EmbedError, Embedder, ModelId};

/// Longest text in tokens; the rest is cut. What the model was trained with.
pub(super) const TOKENS_MAX: usize = 256;
/// Numbers per vector of all-MiniLM-L6-v2.
pub(super) const DIMS: usize = 384;

/// A process can hold one library and one environment; both stay until it ends.
static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

struct Loaded {
    library: PathBuf,
    environment: Environment,
}

/// The environment of `library`, which is loaded now if this process has none yet.
///
/// Without this step ort would look for a library by itself and panic when there is none.
///
/// # Errors
/// [`EmbedError::Runtime`] when the library is missing, damaged or older than 1.24, or when another
/// one is already loaded: a library cannot be taken out of a process again.
pub(super) fn environment(library: &Path) -> Result<Environment, EmbedError> {
    let library =
        library.canonicalize().map_err(|error| EmbedError::unreadable(library, &error))?;
    let mut slot = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = slot.as_ref() {
        return reuse(loaded, &library);
    }
    let failed = |why: &dyn std::fmt::Display| EmbedError::Runtime { why: one_line(why) };
    let builder = ort::init_from(&library).map_err(|error| failed(&error))?;
    let environment = builder.build().map_err(|error| failed(&error))?;
    // Its warnings are about hardware we do not use, and stderr belongs to the person at the
    // terminal.
    environment.set_log_level(LogLevel::Error);
    *slot = Some(Loaded { library, environment: environment.clone() });
    Ok(environment)
}

fn reuse(loaded: &Loaded, library: &Path) -> Result<Environment, EmbedError> {
    if loaded.library == library {
        return Ok(loaded.environment.clone());
    }
    let (old, new) = (loaded.library.display(), library.display());
    Err(EmbedError::Runtime { why: format!("{old} is already loaded, restart to use {new}") })
}

/// A loaded model behind our trait.
pub(super) struct Model {
    pub(super) model_id: ModelId,
    pub(super) text_embedding: TextEmbedding,
    /// How many texts may share one inference.
    pub(super) batch_texts: usize,
}

impl Embedder for Model {
    fn model_id(&self) -> &ModelId {
        &self.model_id
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = self.text_embedding.embed(texts, Some(texts.len().min(self.batch_texts)));
        let vectors = vectors.map_err(|error| EmbedError::Inference { why: one_line(&error) })?;
        let sound = |vector: &Vec<f32>| {
            vector.len() == DIMS && vector.iter().all(|number| number.is_finite())
        };
        if vectors.len() != texts.len() || !vectors.iter().all(sound) {
            return Err(EmbedError::Inference { why: "it returned malformed vectors".to_owned() });
        }
        Ok(vectors)
    }
}
