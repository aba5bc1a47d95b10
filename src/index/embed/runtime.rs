//! ONNX Runtime in this process: loads the library once, or says why not, and runs a loaded model, which gives the
//! vector of a text and those of its tokens in one inference.
//!
//! What is not here: which model to load (`minilm`, `online`).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fastembed::{OutputKey, Pooling, SingleBatchOutput, TextEmbedding};
use ort::environment::Environment;
use ort::logging::LogLevel;

use super::embedder::{Embedder, Embedding, ModelId};
use super::error::EmbedError;
use super::error::one_line;
use super::model::pins;
use crate::late::Token;

/// Longest text in tokens; the rest is cut. What the model was trained with.
pub(super) const TOKENS_MAX: usize = 256;
/// Numbers per vector of all-MiniLM-L6-v2.
pub(super) const DIMS: usize = 384;
/// The first token of the vocabulary that is sorted by frequency; before it are marks and characters.
const VOCABULARY_SORTED_FROM: u32 = 1_995;
/// The number of tokens that are sorted by frequency.
const VOCABULARY_SORTED: u32 = 28_528;
/// Added to lengths, as fastembed does, so that nothing is divided by zero.
const LENGTH_MIN: f32 = 1e-12;
/// The outputs of a network that are used, in fastembed's order. Ours has one; fetched ones may have more.
const OUTPUTS: &[OutputKey] = &[
    OutputKey::OnlyOne,
    OutputKey::ByName("text_embeds"),
    OutputKey::ByName("last_hidden_state"),
    OutputKey::ByName("sentence_embedding"),
];

/// Libraries from 1.29 on send telemetry over the network unless this environment variable is set.
const SWITCH: &str = "ORT_DISABLE_TELEMETRY";

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
/// [`EmbedError::Runtime`] when the library is missing, damaged or older than 1.24, when another one is already
/// loaded, since a library cannot be taken out of a process again, or when it would report how it is used.
pub(super) fn environment(library: &Path) -> Result<Environment, EmbedError> {
    let library =
        library.canonicalize().map_err(|error| EmbedError::unreadable(library, &error))?;
    let mut slot = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = slot.as_ref() {
        return reuse(loaded, &library);
    }
    let failed = |why: &dyn std::fmt::Display| EmbedError::Runtime { why: one_line(why) };
    if std::env::var_os(SWITCH).is_none_or(|value| value.is_empty()) && may_report(&library)? {
        let library = library.display();
        return Err(failed(&format!("{library} sends telemetry unless {SWITCH}=1 is set")));
    }
    let builder = ort::init_from(&library).map_err(|error| failed(&error))?;
    let environment = builder.with_telemetry(false).build().map_err(|error| failed(&error))?;
    // Its warnings are about hardware we do not use, and stderr belongs to the person at the
    // terminal.
    environment.set_log_level(LogLevel::Error);
    *slot = Some(Loaded { library, environment: environment.clone() });
    Ok(environment)
}

/// Whether a library contains the name of the switch, and so sends telemetry. The pinned library does not.
fn may_report(library: &Path) -> Result<bool, EmbedError> {
    let pin = pins::runtime_pin();
    if pin.is_some_and(|pin| library.file_name().is_some_and(|name| name == pin.name)) {
        return Ok(false);
    }
    let bytes = std::fs::read(library).map_err(|error| EmbedError::unreadable(library, &error))?;
    Ok(bytes.windows(SWITCH.len()).any(|part| part == SWITCH.as_bytes()))
}

fn reuse(loaded: &Loaded, library: &Path) -> Result<Environment, EmbedError> {
    if loaded.library == library {
        return Ok(loaded.environment.clone());
    }
    let (old, new) = (loaded.library.display(), library.display());
    Err(EmbedError::Runtime { why: format!("{old} is already loaded, restart to use {new}") })
}

/// A loaded model that implements [`Embedder`].
pub(super) struct LoadedModel {
    pub(super) model_id: ModelId,
    pub(super) text_embedding: TextEmbedding,
    /// How many texts may share one inference.
    pub(super) batch_texts: usize,
}

impl Embedder for LoadedModel {
    fn model_id(&self) -> &ModelId {
        &self.model_id
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let batch_texts = texts.len().min(self.batch_texts);
        let output = self.text_embedding.transform(texts, Some(batch_texts));
        let batches = output.map_err(|error| failed(&error))?.into_raw();
        let mut embeddings = Vec::with_capacity(texts.len());
        for (batch, texts) in batches.iter().zip(texts.chunks(batch_texts)) {
            embeddings.extend(self.embeddings(batch, texts)?);
        }
        let is_sound = |embedding: &Embedding| {
            let Embedding { vector, .. } = embedding;
            vector.len() == DIMS && vector.iter().all(|number| number.is_finite())
        };
        if embeddings.len() != texts.len() || !embeddings.iter().all(is_sound) {
            return Err(EmbedError::Inference { why: "it returned malformed vectors".to_owned() });
        }
        Ok(embeddings)
    }
}

impl LoadedModel {
    /// Reads the embeddings of `texts` from one inference.
    fn embeddings(
        &self,
        batch: &SingleBatchOutput,
        texts: &[&str],
    ) -> Result<Vec<Embedding>, EmbedError> {
        let vectors = pooled(batch).map_err(|error| failed(&error))?;
        let states = batch.select_output(&OUTPUTS).map_err(|error| failed(&error))?;
        // Texts × tokens × numbers; one that gives only vectors has another shape.
        let width = if states.shape().len() == 3 { states.shape().get(1).copied() } else { None };
        let row = width.unwrap_or(0) * DIMS;
        let of_text = |at: usize| states.as_slice()?.get(at * row..(at + 1) * row);
        let embedding = |((at, text), vector): ((usize, &&str), Vec<f32>)| {
            let tokens = self.tokens(text, of_text(at).unwrap_or_default())?;
            Ok(Embedding { vector, tokens })
        };
        texts.iter().enumerate().zip(vectors).map(embedding).collect()
    }

    /// Returns the tokens of a text with their vectors. The inference does not return the tokens, so the text is
    /// tokenized again.
    fn tokens(&self, text: &str, states: &[f32]) -> Result<Vec<Token>, EmbedError> {
        let encoding = self.text_embedding.tokenizer.encode(text, true);
        let encoding = encoding.map_err(|error| failed(&error))?;
        let (ids, spans) = (encoding.get_ids(), encoding.get_offsets());
        let (names, marks) = (encoding.get_tokens(), encoding.get_special_tokens_mask());
        let token = |(at, state): (usize, &[f32])| {
            let (piece, (start, end)) = (*ids.get(at)?, *spans.get(at)?);
            let is_mark = *marks.get(at)? != 0 || !is_word(names.get(at)?);
            let (span, rarity) = (start..end, rarity(piece));
            (!is_mark).then(|| Token { span, piece, rarity, state: state.to_vec() })
        };
        Ok(states.chunks_exact(DIMS).enumerate().filter_map(token).collect())
    }
}

/// Returns the mean over the tokens of each text, of length one. It equals the result of fastembed's own `embed` bit
/// by bit, which a test compares; this way the tokens are available too.
fn pooled(batch: &SingleBatchOutput) -> Result<Vec<Vec<f32>>, fastembed::Error> {
    let means = batch.select_and_pool_output(&OUTPUTS, Some(Pooling::Mean))?;
    let unit = |row: Vec<f32>| {
        let length = row.iter().map(|number| number * number).sum::<f32>().sqrt();
        row.iter().map(|number| number / (length + LENGTH_MIN)).collect()
    };
    Ok(means.outer_iter().map(|row| unit(row.to_vec())).collect())
}

/// Tells whether a token is more than punctuation.
fn is_word(piece: &str) -> bool {
    piece.chars().any(char::is_alphanumeric)
}

/// Returns the general rarity of a token, 0 to 1. The vocabulary of MiniLM, which is BERT's, is sorted by frequency
/// except for its beginning, and frequencies fall with the rank by Zipf's law.
fn rarity(piece: u32) -> f32 {
    let rank = piece.saturating_sub(VOCABULARY_SORTED_FROM).max(1);
    // Fewer than two to the 24th pieces, which an f32 holds exactly.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let share = (1.0 + rank as f32).ln() / (VOCABULARY_SORTED as f32).ln();
    share
}

fn failed(why: &dyn std::fmt::Display) -> EmbedError {
    EmbedError::Inference { why: one_line(why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-RANK-9
    #[test]
    fn a_library_that_would_report_its_use_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libonnxruntime.so.9.9.9");
        std::fs::write(&library, [b"\x7fELF".as_slice(), SWITCH.as_bytes()].concat()).unwrap();
        assert_eq!(may_report(&library), Ok(true));
        std::fs::write(&library, b"\x7fELF").unwrap();
        assert_eq!(may_report(&library), Ok(false));
    }
}
