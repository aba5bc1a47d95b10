//! A deterministic embedder for tests of the code around one. Never compiled into a program:
//! its vectors mean nothing beyond "equal texts are equal".

use std::sync::mpsc::{Receiver, Sender};

use super::embedder::{Embedder, Embedding, ModelId};
use super::error::EmbedError;
use crate::late::test_tokens::tokens_of;

/// Numbers per vector.
pub(super) const DIMS: usize = 4;
/// A text with this in it cannot be embedded.
pub(super) const POISON: &str = "poison";

/// Counts letters. Reports each batch before it works on it, and waits at the gate if there is one.
pub struct TestEmbedder {
    /// The model it claims to be.
    pub model_id: ModelId,
    /// Receives every batch.
    pub batches: Sender<Vec<String>>,
    /// Each batch waits for a message here, where there is a gate.
    pub gate: Option<Receiver<()>>,
}

/// The vector this embedder gives a text.
pub(super) fn vector_of(text: &str) -> Vec<f32> {
    let count = |wanted: u8| text.bytes().filter(|byte| byte % 4 == wanted).count();
    (0_u8..4)
        .map(|wanted| f32::from(u16::try_from(count(wanted)).unwrap_or(u16::MAX)) + 0.25)
        .collect()
}

impl Embedder for TestEmbedder {
    fn model_id(&self) -> &ModelId {
        &self.model_id
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        // A test that is done drops its receiver, which is no failure of the embedder.
        let _ = self.batches.send(texts.iter().map(|text| (*text).to_owned()).collect());
        if let Some(gate) = &self.gate {
            let _ = gate.recv();
        }
        if texts.iter().any(|text| text.contains(POISON)) {
            return Err(EmbedError::Inference { why: "poison".to_owned() });
        }
        Ok(texts
            .iter()
            .map(|text| Embedding { vector: vector_of(text), tokens: tokens_of(text) })
            .collect())
    }
}
