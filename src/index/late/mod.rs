//! Late interaction: every token of a query looks for the token of a note that is nearest to it in its
//! context, where one vector for all of a text has only their average.
//!
//! A token is what the model's last layer says of it, less what it says of all tokens ([`mean`]), turned in
//! space by a fixed rotation ([`turn`]). Of a note's token the signs of 384 numbers are kept ([`NoteSigns`]),
//! of a query's token four bits of each ([`AskedToken`]), so that their product is counted in whole numbers.
//! (Khattab and Zaharia, "ColBERT", SIGIR 2020, for the interaction; Gong and others, "Iterative
//! Quantization", CVPR 2011, for turning before signs are taken.) benches/runs has what each step costs and
//! brings.
//!
//! What is not here: where signs lie on disk (`index::embed::cache`), what a token of a query weighs and what
//! becomes of the nearness (`search`).

mod asked;
mod mean;
mod note;
mod places;
mod saved;
mod turn;

pub use asked::AskedToken;
pub use mean::MEAN;
pub use note::{NOTE_TOKENS_MAX, NoteSigns, SIGN_WORDS, Signs};
pub use places::{Place, Places, Shelf, Signed};

use std::ops::Range;

/// A token of a text, as the model left it. Those that only mark a text or are nothing but punctuation are none.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Where it stands in its text, in bytes.
    pub span: Range<usize>,
    /// Its number in the model's vocabulary.
    pub piece: u32,
    /// How rare it is in general, from 0 for the most common to 1.
    pub rarity: f32,
    /// What the last layer says of it.
    pub state: Vec<f32>,
}

#[cfg(any(test, feature = "testing"))]
#[expect(clippy::unwrap_used, reason = "only tests use it, those of other crates too")]
pub mod test_tokens {
    //! Tokens for tests: equal pieces have equal states, whatever their place.

    use super::Token;
    use super::turn::TURNED;

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
        (0..TURNED).map(number).collect()
    }
}
