//! Turns one word into its terms: folding to ASCII, lower case, stop words, English stemming. This is the analysis
//! of the `bm25` crate, one word at a time, with a cache. Not here: finding the words (`tokenize`).

use std::collections::HashMap;
use std::fmt;

use bm25::{DefaultTokenizer, Tokenizer as _};

use super::terms::TermList;

/// Stop words that are kept because they carry the point of a lesson: what must *not* be done, and what goes before
/// or after. Measured: they add .002 to .005 of recall at five on lessons, compiler errors and dialogue, and cost
/// lessons .004 of precision at one.
const KEPT: [&str; 22] = [
    "not", "no", "nor", "only", "same", "before", "after", "above", "below", "up", "down", "out",
    "off", "over", "under", "again", "once", "until", "while", "during", "between", "against",
];

/// Entries of a cache before it is emptied: the working vocabulary of a large store, at about 100 bytes an entry
/// some 6 MB. The retriever has two caches: one of the index, and one of the comparison of new memories with old
/// ones.
const CACHE_WORDS_MAX: usize = 65_536;

/// The crate's tokenizer, with and without its stop words.
pub(super) struct Tokenizers {
    stopping: DefaultTokenizer,
    keeping: DefaultTokenizer,
}

impl Tokenizers {
    /// Builds both tokenizers. Costs about a tenth of a millisecond, so keep the result.
    pub(super) fn new() -> Self {
        Self {
            stopping: DefaultTokenizer::default(),
            keeping: DefaultTokenizer::builder().stopwords(false).build(),
        }
    }

    /// Returns the terms of one word, separated by spaces: none for a stop word, seldom more than one.
    fn terms(&self, word: &str) -> Box<str> {
        let kept = KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(word));
        let tokenizer = if kept { &self.keeping } else { &self.stopping };
        tokenizer.tokenize(word).join(" ").into_boxed_str()
    }
}

impl fmt::Debug for Tokenizers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Words").finish_non_exhaustive()
    }
}

/// Remembers words that were analysed: a call of the crate takes over a microsecond, mostly for allocations, and
/// running text repeats words. Never changes an answer.
#[derive(Debug, Default)]
pub(super) struct WordCache {
    terms: HashMap<Box<str>, Box<str>>,
}

/// The cached terms of words, for indexes asked one after the other. The limit is the working vocabulary of a large
/// store: some 6 MB.
#[derive(Debug, Default)]
pub struct AnalysisCache(pub(super) WordCache);

impl WordCache {
    /// Appends the terms of `word`, from the cache or computed.
    pub(super) fn push_terms(&mut self, words: &Tokenizers, word: &str, found: &mut TermList) {
        if let Some(known) = self.terms.get(word) {
            return push_parted(known, found);
        }
        if self.terms.len() >= CACHE_WORDS_MAX {
            self.terms.clear();
        }
        let terms = words.terms(word);
        push_parted(&terms, found);
        self.terms.insert(word.into(), terms);
    }
}

fn push_parted(parted: &str, found: &mut TermList) {
    parted.split(' ').filter(|term| !term.is_empty()).for_each(|term| found.push(term));
}

/// A copy starts empty: it is made for a search, and a search brings its own cache.
impl Clone for WordCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(word: &str) -> Vec<String> {
        let mut found = TermList::default();
        WordCache::default().push_terms(&Tokenizers::new(), word, &mut found);
        found.iter().map(String::from).collect()
    }

    // S-RANK-1
    #[test]
    fn words_are_stemmed_folded_and_stopped() {
        assert_eq!(terms("Connections"), ["connect"]);
        assert_eq!(terms("Überprüfung"), ["uberprufung"]);
        assert!(terms("the").is_empty() && terms("don't").is_empty());
    }

    #[test]
    fn what_not_to_do_and_what_comes_before_survive_the_stop_list() {
        for kept in KEPT {
            assert_eq!(terms(kept).len(), 1, "{kept}");
            assert_eq!(terms(&kept.to_uppercase()), terms(kept));
        }
    }

    #[test]
    fn a_full_cache_starts_over_and_answers_alike() {
        let (words, mut cache) = (Tokenizers::new(), WordCache::default());
        for number in 0..=CACHE_WORDS_MAX {
            cache.terms.insert(format!("w{number}").into(), "stale".into());
        }
        let mut found = TermList::default();
        cache.push_terms(&words, "running", &mut found);
        assert!(found.iter().eq(["run"]));
        assert_eq!(cache.terms.len(), 1);
    }
}
