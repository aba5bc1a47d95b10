//! Finds the words of a text that a query matches, for readers who want to see them: whole words, in every form that
//! the index takes for the same. Not here: how they are shown, and other spellings that a search also tries
//! (`short_forms`, `nearby_terms`).

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::analysis::{Tokenizers, WordCache};
use super::script::{CharacterClass, JOINERS, bigrams, class_of, is_inner};
use super::tokenize::terms_of;

/// Most terms of a query that are looked for: a longer query is a log, and every word of an answer would be marked.
const TERMS_MAX: usize = 64;

/// The words of a query, as the index reads them.
pub struct QueryWords {
    wanted: BTreeSet<String>,
    words: Tokenizers,
    cache: WordCache,
}

impl QueryWords {
    /// Reads a query without its filters.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let (words, mut cache) = (Tokenizers::new(), WordCache::default());
        let terms = terms_of(query, TERMS_MAX, &words, &mut cache);
        Self { wanted: terms.iter().map(String::from).collect(), words, cache }
    }

    /// Returns where the matched words of a text stand, in bytes and in order. No two touch.
    pub fn spans(&mut self, text: &str) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (class, run) in runs(text, class_of) {
            match class {
                CharacterClass::Gap => {}
                CharacterClass::Spaceless => self.pairs(text, run, &mut spans),
                CharacterClass::Code => self.code(text, run, &mut spans),
            }
        }
        spans
    }

    /// Marks each pair of characters that the query has, and joins those that touch.
    fn pairs(&self, text: &str, run: Range<usize>, spans: &mut Vec<Range<usize>>) {
        let Some(run_text) = text.get(run.clone()) else { return };
        let mut pair_start = run.start;
        for pair in bigrams(run_text) {
            let span = pair_start..pair_start + pair.len();
            pair_start += pair.chars().next().map_or(0, char::len_utf8);
            if !self.wanted.contains(pair) {
                continue;
            }
            match spans.last_mut().filter(|last| last.end >= span.start) {
                Some(last) => last.end = span.end,
                None => spans.push(span),
            }
        }
    }

    /// Marks a compound such as a path where the query has all of it, else those of its words that the query has.
    fn code(&mut self, text: &str, run: Range<usize>, spans: &mut Vec<Range<usize>>) {
        let Some(run_text) = text.get(run.clone()) else { return };
        let from_start = run_text.trim_start_matches(is_inner);
        let start = run.end - from_start.len();
        let compound = from_start.trim_end_matches(is_inner);
        if compound.contains(JOINERS) && self.has_all(compound) {
            spans.push(start..start + compound.len());
            return;
        }
        for (is_word, word) in runs(compound, is_word_char) {
            let found = compound.get(word.clone()).unwrap_or_default();
            if is_word && found.chars().nth(1).is_some() && self.has_any(found) {
                spans.push(start + word.start..start + word.end);
            }
        }
    }

    fn has_all(&mut self, compound: &str) -> bool {
        let terms = terms_of(compound, TERMS_MAX, &self.words, &mut self.cache);
        terms.len() > 0 && terms.iter().all(|term| self.wanted.contains(term))
    }

    fn has_any(&mut self, word: &str) -> bool {
        let terms = terms_of(word, TERMS_MAX, &self.words, &mut self.cache);
        terms.iter().any(|term| self.wanted.contains(term))
    }
}

impl fmt::Debug for QueryWords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("QueryWords").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

fn is_word_char(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || is_combining_mark(letter)
}

/// Cuts a text where the class of its characters changes.
fn runs<C: PartialEq>(text: &str, class: fn(char) -> C) -> impl Iterator<Item = (C, Range<usize>)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..)?;
        let first = class(rest.chars().next()?);
        let end = start + rest.find(|letter| class(letter) != first).unwrap_or(rest.len());
        let run = (first, start..end);
        start = end;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marked(text: &str, query: &str) -> String {
        let part = |span: Range<usize>| text.get(span).unwrap();
        let (mut shown, mut end) = (String::new(), 0);
        for span in QueryWords::parse(query).spans(text) {
            shown.push_str(&format!("{}<{}>", part(end..span.start), part(span.clone())));
            end = span.end;
        }
        shown + part(end..text.len())
    }

    // S-COLOR-1
    #[test]
    fn whole_words_are_marked_in_all_forms_of_one_word() {
        for (query, text, expected) in [
            (
                "red",
                "it redacts what is Red, red_flag and infrared",
                "it redacts what is <Red>, <red_flag> and infrared",
            ),
            (
                "redact",
                "it redacts, redacted; redaction is not red",
                "it <redacts>, <redacted>; <redaction> is not red",
            ),
            (
                "install fails",
                "installs fail; reinstall failed",
                "<installs> <fail>; reinstall <failed>",
            ),
            (
                "test",
                "a testament, the tests, latest, testing",
                "a testament, the <tests>, latest, <testing>",
            ),
            ("poetry", "poetry.lock beside Poetry", "<poetry>.lock beside <Poetry>"),
            ("see src/db.rs", "(see src/db.rs): db.rsx", "(<see> <src/db.rs>): <db>.rsx"),
            ("std::io::Error", "std::io::Error is an errors", "<std::io::Error> is an <errors>"),
            ("v1.2", "not v1.20 but v1.2.", "not v1.20 but <v1.2>."),
            ("the and of", "the end of the day", "the end of the day"),
            ("müll ÜBER", "Müll, Müllers, über", "<Müll>, Müllers, <über>"),
            ("缓存", "清除缓存后重试", "清除<缓存>后重试"),
            ("", "nothing", "nothing"),
        ] {
            assert_eq!(marked(text, query), expected, "{query}");
        }
    }

    proptest! {
        // S-COLOR-1
        #[test]
        fn a_span_neither_begins_nor_ends_inside_a_word(
            query in "[a-zé_ .:缓存-]{0,24}", text in "[a-zé_ .:缓存-]{0,60}",
        ) {
            let mut end_before = 0;
            for span in QueryWords::parse(&query).spans(&text) {
                let found = text.get(span.clone()).unwrap();
                prop_assert!(span.start >= end_before && !found.is_empty());
                end_before = span.end;
                let is_word = |letter: Option<char>| {
                    letter.is_some_and(|letter| class_of(letter) == CharacterClass::Code && is_word_char(letter))
                };
                let (before, after) = (text.get(..span.start).unwrap(), text.get(span.end..).unwrap());
                let joined = |one: Option<char>, other: Option<char>| is_word(one) && is_word(other);
                prop_assert!(!joined(before.chars().next_back(), found.chars().next()));
                prop_assert!(!joined(found.chars().next_back(), after.chars().next()));
            }
        }
    }
}
