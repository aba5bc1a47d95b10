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
/// The clauses of a text in which a change is looked for: a change stands at the beginning.
const CLAUSES_MAX: usize = 24;
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
/// Words that say so only beside the name of what changed: alone they are too common. Words of failures ("stopped", "out", "dead",
/// "denied") are none, since most notes have one.
const CHANGING_A_NAME: [&str; 7] =
    ["left", "ported", "cancelled", "retire", "turned", "dropping", "formerly"];
const ARTICLES: [&str; 4] = ["the", "a", "an", "in"];
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
        let words = words_of(&text).collect();
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

    /// Returns the weighted share of common words of the text that has fewer, 0 to 1.
    pub(super) fn share_with(&self, other: &Self, holders: &mut DocumentFrequencies<'_>) -> f32 {
        let (others, other_weight) = other.weights(holders);
        let (these, weight) = self.weights(holders);
        let shared: f32 = these.keys().filter_map(|term| others.get(term)).sum();
        let smaller = weight.min(*other_weight);
        if smaller > 0.0 { (shared / smaller).min(1.0) } else { 0.0 }
    }

    /// Returns the number of its distinct words.
    pub(super) fn len(&self, holders: &mut DocumentFrequencies<'_>) -> usize {
        self.terms(holders).len()
    }

    /// Returns the share of common words of the text that has more, 0 to 1; 0 also where their numbers differ.
    pub(super) fn mutual_share_with(
        &self,
        other: &Self,
        holders: &mut DocumentFrequencies<'_>,
    ) -> f32 {
        let numbers = |text: &str| words_of(text).filter(|word| is_number(word)).collect();
        let (own, others): (BTreeSet<String>, BTreeSet<String>) =
            (numbers(&self.text), numbers(&other.text));
        if own != others {
            return 0.0;
        }
        let larger = self.weights(holders).1.max(other.weights(holders).1);
        let smaller = self.weights(holders).1.min(other.weights(holders).1);
        if larger > 0.0 { self.share_with(other, holders) * smaller / larger } else { 0.0 }
    }

    /// Tells whether it has a word, other than a number and one of a change, that a text lacks.
    pub(super) fn has_word_beyond(
        &self,
        text: &Self,
        holders: &mut DocumentFrequencies<'_>,
    ) -> bool {
        let (known, _) = text.weights(holders);
        let own = words_of(&self.text).filter(|word| !is_changing(word));
        let terms = alphabetic(own.flat_map(|word| holders.terms_of(&word)));
        terms.iter().any(|term| !known.contains_key(term))
    }

    /// Returns the rarity of what this text says to have changed, if an older text has it: a name in a clause with a word of a
    /// change, or the less rare of two words in it. 0 where there is none: one common word says nothing.
    pub(super) fn change_of(&self, older: &Self, holders: &mut DocumentFrequencies<'_>) -> f32 {
        let (known, _) = older.weights(holders);
        let is_end = |c: char| matches!(c, '.' | ';' | ':' | '!' | '?' | '\n');
        let mut most: f32 = 0.0;
        for clause in self.text.split(is_end).take(CLAUSES_MAX) {
            if !words_of(clause).any(|word| is_changing(&word)) {
                continue;
            }
            let mut shared: Vec<f32> = Vec::new();
            for word in clause.split_whitespace() {
                let terms = holders.terms_of(word).into_iter();
                let rarities = terms
                    .filter(|term| !is_changing(term))
                    .filter_map(|term| known.get(&term).copied());
                let rarity = rarities.fold(0.0, f32::max);
                if rarity > 0.0 && is_name(word) {
                    most = most.max(rarity);
                }
                shared.push(rarity);
            }
            shared.sort_by(|a, b| b.total_cmp(a));
            most = most.max(shared.get(1).copied().unwrap_or(0.0));
        }
        most
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

    /// Tells whether both prefer the same to the same.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        !preferences(&self.text).is_disjoint(&preferences(&other.text))
    }

    fn signs_against(&self, newer: &Self) -> Vec<ContradictionSign> {
        let repeats = self.signature.as_ref().zip(newer.signature.as_ref());
        if repeats.is_some_and(|(one, other)| one.is_much_like(other)) {
            return vec![ContradictionSign::Repeats];
        }
        let agrees = self.agrees_with(newer);
        let signs = [
            (ContradictionSign::Changes, newer.has_any(&CHANGING)),
            (
                ContradictionSign::Negates,
                self.negations().is_empty() != newer.negations().is_empty(),
            ),
            (ContradictionSign::Opposes, opposes(&self.words, &newer.words)),
            (ContradictionSign::Counts, has_other_numbers(&self.words, &newer.words)),
        ];
        let signs = signs.into_iter().filter_map(|(sign, is_there)| is_there.then_some(sign));
        // "pnpm instead of npm" and "pnpm rather than npm" have words of a change and of a negation, and say the same.
        signs.filter(|sign| !agrees || *sign == ContradictionSign::Counts).collect()
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(*word))
    }

    fn negations(&self) -> Vec<&str> {
        NEGATIONS.into_iter().filter(|word| self.words.contains(*word)).collect()
    }
}

/// Returns the words of a text, in lower case.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| c.is_whitespace() || c == '/');
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty())
}

/// Tells whether a word says that something changed.
fn is_changing(word: &str) -> bool {
    CHANGING.contains(&word) || CHANGING_A_NAME.contains(&word)
}

/// Tells whether a word looks like a name: it begins with a capital, or has a digit or a sign of code inside.
fn is_name(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    word.starts_with(|c: char| c.is_uppercase() || c == '/')
        || word.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | '.' | '/' | '-'))
}

/// What a text prefers, and to what: the names beside "instead of", "rather than", ", not" and their like, in lower case.
fn preferences(text: &str) -> BTreeSet<(String, String)> {
    let words: Vec<String> = words_of(text).filter(|word| !ARTICLES.contains(&&**word)).collect();
    let mut found = BTreeSet::new();
    for (place, pair) in words.windows(2).enumerate() {
        let [first, second] = pair else { continue };
        let len = match (&**first, &**second) {
            ("instead" | "place", "of") | ("rather", "than") => 2,
            ("not" | "over", _) => 1,
            _ => continue,
        };
        let preferred = place.checked_sub(1).and_then(|before| words.get(before));
        let rejected = words.get(place.saturating_add(len));
        found.extend(preferred.cloned().zip(rejected.cloned()));
    }
    found
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

fn opposes(left: &BTreeSet<String>, right: &BTreeSet<String>) -> bool {
    let only = |word: &str, words: &BTreeSet<String>, other_words: &BTreeSet<String>| {
        words.contains(word) && !other_words.contains(word)
    };
    OPPOSITES.into_iter().any(|(a, b)| {
        (only(a, left, right) && only(b, right, left))
            || (only(b, left, right) && only(a, right, left))
    })
}

/// Tells whether both contain numbers, and these differ.
fn has_other_numbers(left: &BTreeSet<String>, right: &BTreeSet<String>) -> bool {
    let numbers = |words: &BTreeSet<String>| -> BTreeSet<String> {
        words.iter().filter(|word| is_number(word)).cloned().collect()
    };
    let (left, right) = (numbers(left), numbers(right));
    !left.is_empty() && !right.is_empty() && left != right
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
