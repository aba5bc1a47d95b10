//! A loaded model: one inference gives the vectors of some texts and those of their tokens.
//!
//! What is not here: which model to load (`minilm`), and what computes it (`ort_network`, `plain_network`).

use super::embedder::{Embedder, Embedding, ModelId};
use super::error::EmbedError;
use super::word_pieces::{WordPiece, WordPieces};
use crate::late::Token;

/// Longest text in tokens; the rest is cut. What the model was trained with.
pub(super) const TOKENS_MAX: usize = 256;
/// Numbers per vector of all-MiniLM-L6-v2.
pub(super) const DIMS: usize = 384;
/// The first token of the vocabulary that is sorted by frequency; before it are marks and characters.
const VOCABULARY_SORTED_FROM: u32 = 1_995;
/// The number of tokens that are sorted by frequency.
const VOCABULARY_SORTED: u32 = 28_528;
/// Added to lengths, so that nothing is divided by zero.
const LENGTH_MIN: f32 = 1e-12;

/// What computes a model.
pub(super) trait TokenNetwork: Send {
    /// Returns the states of the pieces of each text, filled up to `width` pieces: texts × width × [`DIMS`] numbers.
    ///
    /// # Errors
    /// [`EmbedError::Inference`].
    fn states(&mut self, texts: &[Vec<WordPiece>], width: usize) -> Result<Vec<f32>, EmbedError>;
}

/// A loaded model that implements [`Embedder`].
pub(super) struct LoadedModel {
    pub(super) model_id: ModelId,
    pub(super) network: Box<dyn TokenNetwork>,
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
        let states = self.network.states(texts, width)?;
        if states.len() != texts.len() * width * DIMS {
            return Err(malformed_output());
        }
        texts.iter().zip(states.chunks_exact(width * DIMS)).map(embedding).collect()
    }
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

pub(super) fn malformed_output() -> EmbedError {
    EmbedError::Inference { why: "it returned malformed vectors".to_owned() }
}
