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
    /// Those that may begin anywhere, and those that only begin a sentence.
    by_first: [ByFirst; 2],
}

/// For each word the phrases that may begin with it, one list behind the other: this is made in every
/// process that writes a lesson, so it must not take thousands of small allocations.
#[derive(Debug)]
struct ByFirst {
    /// Where in `places` the list of each word ends.
    ends: Vec<usize>,
    places: Vec<usize>,
}

impl ByFirst {
    fn of<'a>(patterns: impl Iterator<Item = (usize, &'a Pattern)> + Clone) -> Self {
        let pairs = patterns.flat_map(|(place, pattern)| {
            pattern.firsts.iter().map(move |WordId(first)| (usize::from(*first), place))
        });
        let mut ends = vec![0; vocabulary::len()];
        for (first, _) in pairs.clone() {
            ends.get_mut(first).into_iter().for_each(|count| *count += 1);
        }
        let mut sum = 0;
        for end in &mut ends {
            // For now where each list begins; filling it moves that to its end.
            sum += std::mem::replace(end, sum);
        }
        let mut places = vec![0; sum];
        for (first, place) in pairs {
            if let Some(end) = ends.get_mut(first) {
                places.get_mut(*end).into_iter().for_each(|slot| *slot = place);
                *end += 1;
            }
        }
        Self { ends, places }
    }

    fn list(&self, WordId(first): WordId) -> &[usize] {
        let first = usize::from(first);
        let begin = first.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(first).copied().unwrap_or_default();
        self.places.get(begin.unwrap_or_default()..end).unwrap_or_default()
    }
}

impl<T: Copy> Index<T> {
    pub(super) fn of(patterns: Vec<(T, Pattern)>) -> Self {
        let numbered = || patterns.iter().enumerate().map(|(place, (_, pattern))| (place, pattern));
        let is_anywhere = |(_, pattern): &(usize, &Pattern)| pattern.start == Start::Anywhere;
        let by_first = [
            ByFirst::of(numbered().filter(is_anywhere)),
            ByFirst::of(numbered().filter(move |pattern| !is_anywhere(pattern))),
        ];
        Self { patterns, by_first }
    }

    /// Returns where in a text phrases begin, in the order of the text.
    pub(super) fn found<'a>(&'a self, words: &'a [Word]) -> impl Iterator<Item = (usize, T)> + 'a {
        words.iter().enumerate().flat_map(move |(place, word)| {
            let lists = self.by_first.iter().take(if word.begins { 2 } else { 1 });
            let numbers =
                lists.flat_map(|list| word.id.map(|id| list.list(id)).unwrap_or_default());
            let patterns = numbers.filter_map(|number| self.patterns.get(*number));
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
