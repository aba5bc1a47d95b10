//! Whether a memory is about a given failure. The output of a tool is long, so some words of any memory match it. A
//! memory is about the failure if both share rare words. Not here: the words of a failure (the caller gives them),
//! the rarity of words (`index::lexical`).

use serde::{Deserialize, Serialize};

use index::lexical::{PreparedQuery, SharedRarity};
use memory::Memory;

/// The least sum of the inverse document frequencies of the shared words: two words that one lesson of three hundred
/// has, or three that ten have. Measured on known and unknown failures, together with the bar of relevance;
/// benches/runs has the figures.
const SHARED_MIN: f32 = 9.0;

/// A failure. Its words must be words of the query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Failure {
    /// Its message.
    pub says: String,
    /// Words that do not count: those of the command, which other lessons about the same tool have too, and those of
    /// every failure.
    pub besides: String,
}

/// The words of a failure, prepared for matching.
pub(super) struct FailureMatch<'a>(SharedRarity<'a>);

impl<'a> FailureMatch<'a> {
    /// `words` are those of the query.
    pub(super) fn new(failure: &Failure, words: &'a PreparedQuery<'_>) -> Self {
        Self(words.shared(&failure.says, &failure.besides))
    }

    /// Tells whether a memory shares enough of it.
    pub(super) fn matches(&self, memory: &Memory) -> bool {
        self.0.with(&memory.index_text()) >= SHARED_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::memory_that_says;
    use index::lexical::{DocId, LexicalIndex};

    const LESSON: &str = "cargo: linker cc not found; install build-essential";

    fn matches(says: &str, besides: &str) -> bool {
        let mut index = LexicalIndex::new();
        index.insert(DocId(1), LESSON).unwrap();
        let words = index.prepare(says);
        let failure = Failure { says: says.to_owned(), besides: besides.to_owned() };
        FailureMatch::new(&failure, &words).matches(&memory_that_says(LESSON))
    }

    // S-HOOK-4
    #[test]
    fn several_rare_words_outside_the_command_match() {
        assert!(matches("linker `cc` is missing", ""));
        assert!(!matches("linker gone", ""), "one word is not enough");
        assert!(!matches("linker linker: linker", ""), "however often it is said");
        assert!(!matches("linker `cc` is missing", "cc main.c"));
        assert!(!matches("a quite different failure of something else", ""));
    }

    // S-HOOK-4
    #[test]
    fn names_that_no_lesson_has_do_not_prevent_a_match() {
        let names = (0..30).map(|number| format!(" made_up_{number}")).collect::<String>();
        assert!(matches(&format!("linker `cc` is missing for{names}"), ""));
    }
}
