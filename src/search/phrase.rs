//! Exact phrases: text in double quotes in a query. They are a preference, since pasted errors contain quotes too;
//! only a query that is one phrase excludes other memories. Not here: ranking (`fuse`).

use memory::Memory;

/// The factor for the fit of a memory that holds every phrase of the query: enough to rank above near misses.
const HELD: f32 = 1.15;

/// A phrase of fewer words says no more than the word itself.
const WORDS_MIN: usize = 2;

/// More than these a pasted text may quote, but nobody types; each costs a look at every candidate.
const PHRASES_MAX: usize = 8;

/// A text in lower case with single spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase(String);

impl Phrase {
    /// The phrase between two quotes, where it is one.
    fn from_quoted(quoted: &str) -> Option<Self> {
        (quoted.split_whitespace().count() >= WORDS_MIN).then(|| Self(normalised(quoted)))
    }

    /// The phrase that is all of a query.
    pub(super) fn from_whole_query(query: &str) -> Option<Self> {
        let inside = query.trim().strip_prefix('"')?.strip_suffix('"')?;
        Self::from_quoted(inside).filter(|_| !inside.contains('"'))
    }

    /// Tells whether a memory says it, in its own words.
    #[must_use]
    pub fn is_in(&self, memory: &Memory) -> bool {
        normalised(&memory.index_text()).contains(&self.0)
    }
}

/// The phrases that a query prefers.
#[derive(Debug, Default)]
pub(super) struct Phrases(Vec<Phrase>);

impl Phrases {
    /// The phrases of a query.
    pub(super) fn parse(query: &str) -> Self {
        Self(quoted(query).filter_map(Phrase::from_quoted).take(PHRASES_MAX).collect())
    }

    /// Returns the factor of a fit: [`HELD`] if the memory holds all phrases, a part of it if it holds some.
    pub(super) fn boost(&self, memory: &Memory) -> f32 {
        if self.0.is_empty() {
            return 1.0;
        }
        let said = normalised(&memory.index_text());
        let held = self.0.iter().filter(|phrase| said.contains(&phrase.0)).count();
        #[expect(clippy::cast_precision_loss, reason = "at most PHRASES_MAX")]
        let share = held as f32 / self.0.len() as f32;
        1.0 + (HELD - 1.0) * share
    }
}

/// The texts between pairs of double quotes. A lone one opens nothing.
fn quoted(query: &str) -> impl Iterator<Item = &str> {
    let mut rest = query;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once('"')?;
        let (inside, tail) = after.split_once('"')?;
        rest = tail;
        Some(inside)
    })
}

fn normalised(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.extend(word.chars().flat_map(char::to_lowercase));
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::memory_that_says;

    // S-FIND-3
    #[test]
    fn what_stands_in_quotes_is_a_phrase_from_two_words_on() {
        let phrases = |query| Phrases::parse(query).0.into_iter().map(|phrase| phrase.0).collect();
        let found: Vec<String> =
            phrases("got \"Broken  Pipe\" and \"EPIPE\" and \"no\nend\" \"lone");
        assert_eq!(found, ["broken pipe", "no end"]);
        assert_eq!(Phrases::parse(&"\"a b\" ".repeat(50)).0.len(), PHRASES_MAX);
    }

    // S-FIND-3
    #[test]
    fn only_a_query_that_is_one_phrase_stands_alone() {
        assert_eq!(
            Phrase::from_whole_query(" \"Broken pipe\" "),
            Phrase::from_quoted("broken PIPE")
        );
        for query in ["", "\"", "\"\"", "\"pipe\"", "\"a b\" c", "\"a b\" \"c d\"", "a b"] {
            assert_eq!(Phrase::from_whole_query(query), None, "{query}");
        }
    }

    // S-FIND-3
    #[test]
    fn a_phrase_is_held_whatever_its_case_and_spaces() {
        let memory = memory_that_says("write: Broken\n  pipe, again");
        assert!(Phrase::from_quoted("BROKEN pipe,").unwrap().is_in(&memory));
        assert!(!Phrase::from_quoted("pipe broken").unwrap().is_in(&memory));
        let boost = |query| Phrases::parse(query).boost(&memory);
        assert!((boost("\"broken pipe\"") - HELD).abs() < 1e-6);
        assert!(boost("\"broken pipe\" \"no such\"") < HELD && boost("\"no such\"") < 1.0 + 1e-6);
        assert!((boost("broken pipe") - 1.0).abs() < 1e-6);
    }
}
