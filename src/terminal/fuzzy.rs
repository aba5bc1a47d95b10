//! How well a word that somebody types fits a text: its letters in their order, close together. Not here: the order of
//! texts (`choice_list`).

use std::ops::Range;

/// Letters that may stand between those of a word, for each of them: with more, every long text would fit.
const LETTERS_BETWEEN: usize = 2;

/// Where a word was found, and how well it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzyFit {
    /// More is better.
    pub score: i32,
    /// The letters of the text from the first to the last that fits.
    pub place: Range<usize>,
}

/// Makes a text or a word comparable: one letter for each of its letters, in lower case.
#[must_use]
pub fn folded_letters(text: &str) -> Vec<char> {
    text.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect()
}

/// Finds the best place of a word in a text, both folded; `None` where it fits nowhere. An empty word fits everything.
#[must_use]
pub fn fit(word: &[char], text: &[char]) -> Option<FuzzyFit> {
    let Some(first) = word.first() else { return Some(FuzzyFit { score: 0, place: 0..0 }) };
    let mut best: Option<FuzzyFit> = None;
    let starts = text.iter().enumerate().filter(|(_, letter)| *letter == first);
    for (start, _) in starts {
        let Some(length) = text.get(start..).and_then(|rest| length_of(word, rest)) else {
            continue;
        };
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        let is_word_start = before.is_none_or(|letter| !letter.is_alphanumeric());
        let score = score(word.len(), length, start, is_word_start);
        if best.as_ref().is_none_or(|best| score > best.score) {
            best = Some(FuzzyFit { score, place: start..start + length });
        }
        if is_word_start && length == word.len() {
            // A later place can only be worse.
            break;
        }
    }
    best
}

/// Returns how many letters of a text, from its first, hold the letters of a word in their order.
fn length_of(word: &[char], text: &[char]) -> Option<usize> {
    let room = word.len() * (1 + LETTERS_BETWEEN);
    let mut wanted = word.iter();
    let mut next = wanted.next();
    for (length, letter) in (1..=room).zip(text) {
        if next == Some(letter) {
            next = wanted.next();
        }
        if next.is_none() {
            return Some(length);
        }
    }
    None
}

/// Letters together, at the beginning of a word, early in the text: in this order of weight.
fn score(letters: usize, length: usize, start: usize, is_word_start: bool) -> i32 {
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX / 64);
    let together = if letters == length { 24 } else { 0 };
    let beginning = if is_word_start { 12 } else { 0 };
    16 * count(letters) - 6 * count(length - letters) + together + beginning
        - count(start / 32).min(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score_of(word: &str, text: &str) -> Option<i32> {
        fit(&folded_letters(word), &folded_letters(text)).map(|fit| fit.score)
    }

    // S-PICK-1
    #[test]
    fn letters_in_order_and_close_together_fit() {
        for (word, text) in
            [("npmci", "run npm ci"), ("ÄRGER", "viel Ärger"), ("eacs", "EACCES"), ("", "x")]
        {
            assert!(score_of(word, text).is_some(), "{word} {text}");
        }
        for (word, text) in [("icnpm", "npm ci"), ("cat", "c is as long as it takes"), ("x", "")] {
            assert_eq!(score_of(word, text), None, "{word} {text}");
        }
    }

    // S-PICK-1
    #[test]
    fn whole_words_are_better_than_scattered_letters() {
        let order = ["run the cache", "the apache", "a cat has he"];
        let scores: Vec<_> = order.iter().map(|text| score_of("cache", text)).collect();
        assert!(scores[0] > score_of("cache", "thecache") && scores[2].is_none(), "{scores:?}");
        assert!(score_of("cache", "xcache") > score_of("cache", "x c-ache"), "{scores:?}");
        let place = fit(&folded_letters("api"), &folded_letters("mapir api")).unwrap().place;
        assert_eq!(place, 6..9, "the word, not the part of another");
    }
}
