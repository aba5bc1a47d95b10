//! Memories that say the same thing: one stands for all, with how often it was learned. Not here: ranking.

use super::Hit;
use event::Event;

/// So many hits are looked at: past the longest reply and its repetitions nobody looks.
const LOOKED_AT_MAX: usize = 60;

/// Longer texts than this are not compared, in bytes: notes are shorter, and a search must not take longer
/// for transcripts.
const COMPARED_BYTES_MAX: usize = 3_000;

/// The share of their words that two memories have in common at the least (Jaccard).
const SHARED_MIN: f32 = 0.7;

/// Small words that turn an advice around.
const TURNING: [&str; 8] = ["not", "no", "never", "without", "off", "disable", "instead", "don't"];

/// How many hits [`collapse`] looks at, at the most.
pub(super) fn looked_at_max(limit: usize) -> usize {
    LOOKED_AT_MAX.saturating_add(limit)
}

/// Leaves one of several hits that say the same in the same repository: the best one, which tells how often
/// it was seen; at most `limit`. Texts that differ in a number, a name of code or a "not" never are the same.
pub(super) fn collapse(hits: Vec<Hit>, limit: usize) -> Vec<Hit> {
    // Only those that are left are compared with: what says the same as one that is cut off is cut off too.
    let mut kept: Vec<(Hit, Option<Said>)> = Vec::new();
    for (place, hit) in hits.into_iter().enumerate() {
        if place >= LOOKED_AT_MAX {
            if kept.len() >= limit {
                break;
            }
            kept.push((hit, None));
            continue;
        }
        let is_near = |(other, _): &(Hit, Option<Said>)| other.memory.repo == hit.memory.repo;
        if kept.len() >= limit && !kept.iter().any(is_near) {
            continue;
        }
        let Some(said) = Said::by(&hit.memory.event()) else {
            if kept.len() < limit {
                kept.push((hit, None));
            }
            continue;
        };
        let same = |kept: &&mut (Hit, Option<Said>)| {
            is_near(kept) && kept.1.as_ref().is_some_and(|other| other.is_same_as(&said))
        };
        if let Some((other, _)) = kept.iter_mut().find(same) {
            other.also.push(hit.memory);
        } else if kept.len() < limit {
            kept.push((hit, Some(said)));
        }
    }
    kept.into_iter().map(|(hit, _)| hit).collect()
}

/// What a memory says, as a set of words.
pub struct Said {
    text: String,
    /// Each word once, in the order of the numbers made of them.
    words: Vec<Word>,
    /// The sum of the numbers of those in which a difference is one of substance: another sum is another set.
    telling: u64,
}

/// A word of a text.
#[derive(Debug, Clone, Copy)]
struct Word {
    /// Equal words have equal ones; others hardly ever.
    number: u64,
    start: usize,
    end: usize,
    is_telling: bool,
}

impl Said {
    /// What an event says; nothing where it is too long to be compared.
    #[must_use]
    pub fn by(event: &Event) -> Option<Self> {
        let bytes = event.context.len() + event.lesson.len() + event.command.len();
        if bytes > COMPARED_BYTES_MAX {
            return None;
        }
        let text = format!("{} {} {}", event.context, event.lesson, event.command).to_lowercase();
        let is_outer =
            |character: char| !character.is_alphanumeric() && !"-_/$".contains(character);
        let mut words: Vec<Word> = text
            .split_whitespace()
            .map(|word| word.trim_matches(is_outer))
            .filter(|word| !word.is_empty())
            .map(|word| Word::of(word, &text))
            .collect();
        let of = |word: &Word| text.get(word.start..word.end);
        words.sort_unstable_by(|a, b| a.number.cmp(&b.number).then_with(|| of(a).cmp(&of(b))));
        words.dedup_by(|a, b| a.number == b.number && of(a) == of(b));
        let telling = words.iter().filter(|word| word.is_telling);
        let telling = telling.fold(0, |sum: u64, word| sum.wrapping_add(word.number));
        Some(Self { text, words, telling })
    }

    /// Tells whether both say the same in few other words.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        if self.telling != other.telling {
            return false;
        }
        let shared = self.shared_with(other, |_| true);
        let all = self.words.len() + other.words.len() - shared;
        // Words of one event: an f32 holds their number exactly.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let share = if all == 0 { 1.0 } else { shared as f32 / all as f32 };
        let telling = |said: &Self| said.words.iter().filter(|word| word.is_telling).count();
        let told = telling(self);
        share >= SHARED_MIN
            && told == telling(other)
            && told == self.shared_with(other, |word| word.is_telling)
    }

    /// Returns a number that is equal where the words are in which a difference is one of substance.
    #[must_use]
    pub fn telling(&self) -> u64 {
        self.telling
    }

    fn key(&self, word: &Word) -> (u64, Option<&str>) {
        (word.number, self.text.get(word.start..word.end))
    }

    /// How many words that count both have.
    fn shared_with(&self, other: &Self, counts: impl Fn(&Word) -> bool) -> usize {
        let (mut shared, mut rest) = (0, other.words.as_slice());
        for word in self.words.iter().filter(|word| counts(word)) {
            let key = self.key(word);
            while rest.first().is_some_and(|first| other.key(first) < key) {
                rest = rest.get(1..).unwrap_or_default();
            }
            shared += usize::from(rest.first().is_some_and(|first| other.key(first) == key));
        }
        shared
    }
}

impl Word {
    /// A word of `text`, by FNV-1a (Fowler, Noll and Vo): short, and only ever trusted to tell words apart.
    fn of(word: &str, text: &str) -> Self {
        let number = word.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |number, byte| {
            (number ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let start = (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let is_telling = !word.chars().all(char::is_alphabetic) || TURNING.contains(&word);
        Self { number, start, end: start + word.len(), is_telling }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::laws::snapshot;
    use super::super::{Query, search};
    use super::*;
    use event::{Decoded, Timestamp, codec};

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

    proptest! {
        // S-RANK-7
        #[test]
        fn sets_of_words_compare_as_sets_do(
            one in "((not|8080|alpha|beta|gamma|delta|\\(x\\)|É|σ) ?){0,9}",
            other in "((not|8080|alpha|beta|gamma|delta|\\(x\\)|É|σ) ?){0,9}",
        ) {
            let set = |text: &str| -> BTreeSet<String> {
                let words = text.to_lowercase();
                let words = words.split_whitespace().map(|word| word.trim_matches(['(', ')']));
                words.map(str::to_owned).collect()
            };
            let telling = |set: &BTreeSet<String>| -> BTreeSet<String> {
                let is_telling = |word: &&String| word.contains(char::is_numeric) || TURNING.contains(&word.as_str());
                set.iter().filter(is_telling).cloned().collect()
            };
            let (a, b) = (set(&one), set(&other));
            let (shared, all) = (a.intersection(&b).count(), a.union(&b).count());
            let is_same = 10 * shared >= 7 * all && telling(&a) == telling(&b);
            // An event says something.
            prop_assume!(!a.is_empty() && !b.is_empty());
            prop_assert_eq!(said("", &one).is_same_as(&said("", &other)), is_same);
        }
    }

    // S-RANK-7
    #[test]
    fn many_that_say_the_same_take_no_place_of_others() {
        let line = |id: String, lesson: &str| json!({"id": id, "lesson": lesson});
        let same = (0..LOOKED_AT_MAX).map(|number| {
            line(format!("same{number}"), "the zebra pipe broke while the build was running")
        });
        // Far below, one below the other, and none like another.
        let others =
            ["alpha", "beta", "gamma", "delta"].into_iter().zip(3..).map(|(name, words)| {
                line(
                    name.to_owned(),
                    &format!("zebra{}", format!(" {name}{words}").repeat(9 * words)),
                )
            });
        let lines: Vec<Value> = same.chain(others).collect();
        let query = Query { text: "the zebra pipe broke", ..Query::default() };
        for limit in [1, 3] {
            let hits = search(&snapshot(&lines), &query, Timestamp::UNIX_EPOCH, limit);
            let also: Vec<usize> = hits.iter().map(|hit| hit.also.len()).collect();
            let of_one = std::iter::once(LOOKED_AT_MAX - 1);
            let expected: Vec<usize> = of_one.chain(std::iter::repeat(0)).take(limit).collect();
            assert_eq!(also, expected);
        }
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
