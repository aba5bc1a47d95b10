//! The cost of a text in tokens, and texts that keep to a number of them. Not here: the limits (`api`).

mod single;

use std::sync::LazyLock;

use single::SINGLE;

/// Bytes per token of the first attempt at a text: English prose has about this many.
const BYTES_PER_TOKEN: usize = 4;
/// Attempts at a text before it is cut.
const ATTEMPTS: usize = 6;

/// Costs are counted in sixteenths of a token.
const TOKEN: usize = 16;
/// A letter of a word after the fourth.
const LATER_LETTER: usize = 5;
/// A word that cannot be pronounced, such as part of a hash, and each of its letters after the second.
const UNPRONOUNCEABLE: usize = 48;
const UNPRONOUNCEABLE_LETTER: usize = 12;
/// A word directly after a letter or digit, as in `camelCase`, in addition.
const GLUED: usize = 12;
/// Up to three digits.
const DIGITS: usize = 20;
/// One or more line ends; indentation; punctuation, and punctuation after other punctuation.
const LINE_END: usize = 8;
const INDENTATION: usize = 40;
const PUNCTUATION: usize = 16;
const MORE_PUNCTUATION: usize = 8;

/// Counts the tokens of a text so that neither `o200k_base` nor `cl100k_base` needs more. It takes time linear in the
/// length of the text.
///
/// The costs of ASCII text are a linear programme over prose, lessons, source code, compiler and linker errors, hashes
/// and random letters: the least sum that no sample exceeds. Prose is counted a fifth too high, code two fifths. A
/// character outside ASCII costs one token if it is one, or else one for each of its UTF-8 bytes, which is the most that
/// these tokenizers use.
#[must_use]
pub fn tokens(text: &str) -> usize {
    let mut rest = text.chars().peekable();
    let mut cost = 0;
    let mut last = ' ';
    while let Some(first) = rest.next() {
        let mut piece = String::from(first);
        let mut extend = |fits: &dyn Fn(&str, char) -> bool| {
            while let Some(next) = rest.next_if(|next| fits(&piece, *next)) {
                piece.push(next);
            }
        };
        cost += match first {
            'a'..='z' | 'A'..='Z' => {
                extend(&continues_word);
                word_cost(&piece) + if last.is_alphanumeric() { GLUED } else { 0 }
            }
            '0'..='9' => {
                extend(&|piece, next| piece.len() < 3 && next.is_ascii_digit());
                DIGITS
            }
            '\n' => {
                extend(&|_, next| next == '\n');
                LINE_END
            }
            ' ' | '\t' => {
                extend(&|piece, next| piece.starts_with(next));
                match (piece.as_str(), rest.peek()) {
                    (" ", Some(next))
                        if next.is_ascii_alphabetic() || next.is_ascii_punctuation() =>
                    {
                        0
                    }
                    (" ", _) => TOKEN,
                    _ => INDENTATION,
                }
            }
            _ if first.is_ascii() => {
                let is_more = !last.is_alphanumeric() && !last.is_whitespace();
                if is_more { MORE_PUNCTUATION } else { PUNCTUATION }
            }
            _ => TOKEN * character_tokens(first),
        };
        last = piece.chars().next_back().unwrap_or(first);
    }
    cost.div_ceil(TOKEN)
}

/// Tells whether a letter continues a word: `camelCase` is two words, and so is `HTTPServer`, after its capitals.
fn continues_word(word: &str, next: char) -> bool {
    if next.is_ascii_lowercase() {
        return word.len() == 1 || word.ends_with(|last: char| last.is_ascii_lowercase());
    }
    next.is_ascii_uppercase() && word.ends_with(|last: char| last.is_ascii_uppercase())
}

fn word_cost(word: &str) -> usize {
    let letters = word.len();
    if letters > 2 && !is_pronounceable(word) {
        let cost = UNPRONOUNCEABLE + UNPRONOUNCEABLE_LETTER * (letters - 2);
        return cost.min(TOKEN * letters);
    }
    TOKEN + LATER_LETTER * letters.saturating_sub(4)
}

/// Tells whether a word has a vowel and never four consonants in a row.
fn is_pronounceable(word: &str) -> bool {
    let is_vowel = |letter: u8| b"aeiouyAEIOUY".contains(&letter);
    let consonants = word.as_bytes().split(|letter| is_vowel(*letter));
    word.bytes().any(is_vowel) && consonants.map(<[u8]>::len).all(|run| run < 4)
}

/// Returns the most tokens of a character outside ASCII.
fn character_tokens(c: char) -> usize {
    static ONE_TOKEN: LazyLock<Vec<char>> = LazyLock::new(|| SINGLE.chars().collect());
    if ONE_TOKEN.binary_search(&c).is_ok() { 1 } else { c.len_utf8() }
}

/// Writes a text of at most `max_tokens`: `write` gets a number of bytes, and fewer with each attempt while its text
/// costs too much. What still does is cut at the end.
pub fn within_tokens<T>(
    max_tokens: usize,
    mut write: impl FnMut(usize) -> (String, T),
) -> (String, T) {
    let mut bytes = max_tokens.saturating_mul(BYTES_PER_TOKEN);
    let mut written = write(bytes);
    for _ in 1..ATTEMPTS {
        let cost = tokens(&written.0);
        if cost <= max_tokens {
            return written;
        }
        let used = bytes.min(written.0.len());
        bytes = (used.saturating_mul(max_tokens) / cost).min(used - used / 32);
        written = write(bytes);
    }
    (cut_to(written.0, max_tokens), written.1)
}

/// Cuts a text at its end to at most `max_tokens`.
#[must_use]
pub fn cut_to(mut text: String, max_tokens: usize) -> String {
    while tokens(&text) > max_tokens {
        let kept = text.len() * max_tokens / tokens(&text);
        text.truncate(text.floor_char_boundary(kept.min(text.len() - 1)));
    }
    text
}

/// The remaining room of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    bytes: usize,
}

impl Budget {
    /// Returns a room of a number of bytes.
    #[must_use]
    pub fn of_bytes(bytes: usize) -> Self {
        Self { bytes }
    }

    /// Returns the room in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Takes room for a text; false, and nothing taken, when there is not enough.
    #[must_use]
    pub fn try_reserve(&mut self, text: &str) -> bool {
        let left = self.bytes.checked_sub(text.len());
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

#[cfg(test)]
mod tests;
