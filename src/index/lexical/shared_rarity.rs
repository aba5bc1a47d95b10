//! The rarity of the words that a query and a text share. The number is absolute, whereas a score is comparable only
//! within one query. Not here: scores (`search`), coverage of a query (`query`).

use std::collections::HashSet;

use super::LexicalIndex;
use super::query::PreparedQuery;

/// The words of a query, prepared for comparison with texts.
#[derive(Debug)]
pub struct SharedRarity<'index> {
    index: &'index LexicalIndex,
    /// The terms of each word with their rarity. Words of several terms stand first: `std::string` counts once, and
    /// a later `string` does not count again.
    words: Vec<Vec<(Box<str>, f32)>>,
}

impl<'index> PreparedQuery<'index> {
    /// Prepares to compare texts with the words of `piece`, a part of the query. Terms for which `besides` is true
    /// do not count.
    #[must_use]
    pub fn shared(&self, piece: &str, besides: &str) -> SharedRarity<'index> {
        let besides = self.index.analyse_query(besides);
        let besides: HashSet<&str> = besides.iter().collect();
        let counts = |term: &&str| !besides.contains(term);
        let word = |word: &str| {
            let terms = self.index.analyse_query(word);
            let rarity = |term: &str| Some((term.into(), self.bounded_rarity(term)?));
            terms.iter().filter(counts).filter_map(rarity).collect::<Vec<_>>()
        };
        let mut words: Vec<_> = piece.split_whitespace().map(word).collect();
        words.sort_by_key(|terms| std::cmp::Reverse(terms.len()));
        SharedRarity { index: self.index, words }
    }
}

impl SharedRarity<'_> {
    /// Returns the summed rarity of the words that `text` holds: each word counts once, as its rarest term.
    #[must_use]
    pub fn with(&self, text: &str) -> f32 {
        let terms = self.index.analyse_query(text);
        let terms: HashSet<&str> = terms.iter().collect();
        let mut counted: HashSet<&str> = HashSet::new();
        let mut sum = 0.0;
        for word in &self.words {
            let held = || word.iter().filter(|(term, _)| terms.contains(&**term));
            if !held().any(|(term, _)| counted.contains(&**term)) {
                sum += held().map(|(_, rarity)| *rarity).fold(0.0, f32::max);
                counted.extend(held().map(|(term, _)| &**term));
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::DocId;

    fn index(texts: impl IntoIterator<Item = String>) -> LexicalIndex {
        let mut index = LexicalIndex::new();
        for (doc, text) in (0..).zip(texts) {
            index.insert(DocId(doc), &text).unwrap();
        }
        index
    }

    #[test]
    fn words_that_both_say_count_once_and_the_rarer_the_more() {
        let texts = ["npm install", "npm test", "npm EACCES std::string"];
        let index = index(texts.map(str::to_owned));
        let shared = |piece: &str, besides: &str, text: &str| {
            index.prepare(piece).shared(piece, besides).with(text)
        };
        let alone = |word: &str| shared(word, "", word);
        assert!(alone("EACCES") > alone("npm") && alone("npm") > 0.0);
        let both = shared("npm EACCES npm", "", "EACCES: npm, npm");
        assert!((both - alone("EACCES") - alone("npm")).abs() < 1e-4);
        assert!((shared("npm EACCES", "npm test", "npm EACCES") - alone("EACCES")).abs() < 1e-4);
        // A name and its parts are one word.
        let name = shared("string std::string", "", "std::string");
        assert!((name - alone("std::string")).abs() < 1e-4);
        assert!(shared("npm", "", "something else").abs() < 1e-6);
    }

    #[test]
    fn one_word_is_worth_the_same_in_a_small_store_and_a_large_one() {
        let of = |size: usize| {
            let index = index((0..size).map(|number| format!("lesson word{number}")));
            index.prepare("word1").shared("word1", "").with("word1")
        };
        assert!((of(2) - of(2_000)).abs() < 1e-4);
    }
}
