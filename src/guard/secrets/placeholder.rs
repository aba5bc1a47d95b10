//! Placeholders: values that people write where a secret would stand. Not here: other judges of values (`judge`).

use super::value_statistics::{JUDGED_BYTES_MAX, ValueStatistics};

/// Repetitions of one character in a random value: seven in a row are one key in thousands of millions.
const ROW_BYTES_MAX: usize = 6;

/// Bytes of a word that a placeholder repeats, and how often it does at least.
const REPEATED_BYTES_MAX: usize = 6;
const REPETITIONS_MIN: usize = 3;

/// The letters in their order, which stand for any value.
const LETTERS: &str = "abcdefgh";

/// Words of placeholders.
const PLACEHOLDERS: [&str; 28] = [
    "example",
    "xxxx",
    "your",
    "placeholder",
    "redacted",
    "changeme",
    "change-me",
    "change_me",
    "dummy",
    "sample",
    "insert",
    "replace",
    "....",
    "****",
    LETTERS,
    "<",
    "--------",
    "~~~~",
    "undefined",
    "0123456789",
    "a-za-z",
    "a-z0-9",
    "a-f0-9",
    "not_a_",
    "notasecret",
    "fakepass",
    "password123",
    "secret123",
];

/// Tells whether a value is a placeholder: it says so, or is mostly one character.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let row = ValueStatistics::count(value).longest_row;
    says_placeholder(value) || (row > ROW_BYTES_MAX && row * 3 >= value.len()) || is_repeated(value)
}

/// Tells whether a value is letters that repeat as a whole, as in `blahblahblah`.
fn is_repeated(value: &[u8]) -> bool {
    let is_word = value.len() >= 2 * REPETITIONS_MIN && value.iter().all(u8::is_ascii_lowercase);
    is_word
        && (2..=REPEATED_BYTES_MAX).any(|length| {
            value.len() >= length * REPETITIONS_MIN
                && value.len().is_multiple_of(length)
                && value.iter().zip(value.iter().skip(length)).all(|(first, next)| first == next)
        })
}

/// Tells whether a value says that it is a placeholder.
pub(super) fn says_placeholder(value: &[u8]) -> bool {
    let value = value.get(..JUDGED_BYTES_MAX).unwrap_or(value);
    // A row of letters that changes its case in the middle is none.
    let is_one_case = |window: &[u8]| {
        let rest = window.get(1..).unwrap_or_default();
        rest.iter().all(u8::is_ascii_lowercase) || window.iter().all(u8::is_ascii_uppercase)
    };
    let says = |word: &&str| {
        value.windows(word.len()).any(|window| {
            window.eq_ignore_ascii_case(word.as_bytes())
                && (*word != LETTERS || is_one_case(window))
        })
    };
    // Between other punctuation `<` opens no placeholder.
    let is_salt = || ValueStatistics::count(value).marks >= 4;
    PLACEHOLDERS.iter().filter(|word| says(word)).any(|word| *word != "<" || !is_salt())
}
