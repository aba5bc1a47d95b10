//! Runs a network in ONNX Runtime. Not here: the library (`runtime`), which network (`minilm`).

use std::num::NonZeroUsize;

use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::Tensor;

use super::error::{EmbedError, one_line};
use super::loaded_model::{TokenNetwork, malformed_output};
use super::word_pieces::WordPiece;

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
pub(super) fn open(
    environment: &Environment,
    graph: Graph,
    threads: NonZeroUsize,
) -> Result<OrtNetwork, EmbedError> {
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
        .map(OrtNetwork)
        .map_err(|error| refused(&error))
}

/// A network in ONNX Runtime.
pub(super) struct OrtNetwork(Session);

impl TokenNetwork for OrtNetwork {
    fn states(&mut self, texts: &[Vec<WordPiece>], width: usize) -> Result<Vec<f32>, EmbedError> {
        let inputs = ort::inputs![
            "input_ids" => tensor(texts, width, |piece| i64::from(piece.number))?,
            "attention_mask" => tensor(texts, width, |_| 1)?,
        ];
        let outputs = self.0.run(inputs).map_err(|error| inference_error(&error))?;
        let output = outputs.get(OUTPUT).ok_or_else(malformed_output)?;
        let (_, states) = output.try_extract_tensor().map_err(|error| inference_error(&error))?;
        Ok(states.to_vec())
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

fn inference_error(why: &dyn std::fmt::Display) -> EmbedError {
    EmbedError::Inference { why: one_line(why) }
}
