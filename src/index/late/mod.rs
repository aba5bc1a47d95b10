//! Late interaction: each token of a query is compared with the nearest token of a memory, where the vector of a
//! whole text has only their average.
//!
//! The vector of a token is the state of the model's last layer, minus the mean over all tokens ([`mean_vector`]),
//! then rotated by a fixed rotation ([`rotation`]). Of a memory's token the signs of 384 numbers are stored
//! ([`TokenSigns`]), of a query's token four bits of each number ([`QueryToken`]), so that their product is computed
//! in whole numbers. (Khattab and Zaharia, "ColBERT", SIGIR 2020, for the interaction; Gong and others, "Iterative
//! Quantization", CVPR 2011, for the rotation before signs are taken.) benches/runs has the cost and gain of each
//! step.
//!
//! What is not here: the file of signs (`index::embed::cache`), the weights of a query's tokens and the use of the
//! score (`search`).

mod mean_vector;
mod query_token;
mod rotation;
mod serialize;
mod sign_locations;
mod token_signs;

pub use mean_vector::MEAN;
pub use query_token::QueryToken;
pub use sign_locations::{SignLocation, SignLocations, SignState, SignStore};
pub use token_signs::{SIGN_WORDS, Signs, TOKENS_KEPT_MAX, TokenSigns};

use std::ops::Range;

/// A token of a text with its vector. Special tokens and punctuation are skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Its position in the text, in bytes.
    pub span: Range<usize>,
    /// Its number in the model's vocabulary.
    pub piece: u32,
    /// Its general rarity, from 0 for the most common to 1.
    pub rarity: f32,
    /// Its state in the last layer.
    pub state: Vec<f32>,
}

#[cfg(any(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "only tests use it, those of other crates too")]
pub mod test_tokens {
    //! Tokens for tests: equal words have equal states at every position.

    use super::Token;
    use super::rotation::ROTATED_DIMS;

    /// A token for each word of `text`.
    #[must_use]
    pub fn tokens_of(text: &str) -> Vec<Token> {
        let start = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let token = |word: &str| Token {
            span: start(word)..start(word) + word.len(),
            piece: piece_of(word),
            rarity: 0.5,
            state: state_of(word),
        };
        text.split_whitespace().map(token).collect()
    }

    fn piece_of(word: &str) -> u32 {
        word.bytes().fold(7, |sum: u32, byte| sum.rotate_left(5) ^ u32::from(byte))
    }

    fn state_of(word: &str) -> Vec<f32> {
        let mut state = u64::from(piece_of(word)) << 20 | 1;
        let number = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f32::from(u8::try_from(state >> 56).unwrap()) / 128.0 - 1.0
        };
        (0..ROTATED_DIMS).map(number).collect()
    }
}
