//! Cuts a text into pieces of the model's vocabulary: of each word the longest piece that it begins with, then the longest
//! that goes on, and so on (Wu and others, "Google's neural machine translation system", 2016).
//!
//! The pieces are those that the crate `tokenizers` 0.23 gives, of which tests/fixtures/embedding holds some: caches keep
//! vectors by the name of the model, so with other pieces two kinds of vectors would be compared.
//!
//! What is not here: where a word ends (`bert_words`).

use std::collections::HashMap;
use std::ops::Range;

use super::bert_words::{WordChar, word_chars, words};

/// The piece before each text.
const START_PIECE: u32 = 101;
/// The piece after each text.
const END_PIECE: u32 = 102;
/// The piece for a word that the vocabulary cannot spell.
const UNKNOWN_PIECE: u32 = 100;
/// The beginning of a piece that continues a word, in the vocabulary.
const CONTINUATION: &str = "##";
/// A longer word is unknown.
const WORD_CHARS_MAX: usize = 100;
/// Names that are a piece even within a text.
const SPECIAL_PIECES: [(&str, u32); 5] = [
    ("[pad]", 0),
    ("[unk]", UNKNOWN_PIECE),
    ("[cls]", START_PIECE),
    ("[sep]", END_PIECE),
    ("[mask]", 103),
];

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordPiece {
    /// Its number in the vocabulary.
    pub(super) number: u32,
    /// Its position in the text, in bytes.
    pub(super) span: Range<usize>,
    /// Whether it is neither punctuation nor the mark of the start or the end of a text.
    pub(super) is_word: bool,
}

impl WordPiece {
    fn mark(number: u32) -> Self {
        Self { number, span: 0..0, is_word: false }
    }
}

/// The vocabulary of a model.
pub(super) struct WordPieces {
    /// Pieces that a word begins with.
    first: HashMap<Box<str>, VocabularyEntry>,
    /// Pieces that continue a word.
    next: HashMap<Box<str>, VocabularyEntry>,
    /// The longest piece, in characters.
    chars_max: usize,
}

/// A piece of the vocabulary.
#[derive(Clone, Copy)]
struct VocabularyEntry {
    number: u32,
    is_word: bool,
}

impl VocabularyEntry {
    const UNKNOWN: Self = Self { number: UNKNOWN_PIECE, is_word: true };
}

impl WordPieces {
    /// Reads the vocabulary from a file `tokenizer.json`; `None` where it has none.
    pub(super) fn read(tokenizer: &[u8]) -> Option<Self> {
        let tokenizer: serde_json::Value = serde_json::from_slice(tokenizer).ok()?;
        let vocabulary = tokenizer.get("model")?.get("vocab")?.as_object()?;
        let mut all = Self { first: HashMap::new(), next: HashMap::new(), chars_max: 0 };
        for (name, number) in vocabulary {
            let number = u32::try_from(number.as_u64()?).ok()?;
            let entry =
                VocabularyEntry { number, is_word: name.chars().any(char::is_alphanumeric) };
            let (pieces, name) = match name.strip_prefix(CONTINUATION) {
                Some(rest) => (&mut all.next, rest),
                None => (&mut all.first, name.as_str()),
            };
            all.chars_max = all.chars_max.max(name.chars().count());
            pieces.insert(name.into(), entry);
        }
        Some(all)
    }

    /// Cuts `text` into pieces, with a mark at each end, `pieces_max` in all. The rest is left out.
    pub(super) fn pieces(&self, text: &str, pieces_max: usize) -> Vec<WordPiece> {
        let within_max = pieces_max.saturating_sub(1);
        let mut pieces = vec![WordPiece::mark(START_PIECE)];
        let word_chars = word_chars(text);
        let mut rest = word_chars.as_slice();
        while let Some((before, special, after)) = split_at_special(rest) {
            self.add_words(before, within_max, &mut pieces);
            pieces.push(special);
            rest = after;
        }
        self.add_words(rest, within_max, &mut pieces);
        pieces.truncate(within_max);
        pieces.push(WordPiece::mark(END_PIECE));
        pieces
    }

    fn add_words(&self, word_chars: &[WordChar], pieces_max: usize, pieces: &mut Vec<WordPiece>) {
        for word in words(word_chars) {
            if pieces.len() >= pieces_max {
                return;
            }
            let spelled = self.spell(word);
            pieces
                .extend(spelled.unwrap_or_else(|| {
                    piece(word, VocabularyEntry::UNKNOWN).into_iter().collect()
                }));
        }
    }

    /// The pieces of a word; `None` where the vocabulary cannot spell it.
    fn spell(&self, word: &[WordChar]) -> Option<Vec<WordPiece>> {
        if word.len() > WORD_CHARS_MAX {
            return None;
        }
        let mut pieces = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let entries = if pieces.is_empty() { &self.first } else { &self.next };
            let (length, entry) = self.longest(rest, entries)?;
            let (start, after) = rest.split_at_checked(length)?;
            pieces.extend(piece(start, entry));
            rest = after;
        }
        Some(pieces)
    }

    /// The longest entry that `word_chars` begin with, and its length in characters.
    fn longest(
        &self,
        word_chars: &[WordChar],
        entries: &HashMap<Box<str>, VocabularyEntry>,
    ) -> Option<(usize, VocabularyEntry)> {
        let mut start: String = word_chars.iter().take(self.chars_max).map(|each| each.c).collect();
        let mut length = word_chars.len().min(self.chars_max);
        while !start.is_empty() {
            if let Some(entry) = entries.get(start.as_str()) {
                return Some((length, *entry));
            }
            start.pop();
            length -= 1;
        }
        None
    }
}

/// Returns the piece that equals `word_chars`.
fn piece(word_chars: &[WordChar], entry: VocabularyEntry) -> Option<WordPiece> {
    let (first, last) = (word_chars.first()?, word_chars.last()?);
    let span = first.span.start..last.span.end;
    Some(WordPiece { number: entry.number, span, is_word: entry.is_word })
}

/// Returns the first special piece that a text spells out, with the text before and after it.
fn split_at_special(word_chars: &[WordChar]) -> Option<(&[WordChar], WordPiece, &[WordChar])> {
    (0..word_chars.len()).find_map(|at| {
        let (before, rest) = word_chars.split_at_checked(at)?;
        let is_here = |name: &str| {
            rest.len() >= name.len() && name.chars().zip(rest).all(|(c, each)| c == each.c)
        };
        let (name, number) = SPECIAL_PIECES.iter().find(|(name, _)| is_here(name))?;
        let (special, after) = rest.split_at_checked(name.len())?;
        Some((before, piece(special, VocabularyEntry { number: *number, is_word: true })?, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENIZER: &str = r###"{"model": {"vocab": {
        "un": 1, "##do": 2, "##able": 3, "!": 4, "do": 5, "ca": 6, "cat": 7, "##talog": 8
    }}}"###;

    fn pieces(text: &str, pieces_max: usize) -> Vec<(u32, Range<usize>)> {
        let word_pieces = WordPieces::read(TOKENIZER.as_bytes()).unwrap();
        let pieces = word_pieces.pieces(text, pieces_max);
        pieces.into_iter().map(|piece| (piece.number, piece.span)).collect()
    }

    #[test]
    fn a_word_is_cut_into_its_longest_pieces() {
        let cut = pieces("Doable cat undo!", 9);
        let within = [(5, 0..2), (3, 2..6), (7, 7..10), (1, 11..13), (2, 13..15), (4, 15..16)];
        assert_eq!(cut[1..7], within);
        assert_eq!((&cut[0], &cut[7]), (&(101, 0..0), &(102, 0..0)));
    }

    #[test]
    fn a_word_without_pieces_is_unknown_as_a_whole() {
        // The longest start leaves a rest that no piece spells; a shorter one is not tried.
        assert_eq!(pieces("catalog", 9)[1..2], [(100, 0..7)]);
        let long = "un".to_owned() + &"able".repeat(30);
        assert_eq!(pieces(&long, 9)[1..2], [(100, 0..122)]);
    }

    #[test]
    fn names_of_special_pieces_are_pieces() {
        assert_eq!(pieces("do[SEP]do [x", 9)[1..4], [(5, 0..2), (102, 2..7), (5, 7..9)]);
    }

    #[test]
    fn a_long_text_is_cut_off_and_still_ends_with_its_mark() {
        let cut = pieces(&"do ".repeat(50), 5);
        assert_eq!(cut.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [101, 5, 5, 5, 102]);
    }

    #[test]
    fn a_file_without_a_vocabulary_is_refused() {
        for file in ["", "{}", r#"{"model": {"vocab": {"a": -1}}}"#] {
            assert!(WordPieces::read(file.as_bytes()).is_none(), "{file}");
        }
    }
}
