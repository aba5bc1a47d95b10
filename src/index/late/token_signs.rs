//! The signs of a memory's tokens. Not here: the tokens of a query (`query_token`).

use std::collections::HashSet;

use super::Token;
use super::rotation::{ROTATED_DIMS, rotated};

/// Tokens that are stored of a memory: the rarest. Measured: 32 lose a point of recall at five, 126 gain nothing.
pub const TOKENS_KEPT_MAX: usize = 64;
/// Words of 64 signs.
pub const SIGN_WORDS: usize = ROTATED_DIMS / 64;
/// How much rarity a repeated token loses.
const REPEATED: f32 = 1.0;

/// One token: bit i of word w is set where number 64 w + i is above zero.
pub type Signs = [u64; SIGN_WORDS];

/// One number of each token; 0 beyond the last token.
pub(super) type Column<T> = [T; TOKENS_KEPT_MAX];

/// The signs of at most [`TOKENS_KEPT_MAX`] tokens, column by column, as they are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSigns {
    len: usize,
    /// The first word of each token, then the second of each, and so on.
    pub(super) columns: [Column<u64>; SIGN_WORDS],
    /// How many signs of each are set.
    pub(super) ones: Column<i32>,
}

/// No tokens.
impl Default for TokenSigns {
    fn default() -> Self {
        let columns = [[0; TOKENS_KEPT_MAX]; SIGN_WORDS];
        Self { len: 0, columns, ones: [0; TOKENS_KEPT_MAX] }
    }
}

impl TokenSigns {
    /// Takes the signs of the rarest of `tokens`, in the order of the text. Repeated tokens count less.
    #[must_use]
    pub fn from_tokens(tokens: &[Token]) -> Self {
        let signs = rarest(tokens).into_iter().filter_map(|token| signs_of(&token.state));
        Self::new(signs)
    }

    /// Takes signs that were stored; those past the bound are dropped.
    #[must_use]
    pub fn new(signs: impl Iterator<Item = Signs>) -> Self {
        let mut note = Self::default();
        for (at, signs) in signs.take(TOKENS_KEPT_MAX).enumerate() {
            let ones: u32 = signs.iter().map(|word| word.count_ones()).sum();
            note.ones.iter_mut().skip(at).take(1).for_each(|place| *place = ones.cast_signed());
            for (column, word) in note.columns.iter_mut().zip(signs) {
                column.iter_mut().skip(at).take(1).for_each(|place| *place = word);
            }
            note.len = at + 1;
        }
        note
    }

    /// Returns the signs of each token.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Signs> {
        let word = |at: usize| move |column: &Column<u64>| column.get(at).copied().unwrap_or(0);
        (0..self.len).map(move |at| self.columns.each_ref().map(word(at)))
    }

    /// Returns the number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

fn rarest(tokens: &[Token]) -> Vec<&Token> {
    let mut seen = HashSet::new();
    let worth = |token: &Token| {
        let is_new = seen.insert(token.piece);
        token.rarity - if is_new { 0.0 } else { REPEATED }
    };
    let worths: Vec<f32> = tokens.iter().map(worth).collect();
    let mut ranked: Vec<(usize, (&Token, f32))> = tokens.iter().zip(worths).enumerate().collect();
    ranked.sort_by(|(_, (_, a)), (_, (_, b))| b.total_cmp(a));
    ranked.truncate(TOKENS_KEPT_MAX);
    ranked.sort_unstable_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, (token, _))| token).collect()
}

fn signs_of(state: &[f32]) -> Option<Signs> {
    let numbers = rotated(state)?;
    let mut signs = [0; SIGN_WORDS];
    for (word, numbers) in signs.iter_mut().zip(numbers.chunks(64)) {
        *word = numbers.iter().rev().fold(0, |word, number| word << 1 | u64::from(*number > 0.0));
    }
    Some(signs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::late::test_tokens::tokens_of;

    fn pieces(tokens: &[&Token]) -> Vec<u32> {
        tokens.iter().map(|token| token.piece).collect()
    }

    #[test]
    fn the_rarest_tokens_are_kept_and_repeats_come_last() {
        let mut tokens = tokens_of(&"same ".repeat(TOKENS_KEPT_MAX));
        let others: String = (0..TOKENS_KEPT_MAX - 1).map(|number| format!("w{number} ")).collect();
        tokens.extend(tokens_of(&others));
        let kept = rarest(&tokens);
        let same = tokens[0].piece;
        assert_eq!(kept.len(), TOKENS_KEPT_MAX);
        assert_eq!(pieces(&kept).iter().filter(|piece| **piece == same).count(), 1);
        let mut common =
            tokens_of(&(0..70).map(|number| format!("c{number} ")).collect::<String>());
        common[3].rarity = 0.1;
        assert!(!pieces(&rarest(&common)).contains(&common[3].piece));
        assert_eq!(TokenSigns::from_tokens(&common).iter().len(), TOKENS_KEPT_MAX);
        assert!(TokenSigns::from_tokens(&[]).is_empty());
    }
}
