//! The signs of a note's tokens. Not here: what they are compared with (`asked`).

use std::collections::HashSet;

use super::Token;
use super::turn::{TURNED, turned};

/// Tokens kept of a note: the rarest. Measured: 32 lose a point of recall at five, 126 win nothing.
pub const NOTE_TOKENS_MAX: usize = 64;
/// Words of 64 signs.
pub const SIGN_WORDS: usize = TURNED / 64;
/// What a piece that was kept before is less worth than at first.
const REPEATED: f32 = 1.0;

/// One token: bit i of word w is set where number 64 w + i is above zero.
pub type Signs = [u64; SIGN_WORDS];

/// One number of each token that a note may have; 0 where it has fewer.
pub(super) type Column<T> = [T; NOTE_TOKENS_MAX];

/// The tokens of a note, at most [`NOTE_TOKENS_MAX`], side by side: that is how they are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSigns {
    len: usize,
    /// The first word of each token, then the second of each, and so on.
    pub(super) columns: [Column<u64>; SIGN_WORDS],
    /// How many signs of each are set.
    pub(super) ones: Column<i32>,
}

/// Of no tokens.
impl Default for NoteSigns {
    fn default() -> Self {
        let columns = [[0; NOTE_TOKENS_MAX]; SIGN_WORDS];
        Self { len: 0, columns, ones: [0; NOTE_TOKENS_MAX] }
    }
}

impl NoteSigns {
    /// The signs of the rarest of `tokens`, repeats last, in the order of the text.
    #[must_use]
    pub fn of(tokens: &[Token]) -> Self {
        let signs = rarest(tokens).into_iter().filter_map(|token| signs_of(&token.state));
        Self::new(signs)
    }

    /// Of signs that were kept; those past the bound are left out.
    #[must_use]
    pub fn new(signs: impl Iterator<Item = Signs>) -> Self {
        let mut note = Self::default();
        for (at, signs) in signs.take(NOTE_TOKENS_MAX).enumerate() {
            let ones: u32 = signs.iter().map(|word| word.count_ones()).sum();
            note.ones.iter_mut().skip(at).take(1).for_each(|place| *place = ones.cast_signed());
            for (column, word) in note.columns.iter_mut().zip(signs) {
                column.iter_mut().skip(at).take(1).for_each(|place| *place = word);
            }
            note.len = at + 1;
        }
        note
    }

    /// The signs of each token.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Signs> {
        let word = |at: usize| move |column: &Column<u64>| column.get(at).copied().unwrap_or(0);
        (0..self.len).map(move |at| self.columns.each_ref().map(word(at)))
    }

    /// How many tokens there are.
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
    ranked.truncate(NOTE_TOKENS_MAX);
    ranked.sort_unstable_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, (token, _))| token).collect()
}

fn signs_of(state: &[f32]) -> Option<Signs> {
    let numbers = turned(state)?;
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
    fn the_rarest_tokens_are_kept_and_repeats_give_way() {
        let mut tokens = tokens_of(&"same ".repeat(NOTE_TOKENS_MAX));
        let others: String = (0..NOTE_TOKENS_MAX - 1).map(|number| format!("w{number} ")).collect();
        tokens.extend(tokens_of(&others));
        let kept = rarest(&tokens);
        let same = tokens[0].piece;
        assert_eq!(kept.len(), NOTE_TOKENS_MAX);
        assert_eq!(pieces(&kept).iter().filter(|piece| **piece == same).count(), 1);
        let mut common =
            tokens_of(&(0..70).map(|number| format!("c{number} ")).collect::<String>());
        common[3].rarity = 0.1;
        assert!(!pieces(&rarest(&common)).contains(&common[3].piece));
        assert_eq!(NoteSigns::of(&common).iter().len(), NOTE_TOKENS_MAX);
        assert!(NoteSigns::of(&[]).is_empty());
    }
}
