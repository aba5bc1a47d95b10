//! The cost of a text in tokens, and texts that keep to a number of them. Not here: how many tokens a reply has by default (`requests::bounds`).

mod single;

use std::sync::LazyLock;

use single::SINGLE;

/// Most tokens of one reply: clients cut off longer ones.
pub const REPLY_TOKENS_MAX: usize = 8_000;

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
/// A word that costs more is cut where it does not fit; no English word does.
const WHOLE_WORD_MAX: usize = 8 * TOKEN;
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
    Pieces::in_text(text).map(|piece| piece.cost).sum::<usize>().div_ceil(TOKEN)
}

/// A word, up to three digits, white space of one kind, or any other character.
struct Piece<'t> {
    text: &'t str,
    /// In sixteenths of a token.
    cost: usize,
}

/// The pieces of a text, in order.
struct Pieces<'t> {
    rest: &'t str,
    /// The character before the rest.
    last: char,
}

impl<'t> Pieces<'t> {
    fn in_text(text: &'t str) -> Self {
        Self { rest: text, last: ' ' }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        let first = self.rest.chars().next()?;
        let (text, rest) = self.rest.split_at(piece_bytes(self.rest, first));
        let cost = match first {
            'a'..='z' | 'A'..='Z' => {
                word_cost(text) + if self.last.is_alphanumeric() { GLUED } else { 0 }
            }
            '0'..='9' => DIGITS,
            '\n' => LINE_END,
            ' ' | '\t' => space_cost(text, rest.chars().next()),
            _ if first.is_ascii() => {
                let is_more = !self.last.is_alphanumeric() && !self.last.is_whitespace();
                if is_more { MORE_PUNCTUATION } else { PUNCTUATION }
            }
            _ => TOKEN * character_tokens(first),
        };
        self.last = text.chars().next_back().unwrap_or(first);
        self.rest = rest;
        Some(Piece { text, cost })
    }
}

/// Returns the length of the first piece of a text.
fn piece_bytes(text: &str, first: char) -> usize {
    let run = |fits: &dyn Fn(usize, char) -> bool| {
        let end = text.bytes().enumerate().skip(1).find(|(at, byte)| !fits(*at, char::from(*byte)));
        end.map_or(text.len(), |(at, _)| at)
    };
    match first {
        'a'..='z' | 'A'..='Z' => {
            run(&|at, next| continues_word(text.get(..at).unwrap_or_default(), next))
        }
        '0'..='9' => run(&|at, next| at < 3 && next.is_ascii_digit()),
        '\n' | ' ' | '\t' => run(&|_, next| next == first),
        _ => first.len_utf8(),
    }
}

fn space_cost(space: &str, next: Option<char>) -> usize {
    match (space, next) {
        (" ", Some(next)) if next.is_ascii_alphabetic() || next.is_ascii_punctuation() => 0,
        (" ", _) => TOKEN,
        _ => INDENTATION,
    }
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

/// Cuts a text at its end to at most `max_tokens`: to the longest beginning that ends with a word or another piece. Only a long
/// word is cut itself. It takes time linear in the length of the text.
#[must_use]
pub fn cut_to(mut text: String, max_tokens: usize) -> String {
    let max = max_tokens.saturating_mul(TOKEN);
    let (mut cost, mut end, mut kept) = (0_usize, 0, 0);
    for piece in Pieces::in_text(&text) {
        let before = cost;
        cost += piece.cost;
        if cost > max {
            let room = max.saturating_sub(before);
            let part = if piece.cost > WHOLE_WORD_MAX { word_part(piece.text, room) } else { 0 };
            kept = if part > 0 { end + part } else { kept };
            text.truncate(kept);
            break;
        }
        end += piece.text.len();
        // What a single space costs depends on what follows it.
        kept = if piece.text == " " { kept } else { end };
    }
    text
}

/// Returns the length of the longest beginning of a word that costs at most `room`. From the fourth letter on, a longer beginning
/// never costs less.
fn word_part(word: &str, room: usize) -> usize {
    let room = room.saturating_sub(GLUED);
    let (mut fits, mut too_long) = (0, word.len());
    while too_long - fits > 1 {
        let middle = fits + (too_long - fits) / 2;
        match word.get(..middle) {
            Some(part) if word_cost(part) <= room => fits = middle,
            _ => too_long = middle,
        }
    }
    fits
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
