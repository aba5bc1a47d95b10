//! What the last questions meant: who narrows a search asks in the same words again, and many agents ask about one
//! failure. Not here: asking the model (`thread`).

use std::collections::VecDeque;

use super::Meant;

/// So many are known: more than the agents of a machine ask about at one time, and a third of a megabyte where
/// questions are as long as usual.
const KNOWN_MAX: usize = 64;
/// Longer questions are not kept, in bytes: what is known of one grows with its tokens.
const KNOWN_BYTES_MAX: usize = 1_024;

/// Questions and what they mean, that which was asked last at the end.
#[derive(Default)]
pub(super) struct Known(VecDeque<(String, Meant)>);

impl Known {
    /// Returns what a question means, where that is known.
    pub(super) fn get(&mut self, text: &str) -> Option<Meant> {
        let at = self.0.iter().position(|(known, _)| known == text)?;
        let asked = self.0.remove(at)?;
        let meant = asked.1.clone();
        self.0.push_back(asked);
        Some(meant)
    }

    /// Keeps what a question means, and forgets the one that nobody has asked for longest.
    pub(super) fn keep(&mut self, text: &str, meant: &Meant) {
        if text.len() > KNOWN_BYTES_MAX || self.get(text).is_some() {
            return;
        }
        if self.0.len() >= KNOWN_MAX {
            self.0.pop_front();
        }
        self.0.push_back((text.to_owned(), meant.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(number: usize) -> Meant {
        Meant { vector: vec![number as f32], tokens: Vec::new() }
    }

    #[test]
    fn the_last_questions_are_known_and_those_asked_again_longest() {
        let mut known = Known::default();
        for number in 0..KNOWN_MAX {
            known.keep(&number.to_string(), &meant(number));
        }
        known.keep("0", &meant(99));
        known.keep("new", &meant(7));
        assert_eq!(
            known.get("0"),
            Some(meant(0)),
            "asked again, and what it means does not change"
        );
        assert_eq!((known.get("1"), known.get("2")), (None, Some(meant(2))));
        assert_eq!((known.get("new"), known.0.len()), (Some(meant(7)), KNOWN_MAX));
    }

    #[test]
    fn a_long_question_is_not_kept() {
        let mut known = Known::default();
        let long = "x".repeat(KNOWN_BYTES_MAX + 1);
        known.keep(&long, &meant(1));
        assert_eq!(known.get(&long), None);
    }
}
