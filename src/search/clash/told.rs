//! What one text says, held against what another said later: signs of a contradiction, and how much of their words
//! they have in common. What costs least is asked first. Not here: which texts are compared (`clash`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Sign;
use crate::same::Said;
use event::Event;
use index::lexical::Holders;

/// The least share of weighted words that makes two memories be about one thing.
pub(super) const KINSHIP_MIN: f32 = 0.3;
/// So much of a text is compared, in bytes: what it is about stands at its beginning.
const COMPARED_BYTES_MAX: usize = 2_000;
/// A word's rarity says little among few memories: it is reckoned as among so many.
const DOCUMENTS_MIN: usize = 300;

/// Words by which a text says that something is no longer as it was.
const CHANGING: [&str; 27] = [
    "now",
    "longer",
    "anymore",
    "gone",
    "removed",
    "deleted",
    "replaced",
    "replaces",
    "moved",
    "migrated",
    "migration",
    "since",
    "frozen",
    "instead",
    "old",
    "upgrade",
    "upgraded",
    "dropped",
    "refused",
    "deprecated",
    "obsolete",
    "retired",
    "raised",
    "lowered",
    "changed",
    "renamed",
    "switched",
];
/// Small words that turn an advice around.
const TURNING: [&str; 9] =
    ["not", "no", "never", "without", "don't", "avoid", "disable", "off", "cannot"];
/// Words that stand against each other.
const OPPOSITE: [(&str, &str); 20] = [
    ("always", "never"),
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("on", "off"),
    ("add", "remove"),
    ("before", "after"),
    ("with", "without"),
    ("use", "avoid"),
    ("raise", "lower"),
    ("raising", "lowering"),
    ("increase", "decrease"),
    ("allow", "forbid"),
    ("keep", "delete"),
    ("keep", "drop"),
    ("start", "stop"),
    ("true", "false"),
    ("sync", "async"),
    ("install", "uninstall"),
    ("more", "less"),
    ("must", "may"),
];

/// What a memory says, ready to be held against another.
pub(super) struct Told {
    pub(super) text: String,
    /// The words as they stand, in lower case.
    words: BTreeSet<String>,
    said: Option<Said>,
    /// The terms of the index, once they were asked for.
    pub(super) terms: OnceCell<BTreeSet<Box<str>>>,
    /// What each is worth, and all together, once that was asked for.
    weights: OnceCell<(BTreeMap<Box<str>, f32>, f32)>,
}

impl Told {
    pub(super) fn of(event: &Event) -> Self {
        let text = text_of(event);
        let is_outer = |c: char| !c.is_alphanumeric();
        let words = text.to_lowercase();
        let words = words.split(|c: char| c.is_whitespace() || c == '/');
        let words = words.map(|word| word.trim_matches(is_outer).to_owned());
        let words = words.filter(|word| !word.is_empty()).collect();
        let (terms, weights) = (OnceCell::new(), OnceCell::new());
        Self { text, words, said: Said::by(event), terms, weights }
    }

    fn terms(&self, holders: &mut Holders<'_>) -> &BTreeSet<Box<str>> {
        self.terms.get_or_init(|| alphabetic(holders.terms_of(&self.text)))
    }

    pub(super) fn weights(&self, holders: &mut Holders<'_>) -> &(BTreeMap<Box<str>, f32>, f32) {
        self.weights.get_or_init(|| {
            let terms = self.terms(holders).iter();
            let weighed: BTreeMap<Box<str>, f32> =
                terms.map(|term| (term.clone(), rarity(term, holders))).collect();
            let weight = weighed.values().sum();
            (weighed, weight)
        })
    }

    /// What speaks for a contradiction with what was said later; nothing where they are about other things. Most are
    /// without a sign, which costs least to tell.
    pub(super) fn against(
        &self,
        newer: &Self,
        holders: &mut Holders<'_>,
    ) -> Option<(f32, Vec<Sign>)> {
        let signs = self.signs_against(newer);
        if signs.is_empty() {
            return None;
        }
        Some((self.kinship_with(newer, holders)?, signs))
    }

    /// The share of weighted words that two have in common; nothing where it is too small. Words are looked up one
    /// after the other until that is certain: the weight of all is no less than that of some.
    pub(super) fn kinship_with(&self, newer: &Self, holders: &mut Holders<'_>) -> Option<f32> {
        let (others, other_weight) = newer.weights(holders);
        let terms = self.terms(holders);
        let shared: f32 = terms.iter().filter_map(|term| others.get(term)).sum();
        let share_of = |weight: f32| (shared / weight.min(*other_weight)).min(1.0);
        let mut weight = 0.0;
        for term in terms {
            weight += others.get(term).copied().unwrap_or_else(|| rarity(term, holders));
            if weight >= *other_weight {
                break;
            }
            if weight > 0.0 && share_of(weight) < KINSHIP_MIN {
                return None;
            }
        }
        let kinship = if weight.min(*other_weight) > 0.0 { share_of(weight) } else { 0.0 };
        (kinship >= KINSHIP_MIN).then_some(kinship)
    }

    fn signs_against(&self, newer: &Self) -> Vec<Sign> {
        let repeats = self.said.as_ref().zip(newer.said.as_ref());
        if repeats.is_some_and(|(one, other)| one.is_same_as(other)) {
            return vec![Sign::Repeats];
        }
        let signs = [
            (Sign::Changes, newer.has_any(&CHANGING)),
            (Sign::Negates, self.turns() != newer.turns()),
            (Sign::Opposes, opposes(&self.words, &newer.words)),
            (Sign::Counts, counts_otherwise(&self.words, &newer.words)),
        ];
        signs.into_iter().filter_map(|(sign, is_there)| is_there.then_some(sign)).collect()
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(*word))
    }

    fn turns(&self) -> Vec<&str> {
        TURNING.into_iter().filter(|word| self.words.contains(*word)).collect()
    }
}

/// Terms that are words, not numbers.
pub(super) fn alphabetic(terms: impl IntoIterator<Item = Box<str>>) -> BTreeSet<Box<str>> {
    terms.into_iter().filter(|term| term.contains(char::is_alphabetic)).collect()
}

/// The inverse document frequency of BM25 (S-RANK-1).
fn rarity(term: &str, holders: &mut Holders<'_>) -> f32 {
    let documents = holders.index().len().max(DOCUMENTS_MIN);
    // Numbers of documents: past 16 million an f32 rounds them, and rarity hardly changes.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let (holders, documents) = (holders.documents_with(term) as f32, documents as f32);
    (1.0 + (documents - holders + 0.5).max(0.0) / (holders + 0.5)).ln()
}

fn opposes(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let only = |word: &str, here: &BTreeSet<String>, there: &BTreeSet<String>| {
        here.contains(word) && !there.contains(word)
    };
    OPPOSITE.into_iter().any(|(a, b)| {
        (only(a, one, other) && only(b, other, one)) || (only(b, one, other) && only(a, other, one))
    })
}

/// Tells whether both name numbers, and not the same.
fn counts_otherwise(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let numbers = |words: &BTreeSet<String>| -> BTreeSet<String> {
        words.iter().filter(|word| is_number(word)).cloned().collect()
    };
    let (one, other) = (numbers(one), numbers(other));
    !one.is_empty() && !other.is_empty() && one != other
}

/// A number, a version, or a number with its unit: `90`, `v2.1`, `30s`.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    digits.starts_with(|c: char| c.is_ascii_digit())
        && matches!(unit, "" | "ms" | "s" | "m" | "h" | "d" | "k" | "mb" | "gb")
}

/// What is compared of an event.
fn text_of(event: &Event) -> String {
    let mut text = format!("{} {} {}", event.context, event.lesson, event.command);
    text.truncate(text.floor_char_boundary(COMPARED_BYTES_MAX));
    text
}
