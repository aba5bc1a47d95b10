//! Phrases as rows of words with gaps, and whether a text holds one. Written as people would note them:
//! `IGNORE ..3 PRIOR ..4 RULES` is a word of the class IGNORE, then within three words one of PRIOR, and so
//! on; `a|b` is either, `^` the beginning of a sentence or line, `^^` that of the text, and `$` the end of a sentence. A gap does not
//! reach over the end of a sentence. Not here: which phrases there are (`phrases`).

use super::vocabulary::{self, WordId};
use super::words::Word;

/// A phrase, ready to be looked for.
#[derive(Debug)]
pub(super) struct Pattern {
    start: Start,
    /// The words that it may begin with.
    firsts: Vec<WordId>,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Anywhere,
    Sentence,
    Text,
}

#[derive(Debug)]
struct Item {
    /// How many words may stand before it.
    gap: usize,
    /// One bit for each word that fits.
    fits: Vec<u64>,
    /// Whether it must be the last word of its sentence.
    ends: bool,
}

impl Pattern {
    /// Understands a phrase.
    pub(super) fn of(phrase: &str) -> Self {
        let (mut start, mut gap) = (Start::Anywhere, 0);
        let (mut firsts, mut items) = (Vec::new(), Vec::new());
        for part in phrase.split_whitespace() {
            match (part, part.strip_prefix("..")) {
                ("^^", _) => start = Start::Text,
                ("^", _) => start = Start::Sentence,
                ("$", _) => {
                    if let Some(last) = items.last_mut() {
                        let last: &mut Item = last;
                        last.ends = true;
                    }
                }
                (_, Some(count)) => gap = count.parse().unwrap_or(0),
                (words, None) => {
                    let words: Vec<WordId> =
                        words.split('|').flat_map(vocabulary::named).copied().collect();
                    items.push(Item {
                        gap: std::mem::take(&mut gap),
                        fits: bits(&words),
                        ends: false,
                    });
                    if items.len() == 1 {
                        firsts = words;
                    }
                }
            }
        }
        Self { start, firsts, items }
    }

    /// Tells whether it stands in the words from `place` on, beginning there.
    pub(super) fn is_at(&self, words: &[Word], place: usize) -> bool {
        let Some(first) = words.get(place) else { return false };
        let may_start = match self.start {
            Start::Anywhere => true,
            Start::Sentence => first.begins,
            Start::Text => place == 0,
        };
        may_start && matches(&self.items, words, place)
    }
}

/// Phrases by the words they may begin with, so that a text asks only for those that may be in it.
#[derive(Debug)]
pub(super) struct Index<T> {
    patterns: Vec<(T, Pattern)>,
    /// For each word, the phrases that may begin with it anywhere, and those only where a sentence begins.
    by_first: Vec<[Vec<usize>; 2]>,
}

impl<T: Copy> Index<T> {
    pub(super) fn of(patterns: Vec<(T, Pattern)>) -> Self {
        let mut by_first = vec![[const { Vec::new() }; 2]; vocabulary::len()];
        for (place, (_, pattern)) in patterns.iter().enumerate() {
            for WordId(first) in &pattern.firsts {
                if let Some([anywhere, beginning]) = by_first.get_mut(usize::from(*first)) {
                    let is_anywhere = pattern.start == Start::Anywhere;
                    (if is_anywhere { anywhere } else { beginning }).push(place);
                }
            }
        }
        Self { patterns, by_first }
    }

    /// Returns where in a text phrases begin, in the order of the text.
    pub(super) fn found<'a>(&'a self, words: &'a [Word]) -> impl Iterator<Item = (usize, T)> + 'a {
        words.iter().enumerate().flat_map(move |(place, word)| {
            let list = word.id.and_then(|id| self.by_first.get(usize::from(id.0)));
            let lists = list.into_iter().flatten().take(if word.begins { 2 } else { 1 });
            let patterns = lists.flatten().filter_map(|number| self.patterns.get(*number));
            patterns
                .filter(move |(_, pattern)| pattern.is_at(words, place))
                .map(move |(of, _)| (place, *of))
        })
    }
}

fn bits(words: &[WordId]) -> Vec<u64> {
    let mut fits = vec![0_u64; vocabulary::len().div_ceil(64)];
    for WordId(number) in words {
        let number = usize::from(*number);
        if let Some(part) = fits.get_mut(number / 64) {
            *part |= 1 << (number % 64);
        }
    }
    fits
}

fn has(fits: &[u64], number: usize) -> bool {
    fits.get(number / 64).is_some_and(|part| part >> (number % 64) & 1 == 1)
}

fn matches(items: &[Item], words: &[Word], place: usize) -> bool {
    let Some((item, later)) = items.split_first() else { return true };
    for place in place..=place + item.gap {
        let Some(word) = words.get(place) else { return false };
        let is_last = || words.get(place + 1).is_none_or(|next| next.after_stop);
        let fits = word.id.is_some_and(|id| has(&item.fits, usize::from(id.0)));
        if fits
            && (!item.ends || is_last())
            && (later.is_empty() || goes_on(later, words, place + 1))
        {
            return true;
        }
        // Nothing but the first word of a phrase may begin a sentence.
        if is_last() {
            return false;
        }
    }
    false
}

fn goes_on(items: &[Item], words: &[Word], place: usize) -> bool {
    words.get(place).is_some_and(|word| !word.after_stop) && matches(items, words, place)
}
