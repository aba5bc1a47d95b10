//! Compares two texts: the signs of a contradiction, and the share of common words. The cheapest test comes first. Not
//! here: which texts are compared (`contradictions`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::sign::ContradictionSign;
use crate::dedup::TextSignature;
use event::Event;
use index::lexical::DocumentFrequencies;

/// The least weighted share of common words of two memories about one subject.
pub(super) const KINSHIP_MIN: f32 = 0.3;
/// The beginning of a text that is compared, in bytes: it names the subject.
const COMPARED_BYTES_MAX: usize = 2_000;
/// The least number of documents for computing rarity, which says little among few.
const DOCUMENTS_MIN: usize = 300;

/// Words of a text which says that something changed.
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
/// Small words that reverse the meaning of a sentence.
const NEGATIONS: [&str; 9] =
    ["not", "no", "never", "without", "don't", "avoid", "disable", "off", "cannot"];
/// Pairs of opposite words.
const OPPOSITES: [(&str, &str); 20] = [
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

/// The text of a memory, prepared for comparison.
pub(super) struct ComparedText {
    pub(super) text: String,
    /// Its words, in lower case.
    words: BTreeSet<String>,
    signature: Option<TextSignature>,
    /// Its terms in the index, computed when needed.
    pub(super) terms: OnceCell<BTreeSet<Box<str>>>,
    /// The weight of each term and their sum, computed when needed.
    weights: OnceCell<(BTreeMap<Box<str>, f32>, f32)>,
}

impl ComparedText {
    pub(super) fn from_event(event: &Event) -> Self {
        let text = text_of(event);
        let is_outer = |c: char| !c.is_alphanumeric();
        let words = text.to_lowercase();
        let words = words.split(|c: char| c.is_whitespace() || c == '/');
        let words = words.map(|word| word.trim_matches(is_outer).to_owned());
        let words = words.filter(|word| !word.is_empty()).collect();
        let (terms, weights) = (OnceCell::new(), OnceCell::new());
        Self { text, words, signature: TextSignature::from_event(event), terms, weights }
    }

    /// Prepares a text for [`Self::kinship_with`] alone.
    pub(super) fn from_words(text: String) -> Self {
        Self {
            text,
            words: BTreeSet::new(),
            signature: None,
            terms: OnceCell::new(),
            weights: OnceCell::new(),
        }
    }

    fn terms(&self, holders: &mut DocumentFrequencies<'_>) -> &BTreeSet<Box<str>> {
        self.terms.get_or_init(|| alphabetic(holders.terms_of(&self.text)))
    }

    pub(super) fn weights(
        &self,
        holders: &mut DocumentFrequencies<'_>,
    ) -> &(BTreeMap<Box<str>, f32>, f32) {
        self.weights.get_or_init(|| {
            let terms = self.terms(holders).iter();
            let weighed: BTreeMap<Box<str>, f32> =
                terms.map(|term| (term.clone(), rarity(term, holders))).collect();
            let weight = weighed.values().sum();
            (weighed, weight)
        })
    }

    /// Returns the share of common words and the signs of a contradiction with a later text; `None` where the subjects
    /// differ or there is no sign. Signs come first, since they cost least and most pairs have none.
    pub(super) fn against(
        &self,
        newer: &Self,
        holders: &mut DocumentFrequencies<'_>,
    ) -> Option<(f32, Vec<ContradictionSign>)> {
        let signs = self.signs_against(newer);
        if signs.is_empty() {
            return None;
        }
        Some((self.kinship_with(newer, holders)?, signs))
    }

    /// Returns the weighted share of common words; `None` where it is too small. Words are looked up one by one until
    /// that is certain, since the weight of all words is no less than that of some.
    pub(super) fn kinship_with(
        &self,
        newer: &Self,
        holders: &mut DocumentFrequencies<'_>,
    ) -> Option<f32> {
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

    fn signs_against(&self, newer: &Self) -> Vec<ContradictionSign> {
        let repeats = self.signature.as_ref().zip(newer.signature.as_ref());
        if repeats.is_some_and(|(one, other)| one.is_much_like(other)) {
            return vec![ContradictionSign::Repeats];
        }
        let signs = [
            (ContradictionSign::Changes, newer.has_any(&CHANGING)),
            (
                ContradictionSign::Negates,
                self.negations().is_empty() != newer.negations().is_empty(),
            ),
            (ContradictionSign::Opposes, opposes(&self.words, &newer.words)),
            (ContradictionSign::Counts, has_other_numbers(&self.words, &newer.words)),
        ];
        signs.into_iter().filter_map(|(sign, is_there)| is_there.then_some(sign)).collect()
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(*word))
    }

    fn negations(&self) -> Vec<&str> {
        NEGATIONS.into_iter().filter(|word| self.words.contains(*word)).collect()
    }
}

/// Returns the terms that contain a letter.
pub(super) fn alphabetic(terms: impl IntoIterator<Item = Box<str>>) -> BTreeSet<Box<str>> {
    terms.into_iter().filter(|term| term.contains(char::is_alphabetic)).collect()
}

/// The inverse document frequency of BM25 (S-RANK-1).
fn rarity(term: &str, holders: &mut DocumentFrequencies<'_>) -> f32 {
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
    OPPOSITES.into_iter().any(|(a, b)| {
        (only(a, one, other) && only(b, other, one)) || (only(b, one, other) && only(a, other, one))
    })
}

/// Tells whether both contain numbers, and these differ.
fn has_other_numbers(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let numbers = |words: &BTreeSet<String>| -> BTreeSet<String> {
        words.iter().filter(|word| is_number(word)).cloned().collect()
    };
    let (one, other) = (numbers(one), numbers(other));
    !one.is_empty() && !other.is_empty() && one != other
}

/// Tells whether a word is a number, a version, or a number with a unit: `90`, `v2.1`, `30s`.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    let unit = digits.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
    digits.starts_with(|c: char| c.is_ascii_digit())
        && matches!(unit, "" | "ms" | "s" | "m" | "h" | "d" | "k" | "mb" | "gb")
}

/// Returns the compared part of an event.
pub(super) fn text_of(event: &Event) -> String {
    let mut text = format!("{} {} {}", event.context, event.lesson, event.command);
    text.truncate(text.floor_char_boundary(COMPARED_BYTES_MAX));
    text
}
