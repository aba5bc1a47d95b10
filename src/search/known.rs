//! Whether a memory is about a failure at hand: an absolute look beside the relative one (`relevance`). What tools print
//! is long, and the more is asked the more of anything is found; what makes a failure a known one is that a memory says
//! the same rare things. Not here: what a failure says (the one who asks tells), how rare words are (`index::lexical`).

use serde::{Deserialize, Serialize};

use index::lexical::{Prepared, Shared};
use memory::Memory;

/// How rare the words are, all together, that a memory must share with a failure, as the sum of their inverse document
/// frequencies: two that one lesson of three hundred has, or three that ten have. Measured together with the bar of
/// relevance on failures that are known and such that are not; benches/runs has the figures.
const SHARED_MIN: f32 = 9.0;

/// A failure that somebody asks about; its words must be words of the query.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Failure {
    /// What it says.
    pub says: String,
    /// Words that do not tell it from others: those of the command, which lessons about the same tool have as well, and
    /// those that all failures say.
    pub besides: String,
}

/// What a failure says, ready to be looked for in memories.
pub(super) struct Known<'a>(Shared<'a>);

impl<'a> Known<'a> {
    /// `words` are those of the query.
    pub(super) fn of(failure: &Failure, words: &'a Prepared<'_>) -> Self {
        Self(words.shared(&failure.says, &failure.besides))
    }

    /// Tells whether a memory says enough of it.
    pub(super) fn is_met_by(&self, memory: &Memory) -> bool {
        self.0.with(&memory.index_text()) >= SHARED_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::memory_that_says;
    use index::lexical::{DocId, LexicalIndex};

    const LESSON: &str = "cargo: linker cc not found; install build-essential";

    fn is_met(says: &str, besides: &str) -> bool {
        let mut index = LexicalIndex::new();
        index.insert(DocId(1), LESSON).unwrap();
        let words = index.prepare(says);
        let failure = Failure { says: says.to_owned(), besides: besides.to_owned() };
        Known::of(&failure, &words).is_met_by(&memory_that_says(LESSON))
    }

    // S-HOOK-4
    #[test]
    fn a_failure_is_known_by_several_rare_words_that_are_not_of_its_command() {
        assert!(is_met("linker `cc` is missing", ""));
        assert!(!is_met("linker gone", ""), "one word is not enough");
        assert!(!is_met("linker linker: linker", ""), "however often it is said");
        assert!(!is_met("linker `cc` is missing", "cc main.c"));
        assert!(!is_met("a quite different failure of something else", ""));
    }

    // S-HOOK-4
    #[test]
    fn names_that_no_lesson_has_make_a_failure_no_less_known() {
        let names = (0..30).map(|number| format!(" made_up_{number}")).collect::<String>();
        assert!(is_met(&format!("linker `cc` is missing for{names}"), ""));
    }
}
