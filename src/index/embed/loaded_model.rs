//! Runs a loaded model: one inference gives the vectors of some texts and those of their tokens.
//!
//! What is not here: which model to load (`minilm`), and the library that computes it (`runtime`).

use std::num::NonZeroUsize;

use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::Tensor;

use super::embedder::{Embedder, Embedding, ModelId};
use super::error::{EmbedError, one_line};
use super::word_pieces::{WordPiece, WordPieces};
use crate::late::Token;

/// Longest text in tokens; the rest is cut. What the model was trained with.
pub(super) const TOKENS_MAX: usize = 256;
/// Numbers per vector of all-MiniLM-L6-v2.
const DIMS: usize = 384;
/// The first token of the vocabulary that is sorted by frequency; before it are marks and characters.
const VOCABULARY_SORTED_FROM: u32 = 1_995;
/// The number of tokens that are sorted by frequency.
const VOCABULARY_SORTED: u32 = 28_528;
/// Added to lengths, so that nothing is divided by zero.
const LENGTH_MIN: f32 = 1e-12;
/// The output of our networks: the last layer.
const OUTPUT: &str = "last_hidden_state";
/// The padding of the shorter texts of a batch. The network leaves it out.
const PADDING: i64 = 0;

/// A network, with its weights in a file of their own.
pub(super) struct Graph {
    pub(super) bytes: &'static [u8],
    /// The name by which [`Self::bytes`] names the weights.
    pub(super) weights_name: &'static str,
    pub(super) weights: Vec<u8>,
}

/// Loads a network.
///
/// # Errors
/// [`EmbedError::Runtime`] when ONNX Runtime refuses it.
pub(super) fn session(
    environment: &Environment,
    graph: Graph,
    threads: NonZeroUsize,
) -> Result<Session, EmbedError> {
    let refused = |why: &dyn std::fmt::Display| EmbedError::Runtime { why: one_line(why) };
    Session::builder(environment)
        .map_err(|error| refused(&error))?
        .with_optimization_level(GraphOptimizationLevel::Level3)
        .map_err(|error| refused(&error))?
        .with_intra_threads(threads.get())
        .map_err(|error| refused(&error))?
        .with_external_initializer_file_in_memory(graph.weights_name, graph.weights.into())
        .map_err(|error| refused(&error))?
        .commit_from_memory(graph.bytes)
        .map_err(|error| refused(&error))
}

/// A loaded model that implements [`Embedder`].
pub(super) struct LoadedModel {
    pub(super) model_id: ModelId,
    pub(super) session: Session,
    pub(super) word_pieces: WordPieces,
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
        let mut embeddings = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch_texts) {
            let pieces = |text: &&str| self.word_pieces.pieces(text, TOKENS_MAX);
            embeddings.extend(self.inference(&batch.iter().map(pieces).collect::<Vec<_>>())?);
        }
        Ok(embeddings)
    }
}

impl LoadedModel {
    /// Returns the embedding of each text of a batch, all in one inference.
    fn inference(&mut self, texts: &[Vec<WordPiece>]) -> Result<Vec<Embedding>, EmbedError> {
        let width = texts.iter().map(Vec::len).max().unwrap_or(0);
        let inputs = ort::inputs![
            "input_ids" => tensor(texts, width, |piece| i64::from(piece.number))?,
            "attention_mask" => tensor(texts, width, |_| 1)?,
        ];
        let outputs = self.session.run(inputs).map_err(|error| inference_error(&error))?;
        let output = outputs.get(OUTPUT).ok_or_else(malformed_output)?;
        let (_, states) = output.try_extract_tensor().map_err(|error| inference_error(&error))?;
        // Texts × tokens × numbers.
        if states.len() != texts.len() * width * DIMS {
            return Err(malformed_output());
        }
        texts.iter().zip(states.chunks_exact(width * DIMS)).map(embedding).collect()
    }
}

/// A row for each text, filled up to `width`.
fn tensor(
    texts: &[Vec<WordPiece>],
    width: usize,
    number: fn(&WordPiece) -> i64,
) -> Result<Tensor<i64>, EmbedError> {
    let mut rows = Vec::with_capacity(texts.len() * width);
    for pieces in texts {
        rows.extend(pieces.iter().map(number));
        rows.resize(rows.len() + width - pieces.len(), PADDING);
    }
    Tensor::from_array(([texts.len(), width], rows)).map_err(|error| inference_error(&error))
}

/// The embedding of a text, from its pieces and the states of each.
fn embedding((pieces, states): (&Vec<WordPiece>, &[f32])) -> Result<Embedding, EmbedError> {
    let with_states = pieces.iter().zip(states.chunks_exact(DIMS));
    let vector = mean(with_states.clone().map(|(_, state)| state));
    if vector.iter().any(|number| !number.is_finite()) {
        return Err(malformed_output());
    }
    let token = |(piece, state): (&WordPiece, &[f32])| {
        let (span, piece, rarity) = (piece.span.clone(), piece.number, rarity(piece.number));
        Token { span, piece, rarity, state: state.to_vec() }
    };
    let tokens = with_states.filter(|(piece, _)| piece.is_word).map(token).collect();
    Ok(Embedding { vector, tokens })
}

/// The mean of the states of a text's pieces, of length one.
fn mean<'a>(states: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
    let (mut sum, mut count) = ([0.0; DIMS], 0.0);
    for state in states {
        sum.iter_mut().zip(state).for_each(|(sum, number)| *sum += number);
        count += 1.0;
    }
    let means = sum.map(|number| number / count);
    let length = means.iter().map(|number| number * number).sum::<f32>().sqrt();
    means.iter().map(|number| number / (length + LENGTH_MIN)).collect()
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

fn inference_error(why: &dyn std::fmt::Display) -> EmbedError {
    EmbedError::Inference { why: one_line(why) }
}

fn malformed_output() -> EmbedError {
    EmbedError::Inference { why: "it returned malformed vectors".to_owned() }
}
