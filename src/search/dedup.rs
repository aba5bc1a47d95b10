//! Joins hits with the same text: one is shown for all, with the number of times it was learned. Finds hits that are
//! much like a better one, which are only worth a title. Not here: ranking.

use std::collections::BTreeSet;

use super::hit::{Hit, Tier};
use super::near_miss::{LossReason, Losses};
use super::same_subject::{HitSubjects, plain_words};
use event::{Event, EventId};

/// Hits that are compared: more than the longest reply and its repetitions.
const COMPARED_MAX: usize = 60;

/// Hits that repeat none of those shown and have no place: after so many, no more are compared. A repetition of a hit has about
/// its score, so it stands near it, and each comparison reads a text.
const COMPARED_BEHIND_MAX: usize = 12;

/// Longest text that is compared, in bytes. Notes are shorter, and transcripts would slow a search down.
const COMPARED_BYTES_MAX: usize = 3_000;

/// Most hits that are much like a better one: their titles tell that they are there.
const SIMILAR_MAX: usize = 3;

/// The least share of common words of two memories that are much alike (Jaccard index).
const SHARED_MIN: f32 = 0.7;

/// Words that say nothing by their place.
const PLACELESS: [&str; 12] =
    ["the", "a", "an", "of", "to", "in", "on", "at", "is", "are", "and", "it"];

/// Small words that reverse the meaning of a sentence.
const NEGATIONS: [&str; 8] =
    ["not", "no", "never", "without", "off", "disable", "instead", "don't"];

/// Returns the number of hits that [`collapse`] needs for a limit.
pub(super) fn compared_max(limit: usize) -> usize {
    COMPARED_MAX.saturating_add(limit)
}

/// Keeps the best of several hits with the same text, at most `limit` in all. Behind these come, as possible hits, at
/// most three that are much like one of them or are about its subject; with [`SimilarPolicy::Keep`] they are hits like
/// all others.
pub(super) fn collapse(
    hits: Vec<Hit>,
    limit: usize,
    policy: SimilarPolicy,
    subjects: &HitSubjects,
    losses: &mut Losses,
) -> Vec<Hit> {
    // A hit is compared only with hits that are kept: the duplicate of a hit that was cut is cut too.
    let mut kept: Vec<(Hit, Option<TextSignature>)> = Vec::new();
    let mut similar: Vec<(Hit, Option<TextSignature>)> = Vec::new();
    let mut outdated = OutdatedShown::default();
    let mut behind = 0;
    for (place, hit) in hits.into_iter().enumerate() {
        if behind > COMPARED_BEHIND_MAX {
            break;
        }
        let signature = if place < COMPARED_MAX {
            TextSignature::from_event(&hit.memory.event())
        } else {
            None
        };
        if kept.len() >= limit && signature.is_none() {
            if place >= COMPARED_MAX {
                break;
            }
            losses.record_loss(&hit, || LossReason::Limit(limit));
            continue;
        }
        let Some(text_signature) = signature else {
            kept.push((hit, None));
            continue;
        };
        let is_same = |kept: &&mut (Hit, Option<TextSignature>)| {
            kept.1.as_ref().is_some_and(|other| other.is_same_as(&text_signature))
        };
        if let Some((other, _)) = kept.iter_mut().chain(&mut similar).find(is_same) {
            losses.record_loss(&hit, || LossReason::Duplicate(other.memory.id.clone()));
            other.duplicates.push(hit.memory);
            other.duplicates.extend(hit.duplicates);
            continue;
        }
        let is_much_like = |(other, signature): &&(Hit, Option<TextSignature>)| {
            let has_its_words =
                signature.as_ref().is_some_and(|other| other.is_much_like(&text_signature));
            has_its_words || (subjects.repeats(other, &hit) && !outdated.is_first(other, &hit))
        };
        let similar_hit = match policy {
            SimilarPolicy::AsTitles => kept.iter().find(is_much_like),
            SimilarPolicy::Keep => None,
        };
        if let Some((other, _)) = similar_hit {
            if similar.len() >= SIMILAR_MAX {
                losses.record_loss(&hit, || LossReason::Similar(other.memory.id.clone()));
            }
            similar.push((Hit { tier: Tier::Possible, ..hit }, Some(text_signature)));
        } else if kept.len() < limit {
            outdated.show(&hit);
            kept.push((hit, Some(text_signature)));
        } else {
            behind += 1;
            losses.record_loss(&hit, || LossReason::Limit(limit));
        }
    }
    similar.truncate(SIMILAR_MAX);
    kept.into_iter().chain(similar).map(|(hit, _)| hit).collect()
}

/// The notes that are shown with one that they outdate. Whoever reads a newer note sees one older beside it.
#[derive(Default)]
struct OutdatedShown(BTreeSet<EventId>);

impl OutdatedShown {
    /// Tells whether a hit is the first that a kept one outdates.
    fn is_first(&self, kept: &Hit, hit: &Hit) -> bool {
        let is_its_better = hit.better.as_ref().is_some_and(|better| better.id == kept.memory.id);
        is_its_better && !self.0.contains(&kept.memory.id)
    }

    fn show(&mut self, hit: &Hit) {
        self.0.extend(hit.better.as_ref().map(|better| better.id.clone()));
    }
}

/// What becomes of hits that are much like a better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SimilarPolicy {
    /// They are hits like all others.
    Keep,
    /// They are possible hits, which are shown as titles.
    AsTitles,
}

/// The best hits so far of as many texts as a reply has room for. A repetition takes no room, since [`collapse`] joins it.
pub(super) struct DistinctTexts {
    limit: usize,
    policy: SimilarPolicy,
    texts: Vec<TextSignature>,
    /// The scores, the highest first.
    scores: Vec<f32>,
}

impl DistinctTexts {
    pub fn new(limit: usize, policy: SimilarPolicy) -> Self {
        Self { limit, policy, texts: Vec::new(), scores: Vec::new() }
    }

    /// Tells whether all room is taken by hits with at least this score.
    pub fn is_full_above(&self, score: f32) -> bool {
        self.scores.get(self.limit.saturating_sub(1)).is_some_and(|least| *least >= score)
    }

    pub fn add(&mut self, hit: &Hit) {
        let signature = TextSignature::from_event(&hit.memory.event());
        if let Some(text) = signature {
            let is_joined = |other: &TextSignature| match self.policy {
                SimilarPolicy::Keep => other.is_same_as(&text),
                SimilarPolicy::AsTitles => other.is_same_as(&text) || other.is_much_like(&text),
            };
            if self.texts.iter().any(is_joined) {
                return;
            }
            self.texts.push(text);
        }
        let total = hit.score.total;
        self.scores.insert(self.scores.partition_point(|other| *other >= total), total);
    }
}

/// The words of a memory, for comparison.
pub struct TextSignature {
    text: String,
    /// Where the words begin and end, in the order of the text.
    order: Vec<(usize, usize)>,
    /// Each word once, in the order of the hashes.
    words: Vec<SignatureWord>,
    /// The sum of the hashes of the decisive words: another sum is another set.
    decisive: u64,
}

/// A word of the text.
#[derive(Debug, Clone, Copy)]
struct SignatureWord {
    /// Equal words have equal hashes; others hardly ever.
    hash: u64,
    start: usize,
    end: usize,
    /// Whether a difference in this word is one of substance: a number, a name of code, a negation.
    is_decisive: bool,
}

impl TextSignature {
    /// Makes the signature of an event; `None` where its text is too long.
    #[must_use]
    pub fn from_event(event: &Event) -> Option<Self> {
        let bytes = event.context.len() + event.lesson.len() + event.command.len();
        if bytes > COMPARED_BYTES_MAX {
            return None;
        }
        let text = format!("{} {} {}", event.context, event.lesson, event.command).to_lowercase();
        let mut words: Vec<SignatureWord> =
            plain_words(&text).map(|word| SignatureWord::hashed(word, &text)).collect();
        let order = words.iter().map(|word| (word.start, word.end)).collect();
        let text_of = |word: &SignatureWord| text.get(word.start..word.end);
        words
            .sort_unstable_by(|a, b| a.hash.cmp(&b.hash).then_with(|| text_of(a).cmp(&text_of(b))));
        words.dedup_by(|a, b| a.hash == b.hash && text_of(a) == text_of(b));
        let decisive = words.iter().filter(|word| word.is_decisive);
        let decisive = decisive.fold(0, |sum: u64, word| sum.wrapping_add(word.hash));
        Some(Self { text, order, words, decisive })
    }

    /// Tells whether both have the same words in the same order. Case, white space and punctuation around words make
    /// no difference.
    #[must_use]
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.decisive == other.decisive && self.in_order().eq(other.in_order())
    }

    /// Tells whether both differ in a few words only, none of which is a number, a name of code or a negation, and
    /// have the words of both in the same order.
    #[must_use]
    pub fn is_much_like(&self, other: &Self) -> bool {
        self.has_most_words_of(other) && self.shared_in_order(other).eq(other.shared_in_order(self))
    }

    fn in_order(&self) -> impl Iterator<Item = &str> {
        self.order.iter().filter_map(|(start, end)| self.text.get(*start..*end))
    }

    /// Returns the words that `other` has too, in the order of the text, each where it is first.
    fn shared_in_order<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        let words: BTreeSet<&str> = other.in_order().collect();
        let mut seen = BTreeSet::new();
        self.in_order().filter(move |word| {
            !PLACELESS.contains(word) && words.contains(word) && seen.insert(*word)
        })
    }

    fn has_most_words_of(&self, other: &Self) -> bool {
        if self.decisive != other.decisive {
            return false;
        }
        let shared = self.shared_with(other, |_| true);
        let all = self.words.len() + other.words.len() - shared;
        // Words of one event: an f32 holds their number exactly.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let share = if all == 0 { 1.0 } else { shared as f32 / all as f32 };
        let decisive =
            |signature: &Self| signature.words.iter().filter(|word| word.is_decisive).count();
        let count = decisive(self);
        share >= SHARED_MIN
            && count == decisive(other)
            && count == self.shared_with(other, |word| word.is_decisive)
    }

    /// Returns a number that is equal where the decisive words are equal.
    #[must_use]
    pub fn decisive_hash(&self) -> u64 {
        self.decisive
    }

    fn key(&self, word: &SignatureWord) -> (u64, Option<&str>) {
        (word.hash, self.text.get(word.start..word.end))
    }

    /// Counts the words that both have, of those that count.
    fn shared_with(&self, other: &Self, counts: impl Fn(&SignatureWord) -> bool) -> usize {
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

impl SignatureWord {
    /// Hashes a word of `text` with FNV-1a (Fowler, Noll and Vo). Equal hashes are confirmed by the text.
    fn hashed(word: &str, text: &str) -> Self {
        let hash = word.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let start = (word.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let is_decisive = !word.chars().all(char::is_alphabetic) || NEGATIONS.contains(&word);
        Self { hash, start, end: start + word.len(), is_decisive }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::tests::snapshot;
    use super::super::{Query, search};
    use super::*;
    use event::{DecodedLine, Timestamp, codec};

    fn text_signature(context: &str, lesson: &str) -> TextSignature {
        let line = serde_json::json!({"context": context, "lesson": lesson}).to_string();
        let DecodedLine::Event(event) = codec::decode(line.as_bytes(), "api") else { panic!() };
        TextSignature::from_event(&event).unwrap()
    }

    // S-RANK-7
    #[test]
    fn a_few_other_words_are_much_alike_and_not_the_same() {
        let one = text_signature(
            "npm install fails",
            "Check the ownership of the folder before npm install.",
        );
        let other =
            text_signature("npm install fails", "check ownership of the folder before npm install");
        assert!(one.is_much_like(&other) && other.is_much_like(&one));
        assert!(!one.is_same_as(&other) && !other.is_same_as(&one));
        let punctuated = text_signature(
            "NPM install fails!",
            "check the ownership of the folder\n before npm install",
        );
        assert!(one.is_same_as(&punctuated));
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
                let is_decisive = |word: &&String| word.contains(char::is_numeric) || NEGATIONS.contains(&word.as_str());
                set.iter().filter(is_decisive).cloned().collect()
            };
            let (a, b) = (set(&one), set(&other));
            let (shared, all) = (a.intersection(&b).count(), a.union(&b).count());
            let in_order = |text: &str, other: &BTreeSet<String>| {
                let words = text.to_lowercase();
                let words = words.split_whitespace().map(|word| word.trim_matches(['(', ')']).to_owned());
                let mut seen = BTreeSet::new();
                words.filter(|word| !PLACELESS.contains(&word.as_str()) && other.contains(word) && seen.insert(word.clone())).collect::<Vec<_>>()
            };
            let is_alike = 10 * shared >= 7 * all && telling(&a) == telling(&b)
                && in_order(&one, &b) == in_order(&other, &a);
            // An event says something.
            prop_assume!(!a.is_empty() && !b.is_empty());
            prop_assert_eq!(text_signature("", &one).is_much_like(&text_signature("", &other)), is_alike);
        }
    }

    // S-RANK-7
    #[test]
    fn duplicates_do_not_displace_others() {
        let line = |id: String, lesson: &str| json!({"id": id, "lesson": lesson});
        let same = (0..COMPARED_MAX).map(|number| {
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
            let also: Vec<usize> = hits.iter().map(|hit| hit.duplicates.len()).collect();
            let of_one = std::iter::once(COMPARED_MAX - 1);
            let expected: Vec<usize> = of_one.chain(std::iter::repeat(0)).take(limit).collect();
            assert_eq!(also, expected);
        }
    }

    // S-RANK-7
    #[test]
    fn another_number_name_or_direction_is_not_the_same() {
        let one = text_signature(
            "",
            "Always start the local api server on port 8080 before the tests run",
        );
        for lesson in [
            "Always start the local api server on port 9090 before the tests run",
            "Never start the local api server on port 8080 before the tests run",
            "Always start the local api server on port 8080 before the tests run with --watch",
            "Restart the worker",
        ] {
            let other = text_signature("", lesson);
            assert!(!one.is_same_as(&other) && !one.is_much_like(&other), "{lesson}");
        }
    }

    /// Pairs of opposites: each sentence with two names, and the names the other way round.
    fn opposites() -> impl Strategy<Value = (String, String)> {
        let forms = vec![
            "Use {a}, never {b}",
            "{a} merges into {b}",
            "Replace {a} with {b} in the build",
            "Run {a} before {b}",
            "The {a} server calls the {b} server",
            "{a} 2 needs {b} 3",
            "do {a} without {b} on Linux",
        ];
        let names = "[a-z]{2,8}";
        (prop::sample::select(forms), names, names)
            .prop_filter("two names", |(form, a, b)| {
                a != b && !form.to_lowercase().split([' ', ',']).any(|word| word == a || word == b)
            })
            .prop_map(|(form, a, b)| {
                let filled = |a: &str, b: &str| form.replace("{a}", a).replace("{b}", b);
                (filled(&a, &b), filled(&b, &a))
            })
    }

    proptest! {
        // S-RANK-7
        #[test]
        fn opposites_are_neither_the_same_nor_much_alike((one, other) in opposites(), prefix in "([a-z]{1,6} ){0,12}") {
            let [one, other] = [one, other].map(|lesson| text_signature("", &format!("{prefix}{lesson}")));
            prop_assert!(!one.is_same_as(&other));
            prop_assert!(!one.is_much_like(&other));
        }
    }

    // S-RANK-7
    #[test]
    fn the_same_text_of_two_repositories_is_shown_once() {
        let line =
            |id: &str, repo: &str, lesson: &str| json!({"id": id, "repo": repo, "lesson": lesson});
        let lines = [
            line("m1", "api", "the zebra pipe broke while the build was running"),
            line("m2", "web", "The zebra pipe broke, while the build was running."),
            line("m3", "api", "the zebra pipe broke while a build was running"),
        ];
        let found = |min_likelihood: f32| {
            let query = Query { text: "zebra pipe", min_likelihood, ..Query::default() };
            let hits = search(&snapshot(&lines), &query, Timestamp::UNIX_EPOCH, 5);
            hits.iter().map(|hit| (hit.duplicates.len(), hit.tier)).collect::<Vec<_>>()
        };
        assert_eq!(
            found(1e-6),
            [(0, Tier::Likely), (1, Tier::Possible)],
            "a title for what is much alike"
        );
        assert_eq!(found(0.0), [(0, Tier::Likely), (1, Tier::Likely)]);
    }
}
