//! Splits a text into words as BERT does (Devlin and others, "BERT", NAACL 2019): characters without a shape are dropped,
//! letters lose their accents and become small, each Chinese character and each mark of punctuation is a word.
//!
//! Which characters these are was fixed when the model was made, in tables of Unicode 9: with newer ones the same text could
//! get another vector.
//!
//! What is not here: the pieces of a word (`word_pieces`).

use std::ops::Range;

use unicode_categories::UnicodeCategories;
use unicode_normalization::char::decompose_canonical;

/// A character of a word, with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordChar {
    pub(super) c: char,
    /// The place in bytes of the character in the text that it was made from.
    pub(super) span: Range<usize>,
}

/// Returns the characters of `text` as the model knows them, with a blank for every separator.
pub(super) fn word_chars(text: &str) -> Vec<WordChar> {
    let mut word_chars = Vec::with_capacity(text.len());
    for (start, c) in text.char_indices().filter(|(_, c)| !is_dropped(*c)) {
        let span = start..start + c.len_utf8();
        let mut push = |c: char| word_chars.push(WordChar { c, span: span.clone() });
        if c.is_whitespace() {
            push(' ');
        } else if is_chinese(c) {
            push(' ');
            without_accents(c, &mut push);
            push(' ');
        } else {
            without_accents(c, &mut push);
        }
    }
    word_chars
}

/// Splits characters into words.
pub(super) fn words(word_chars: &[WordChar]) -> impl Iterator<Item = &[WordChar]> {
    word_chars.split(|word_char| word_char.c.is_whitespace()).flat_map(|part| {
        part.chunk_by(|left, right| !is_punctuation(left.c) && !is_punctuation(right.c))
    })
}

/// Returns the parts of a letter that are no accents, in lower case.
fn without_accents(c: char, push: &mut impl FnMut(char)) {
    decompose_canonical(c, |part| {
        if !part.is_mark_nonspacing() {
            part.to_lowercase().for_each(&mut *push);
        }
    });
}

fn is_dropped(c: char) -> bool {
    let is_blank = matches!(c, '\t' | '\n' | '\r');
    matches!(c, '\0' | '\u{fffd}') || (c.is_other() && !is_blank)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.is_punctuation()
}

fn is_chinese(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            // From 2b820 in other programs; the model was used with this.
            | '\u{2b920}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let word_chars = word_chars(text);
        let word = |word: &[WordChar]| word.iter().map(|word_char| word_char.c).collect();
        words(&word_chars).map(word).collect()
    }

    #[test]
    fn words_are_small_letters_without_accents() {
        assert_eq!(split("Crème  BRÛLÉE\n\u{200b}e\u{301}a"), ["creme", "brulee", "ea"]);
        assert_eq!(split(" \t\u{0} "), [""; 0]);
    }

    #[test]
    fn punctuation_and_chinese_characters_stand_alone() {
        assert_eq!(split("don't—`a+b`"), ["don", "'", "t", "—", "`", "a", "+", "b", "`"]);
        assert_eq!(split("x中文y"), ["x", "中", "文", "y"]);
    }

    #[test]
    fn each_character_has_its_place_in_the_text() {
        let word_chars = word_chars("é中");
        let spans: Vec<Range<usize>> = word_chars.iter().map(|each| each.span.clone()).collect();
        assert_eq!(spans, [0..2, 2..5, 2..5, 2..5]);
    }
}
