//! The network of all-MiniLM-L6-v2 in Rust alone, from the weights as they were published: for systems without ONNX Runtime, which
//! static programs cannot load. It takes 1.5 to 2 times as long, and its vectors are the same within some 1e-6.
//!
//! What is not here: the texts in pieces and the vector of a text (`loaded_model`), loops that a processor has instructions for
//! (`plain_math`).

use std::sync::Arc;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis, Slice, concatenate};
use serde_json::Value;

use super::error::EmbedError;
use super::loaded_model::{DIMS, TokenNetwork};
use super::plain_math::{gelu_all, normalise_rows, softmax_rows};
use super::word_pieces::WordPiece;

/// The shape of the network.
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD_DIMS: usize = DIMS / HEADS;
/// One divided by the root of [`HEAD_DIMS`].
const HEAD_SCALE: f32 = 0.176_776_7;
/// Numbers between the two halves of a layer.
const WIDE: usize = 1_536;

/// A linear map: its weights, turned so that a row of input takes a row of weights, and its bias.
struct Linear {
    weight: Array2<f32>,
    bias: Vec<f32>,
}

/// The weights and the bias of a normalisation.
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

struct Layer {
    query_key_value: Linear,
    output: Linear,
    output_norm: Norm,
    wide: Linear,
    narrow: Linear,
    narrow_norm: Norm,
}

/// The network, with its weights.
pub(super) struct PlainNetwork {
    words: Array2<f32>,
    positions: Array2<f32>,
    /// What is added to every piece: there is one kind of text.
    kind: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// The published file: its table of tensors, and their bytes.
struct Weights<'a> {
    table: Value,
    bytes: &'a [u8],
}

impl Weights<'_> {
    fn numbers(&self, name: &str) -> Option<Vec<f32>> {
        let place = self.table.get(name)?.get("data_offsets")?;
        let offset = |side: usize| usize::try_from(place.get(side)?.as_u64()?).ok();
        let bytes = self.bytes.get(offset(0)?..offset(1)?)?;
        let numbers = bytes.chunks_exact(4).filter_map(|four| four.try_into().ok());
        Some(numbers.map(f32::from_le_bytes).collect())
    }

    fn matrix(&self, name: &str, columns: usize) -> Option<Array2<f32>> {
        let numbers = self.numbers(name)?;
        Array2::from_shape_vec((numbers.len() / columns, columns), numbers).ok()
    }

    fn linear(&self, name: &str, inputs: usize) -> Option<Linear> {
        let weight = self.matrix(&format!("{name}.weight"), inputs)?;
        let weight = weight.t().as_standard_layout().into_owned();
        Some(Linear { weight, bias: self.numbers(&format!("{name}.bias"))? })
    }

    fn norm(&self, name: &str) -> Option<Norm> {
        let numbers = |part: &str| self.numbers(&format!("{name}.{part}"));
        Some(Norm { weight: numbers("weight")?, bias: numbers("bias")? })
    }

    fn layer(&self, number: usize) -> Option<Layer> {
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        let attention = |part: &str| self.linear(&name(&format!("attention.self.{part}")), DIMS);
        let [query, key, value] = [attention("query")?, attention("key")?, attention("value")?];
        let weights = [query.weight.view(), key.weight.view(), value.weight.view()];
        let weight = concatenate(Axis(1), &weights).ok()?;
        Some(Layer {
            query_key_value: Linear { weight, bias: [query.bias, key.bias, value.bias].concat() },
            output: self.linear(&name("attention.output.dense"), DIMS)?,
            output_norm: self.norm(&name("attention.output.LayerNorm"))?,
            wide: self.linear(&name("intermediate.dense"), DIMS)?,
            narrow: self.linear(&name("output.dense"), WIDE)?,
            narrow_norm: self.norm(&name("output.LayerNorm"))?,
        })
    }
}

impl PlainNetwork {
    /// Reads the published weights. `None` if they are not those of this network.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let table_bytes = usize::try_from(u64::from_le_bytes(*file.first_chunk()?)).ok()?;
        let (table, bytes) = file.get(8..)?.split_at_checked(table_bytes)?;
        let weights = Weights { table: serde_json::from_slice(table).ok()?, bytes };
        Some(Self {
            words: weights.matrix("embeddings.word_embeddings.weight", DIMS)?,
            positions: weights.matrix("embeddings.position_embeddings.weight", DIMS)?,
            kind: weights.matrix("embeddings.token_type_embeddings.weight", DIMS)?.row(0).to_vec(),
            norm: weights.norm("embeddings.LayerNorm")?,
            layers: (0..LAYERS).map(|number| weights.layer(number)).collect::<Option<_>>()?,
        })
    }

    fn states_of(&self, pieces: &[WordPiece]) -> Array2<f32> {
        let mut states = Array2::zeros((pieces.len(), DIMS));
        for (at, (mut row, piece)) in states.rows_mut().into_iter().zip(pieces).enumerate() {
            let word = usize::try_from(piece.number).unwrap_or_default();
            let parts = self.words.row(word).into_iter().zip(self.positions.row(at));
            for ((state, (word, position)), kind) in row.iter_mut().zip(parts).zip(&self.kind) {
                *state = word + position + kind;
            }
        }
        self.norm.apply(&mut states);
        self.layers.iter().fold(states, |states, layer| layer.apply(&states))
    }
}

impl TokenNetwork for Arc<PlainNetwork> {
    fn states(&mut self, texts: &[Vec<WordPiece>], width: usize) -> Result<Vec<f32>, EmbedError> {
        let mut all = Vec::with_capacity(texts.len() * width * DIMS);
        // One text after another: nothing is computed for padding.
        for pieces in texts {
            let states = self.states_of(pieces);
            all.extend(states.iter());
            all.resize(all.len() + (width - pieces.len()) * DIMS, 0.0);
        }
        Ok(all)
    }
}

impl Linear {
    fn apply(&self, input: &Array2<f32>) -> Array2<f32> {
        let mut output = Array2::zeros((input.nrows(), self.bias.len()));
        for mut row in output.rows_mut() {
            row.iter_mut().zip(&self.bias).for_each(|(number, bias)| *number = *bias);
        }
        general_mat_mul(1.0, input, &self.weight, 1.0, &mut output);
        output
    }
}

impl Norm {
    fn apply(&self, states: &mut Array2<f32>) {
        if let Some(states) = states.as_slice_mut() {
            normalise_rows(states, &self.weight, &self.bias);
        }
    }
}

impl Layer {
    fn apply(&self, input: &Array2<f32>) -> Array2<f32> {
        let mut attended = self.output.apply(&self.attention(input));
        attended += input;
        self.output_norm.apply(&mut attended);
        let mut wide = self.wide.apply(&attended);
        if let Some(numbers) = wide.as_slice_mut() {
            gelu_all(numbers);
        }
        let mut states = self.narrow.apply(&wide);
        states += &attended;
        self.narrow_norm.apply(&mut states);
        states
    }

    fn attention(&self, input: &Array2<f32>) -> Array2<f32> {
        let count = input.nrows();
        let parts = self.query_key_value.apply(input);
        let mut context = Array2::zeros((count, DIMS));
        let mut scores = Array2::zeros((count, count));
        for first in (0..DIMS).step_by(HEAD_DIMS) {
            let columns = |from: usize| Slice::from(from..from + HEAD_DIMS);
            let part = |at: usize| parts.slice_axis(Axis(1), columns(at + first));
            let (query, key, value) = (part(0), part(DIMS), part(2 * DIMS));
            general_mat_mul(HEAD_SCALE, &query, &key.t(), 0.0, &mut scores);
            if let Some(scores) = scores.as_slice_mut() {
                softmax_rows(scores, count);
            }
            let mut mixed = context.slice_axis_mut(Axis(1), columns(first));
            general_mat_mul(1.0, &scores, &value, 0.0, &mut mixed);
        }
        context
    }
}
