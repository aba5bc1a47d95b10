//! Memories that say the same thing: one stands for all, with how often it was learned. Not here: ranking.

use std::collections::BTreeSet;

use super::Hit;
use crate::event::Event;

/// So many hits are looked at: past the longest reply and its repetitions nobody looks.
const LOOKED_AT_MAX: usize = 60;

/// Longer texts than this are not compared, in bytes: notes are shorter, and a search must not take longer
/// for transcripts.
const COMPARED_BYTES_MAX: usize = 3_000;

/// The share of their words that two memories have in common at the least (Jaccard).
const SHARED_MIN: f32 = 0.7;

/// Small words that turn an advice around.
const TURNING: [&str; 8] = ["not", "no", "never", "without", "off", "disable", "instead", "don't"];

/// Leaves one of several hits that say the same in the same repository: the best one, which tells how often
/// it was seen. Texts that differ in a number, a name of code or a "not" never are the same.
pub(super) fn collapse(hits: Vec<Hit>) -> Vec<Hit> {
    let mut kept: Vec<(Hit, Option<Said>)> = Vec::new();
    let mut rest = Vec::new();
    for (place, hit) in hits.into_iter().enumerate() {
        if place >= LOOKED_AT_MAX {
            rest.push(hit);
            continue;
        }
        let Some(said) = Said::by(&hit.memory.event) else {
            kept.push((hit, None));
            continue;
        };
        let same = |(other, said_there): &&mut (Hit, Option<Said>)| {
            other.memory.repo == hit.memory.repo
                && said_there.as_ref().is_some_and(|said_there| said_there.is_same_as(&said))
        };
        match kept.iter_mut().find(same) {
            Some((other, _)) => other.also.push(hit.memory),
            None => kept.push((hit, Some(said))),
        }
    }
    kept.into_iter().map(|(hit, _)| hit).chain(rest).collect()
}

/// What a memory says, as sets of words.
struct Said {
    words: BTreeSet<String>,
    /// Those in which a difference is one of substance.
    telling: BTreeSet<String>,
}

impl Said {
    fn by(event: &Event) -> Option<Self> {
        let bytes = event.context.len() + event.lesson.len() + event.command.len();
        if bytes > COMPARED_BYTES_MAX {
            return None;
        }
        let text = format!("{} {} {}", event.context, event.lesson, event.command).to_lowercase();
        let is_outer =
            |character: char| !character.is_alphanumeric() && !"-_/$".contains(character);
        let words: BTreeSet<String> = text
            .split_whitespace()
            .map(|word| word.trim_matches(is_outer).to_owned())
            .filter(|word| !word.is_empty())
            .collect();
        let is_telling = |word: &&String| {
            !word.chars().all(char::is_alphabetic) || TURNING.contains(&word.as_str())
        };
        let telling = words.iter().filter(is_telling).cloned().collect();
        Some(Self { words, telling })
    }

    fn is_same_as(&self, other: &Self) -> bool {
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        // Words of one event: an f32 holds their number exactly.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let share = if all == 0 { 1.0 } else { shared as f32 / all as f32 };
        share >= SHARED_MIN && self.telling == other.telling
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Decoded, codec};

    fn said(context: &str, lesson: &str) -> Said {
        let line = serde_json::json!({"context": context, "lesson": lesson}).to_string();
        let Decoded::Event(event) = codec::decode(line.as_bytes(), "api") else { panic!() };
        Said::by(&event).unwrap()
    }

    // S-RANK-7
    #[test]
    fn the_same_in_a_few_other_words_is_the_same() {
        let one =
            said("npm install fails", "Check the ownership of the folder before npm install.");
        let other = said("npm install fails", "check ownership of the folder before npm install");
        assert!(one.is_same_as(&other) && other.is_same_as(&one));
    }

    // S-RANK-7
    #[test]
    fn another_number_name_or_direction_is_not_the_same() {
        let one = said("", "Always start the local api server on port 8080 before the tests run");
        for lesson in [
            "Always start the local api server on port 9090 before the tests run",
            "Never start the local api server on port 8080 before the tests run",
            "Always start the local api server on port 8080 before the tests run with --watch",
            "Restart the worker",
        ] {
            assert!(!one.is_same_as(&said("", lesson)), "{lesson}");
        }
    }
}
