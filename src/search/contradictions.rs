//! Finds pairs of memories of one repository that are about one subject and may contradict each other, by words
//! alone. The list is for somebody who can judge. Not here: joining duplicates (`dedup`), what follows from a
//! verdict (`memory::lifecycle`).
//!
//! Two memories are about one subject if they share three tenths of the words of the one that has fewer; each word
//! weighs its inverse document frequency. A pair with a sign is shown if both tell of the same situation too, that is, their
//! contexts share words as well. `benches/contradictions` has labelled pairs: 76 of a hundred shown are right, and 77 of a
//! hundred right ones are shown (`tests/integration/contradictions.rs`).

mod evidence;
mod sign;

pub use sign::ContradictionSign;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::snapshot::Snapshot;
use event::{Event, RepoKey, Timestamp};
use evidence::{ComparedText, alphabetic, text_of};
use index::lexical::{AnalysisCache, DocId, DocumentFrequencies, LexicalIndex};
use memory::{Memory, RepoChunks};

/// Memories with shared words that are compared with one; half as many at a save, which waits for them.
const RELATIVES_MAX: usize = 12;
/// The rarest words of a memory by which related ones are searched: a save waits for this.
const KIN_TERMS_MAX: usize = 16;
/// The same two for a hit of a search, which waits too, and the memories of the whole store that are looked at for it.
const SUBJECT_RELATIVES_MAX: usize = 4;
const SUBJECT_TERMS_MAX: usize = 4;
const SUBJECT_LOOKED_AT_MAX: usize = 48;
/// The newest memories of a repository that are compared with older ones: some seconds of work.
const SCANNED_MAX: usize = 2_000;

/// The least weighted shares of common words of two memories about one subject: of their contexts, which tell the
/// situation, and of their texts. On `benches/lessons`, pairs of which one outdates the other share more than half of the
/// context in three of four cases, and other pairs of a repository with similar texts at most .4 in nine of ten.
const SITUATION_MIN: f32 = 0.45;
const SAME_SUBJECT_MIN: f32 = 0.35;
/// From this share on they say the same, so neither is better.
const SAME_TEXT_MIN: f32 = 0.98;

/// Two memories that may contradict each other.
#[derive(Debug, Clone)]
pub struct Contradiction {
    /// The earlier memory.
    pub older: Arc<Memory>,
    /// The later memory.
    pub newer: Arc<Memory>,
    /// The weighted share of common words, 0 to 1.
    pub kinship: f32,
    /// The signs of a contradiction, at least one.
    pub signs: Vec<ContradictionSign>,
}

/// The pairs that a scan found.
#[derive(Debug, Clone, Default)]
pub struct Contradictions {
    /// The pairs, the most similar first.
    pub pairs: Vec<Contradiction>,
    /// How many memories were compared with older ones.
    pub scanned: usize,
    /// How many memories were not compared, because there are too many.
    pub not_scanned: usize,
}

/// Finds pairs among the active memories of repositories. Pairs that were marked as distinct are left out.
#[must_use]
pub fn contradictions(
    snapshot: &Snapshot,
    repos: &BTreeSet<RepoKey>,
    now: Timestamp,
) -> Contradictions {
    let mut numbers: Vec<u32> = (0..)
        .zip(snapshot.memories().iter())
        .filter(|(_, memory)| repos.contains(&memory.repo) && is_comparable(memory, now))
        .map(|(number, _)| number)
        .collect();
    numbers.sort_by_cached_key(|number| snapshot.memory(*number).map(|memory| age(memory)));
    numbers.reverse();
    let not_scanned = numbers.len().saturating_sub(SCANNED_MAX);
    numbers.truncate(SCANNED_MAX);
    let mut words = AnalysisCache::default();
    let mut comparisons = Comparisons::new(snapshot, repos, now, &mut words);
    let mut pairs: Vec<Contradiction> = Vec::new();
    for number in &numbers {
        pairs.extend(comparisons.with_older(*number));
    }
    pairs.sort_by(|a, b| b.kinship.total_cmp(&a.kinship).then_with(|| ids(a).cmp(&ids(b))));
    Contradictions { pairs, scanned: numbers.len(), not_scanned }
}

/// Finds the memories that a new text would repeat or contradict, with the signs of each, the most similar first. The
/// caller keeps `words` for the next call.
#[must_use]
pub fn contradictions_of(
    snapshot: &Snapshot,
    event: &Event,
    repo: &RepoKey,
    now: Timestamp,
    words: &mut AnalysisCache,
) -> Vec<(Arc<Memory>, Vec<ContradictionSign>)> {
    let repos = snapshot.keys_of(repo);
    let mut comparisons = Comparisons::new(snapshot, &repos, now, words);
    let folder = event.folder();
    // What holds in one package says nothing of the packages beside it.
    let is_beside = |memory: &Memory| {
        memory.folder().zip(folder.as_ref()).is_some_and(|(own, other)| own.is_beside(other))
    };
    let is_here = |memory: &Memory| repos.contains(&memory.repo) && !is_beside(memory);
    let text = ComparedText::from_event(event);
    let relatives = comparisons.relatives(&text, KIN_TERMS_MAX, RELATIVES_MAX / 2, is_here);
    let subject = ComparedSubject::from_event(event);
    let against = |number: u32| {
        let memory = snapshot.memory(number)?;
        let older = comparisons.text_of(number, memory);
        let (kinship, signs) = older.against(&text, &mut comparisons.holders)?;
        let is_shown = comparisons.is_shown(&signs, kinship, number, memory, &subject);
        is_shown.then(|| (kinship, Arc::clone(memory), signs))
    };
    let mut found: Vec<(f32, Arc<Memory>, Vec<ContradictionSign>)> =
        relatives.into_iter().filter_map(against).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    found.into_iter().map(|(_, memory, signs)| (memory, signs)).collect()
}

/// Returns the words by which notes about the subject of a memory are looked up, each with its weight; none where its context
/// is empty, for then nothing is.
#[must_use]
pub fn subject_terms(lexical: &LexicalIndex, memory: &Memory) -> Vec<(Box<str>, f32)> {
    let context = text_of_context(&memory.event());
    let words = context.map(|context| lexical.prepare(&context).by_rarest(SUBJECT_TERMS_MAX));
    words.map_or_else(Vec::new, |words| words.engine_terms())
}

fn text_of_context(event: &Event) -> Option<String> {
    (!event.context.is_empty()).then(|| ComparedText::from_words(event.context.clone()).text)
}

fn ids(pair: &Contradiction) -> (&str, &str) {
    (pair.older.id.as_str(), pair.newer.id.as_str())
}

fn age(memory: &Memory) -> (Option<Timestamp>, String) {
    (memory.timestamp, memory.id.to_string())
}

fn is_comparable(memory: &Memory, now: Timestamp) -> bool {
    !memory.is_inactive(now) && memory.flagged().is_none() && !memory.is_lost()
}

/// The comparisons of one scan.
pub(super) struct Comparisons<'a> {
    snapshot: &'a Snapshot,
    now: Timestamp,
    /// The chunks of memories that hold the repositories.
    chunks: RepoChunks,
    /// The document frequencies of the words so far.
    holders: DocumentFrequencies<'a>,
    texts: BTreeMap<u32, Rc<ComparedText>>,
    subjects: BTreeMap<u32, Rc<ComparedSubject>>,
}

/// What a memory is about.
struct ComparedSubject {
    /// Its context; where that is empty, its whole text.
    situation: ComparedText,
    text: ComparedText,
}

impl ComparedSubject {
    fn from_event(event: &Event) -> Self {
        let text = text_of(event);
        let situation = if event.context.is_empty() { &text } else { &event.context };
        Self {
            situation: ComparedText::from_words(situation.clone()),
            text: ComparedText::from_words(text),
        }
    }
}

impl<'a> Comparisons<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        repos: &BTreeSet<RepoKey>,
        now: Timestamp,
        words: &'a mut AnalysisCache,
    ) -> Self {
        let chunks = snapshot.memories().chunks_of(repos);
        let holders = snapshot.lexical().holders(words);
        Self { snapshot, now, chunks, holders, texts: BTreeMap::new(), subjects: BTreeMap::new() }
    }

    fn with_older(&mut self, number: u32) -> Vec<Contradiction> {
        let Some(newer) = self.snapshot.memory(number).cloned() else { return Vec::new() };
        let text = self.text_of(number, &newer);
        let is_near =
            |memory: &Memory| memory.repo == newer.repo && !memory.is_of_package_beside(&newer);
        let is_older = |memory: &Memory| is_near(memory) && age(memory) < age(&newer);
        let relatives = self.relatives(&text, KIN_TERMS_MAX, RELATIVES_MAX, is_older);
        let mut found = Vec::new();
        for other in relatives {
            let Some(older) = self.snapshot.memory(other).cloned() else { continue };
            let is_settled = older.lifecycle().distinct.contains(&newer.id)
                || newer.lifecycle().distinct.contains(&older.id);
            let against = self.text_of(other, &older).against(&text, &mut self.holders);
            let Some((kinship, signs)) = against.filter(|_| !is_settled) else { continue };
            let subject = self.subject_of(number, &newer);
            if self.is_shown(&signs, kinship, other, &older, &subject) {
                let newer = Arc::clone(&newer);
                found.push(Contradiction { older, newer, kinship, signs });
            }
        }
        found
    }

    /// Tells whether signs are shown: of texts that say the same, always; else where both are about the same subject.
    fn is_shown(
        &mut self,
        signs: &[ContradictionSign],
        kinship: f32,
        number: u32,
        older: &Memory,
        newer: &ComparedSubject,
    ) -> bool {
        if signs.contains(&ContradictionSign::Repeats) {
            return true;
        }
        let older = self.subject_of(number, older);
        let situation = older.situation.kinship_with(&newer.situation, &mut self.holders);
        kinship >= SAME_SUBJECT_MIN && situation.is_some_and(|share| share >= SITUATION_MIN)
    }

    /// Returns the active memory that `allows` and whose situation and text are most like those of a memory, if it is
    /// about the same subject. A memory whose context is empty has no situation.
    pub(super) fn nearest_of_same_subject(
        &mut self,
        number: u32,
        memory: &Memory,
        allows: impl Fn(&Memory) -> bool,
    ) -> Option<Arc<Memory>> {
        let this = self.subject_of(number, memory);
        let has_context = |memory: &Memory| !memory.event().context.is_empty();
        if !has_context(memory) {
            return None;
        }
        let relatives = self.like(&this.situation, allows);
        let mut nearest: Option<(f32, Arc<Memory>)> = None;
        for other in relatives {
            let Some(memory) = self.snapshot.memory(other).cloned() else { continue };
            let that = self.subject_of(other, &memory);
            let situation = that.situation.kinship_with(&this.situation, &mut self.holders);
            if situation.is_none_or(|share| share < SITUATION_MIN) {
                continue;
            }
            let Some(share) = that.text.kinship_with(&this.text, &mut self.holders) else {
                continue;
            };
            let is_nearer = nearest.as_ref().is_none_or(|(best, _)| share > *best);
            if is_nearer && (SAME_SUBJECT_MIN..SAME_TEXT_MIN).contains(&share) {
                nearest = Some((share, memory));
            }
        }
        nearest.map(|(_, memory)| memory)
    }

    fn subject_of(&mut self, number: u32, memory: &Memory) -> Rc<ComparedSubject> {
        let subject = self
            .subjects
            .entry(number)
            .or_insert_with(|| Rc::new(ComparedSubject::from_event(&memory.event())));
        Rc::clone(subject)
    }

    fn text_of(&mut self, number: u32, memory: &Memory) -> Rc<ComparedText> {
        let text = self
            .texts
            .entry(number)
            .or_insert_with(|| Rc::new(ComparedText::from_event(&memory.event())));
        Rc::clone(text)
    }

    /// Returns the active memories that `allows` among those of the whole store that share the most words with a text.
    /// A search among those that it allows would read every memory that shares a word.
    fn like(&mut self, text: &ComparedText, allows: impl Fn(&Memory) -> bool) -> Vec<u32> {
        let words = self.holders.prepare(&text.text);
        text.terms.get_or_init(|| alphabetic(words.terms().map(|term| term.term)));
        let found = words.by_rarest(SUBJECT_TERMS_MAX).search(|_| true, SUBJECT_LOOKED_AT_MAX);
        let found = found.into_iter().map(|scored| scored.doc.0);
        let fits = |number: &u32| {
            let memory = self.snapshot.memory(*number);
            memory.is_some_and(|memory| allows(memory) && is_comparable(memory, self.now))
        };
        found.filter(fits).take(SUBJECT_RELATIVES_MAX).collect()
    }

    /// Returns the active memories that share the most words with a text.
    fn relatives(
        &mut self,
        text: &ComparedText,
        terms_max: usize,
        count: usize,
        allows: impl Fn(&Memory) -> bool,
    ) -> Vec<u32> {
        let words = self.holders.prepare(&text.text);
        text.terms.get_or_init(|| alphabetic(words.terms().map(|term| term.term)));
        let words = words.by_rarest(terms_max);
        let keep = |doc: DocId| {
            let memory = self.snapshot.memory(doc.0);
            memory.is_some_and(|memory| allows(memory) && is_comparable(memory, self.now))
        };
        let may = |doc: DocId| self.chunks.may_hold(doc.0);
        let found = words.search_among(may, keep, count).into_iter();
        found.map(|scored| scored.doc.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::evidence::KINSHIP_MIN;
    use super::*;
    use crate::tests::snapshot;

    fn line(day: u32, repo: &str, lesson: &str) -> Value {
        json!({"id": format!("m{day:02}"), "timestamp": format!("2026-01-{day:02}T00:00:00Z"), "repo": repo,
            "event_type": "fact", "context": "where the walrus gateway listens", "lesson": lesson})
    }

    fn signs(lines: &[Value]) -> Vec<(String, String, Vec<ContradictionSign>)> {
        let repos = BTreeSet::from([RepoKey::parse("api").unwrap()]);
        let found =
            contradictions(&snapshot(lines), &repos, "2026-02-01T00:00:00Z".parse().unwrap());
        let pair = |pair: Contradiction| {
            (pair.older.id.to_string(), pair.newer.id.to_string(), pair.signs)
        };
        found.pairs.into_iter().map(pair).collect()
    }

    fn of_two(older: &str, newer: &str) -> Vec<ContradictionSign> {
        let found = signs(&[line(2, "api", newer), line(1, "api", older)]);
        found.into_iter().next().map(|(_, _, signs)| signs).unwrap_or_default()
    }

    // S-LIFE-9
    #[test]
    fn each_sign_is_seen() {
        assert_eq!(
            of_two("bind it to port 8080", "bind it to port 9090"),
            [ContradictionSign::Counts]
        );
        assert_eq!(
            of_two("keep tracing of the socket", "do not keep tracing of the socket"),
            [ContradictionSign::Negates]
        );
        assert_eq!(
            of_two("enable tracing of the socket", "disable tracing of the socket"),
            [ContradictionSign::Negates, ContradictionSign::Opposes]
        );
        assert_eq!(
            of_two("the socket is /run/a", "the socket moved into the pod"),
            [ContradictionSign::Changes]
        );
        assert_eq!(
            of_two("the socket belongs to the pod", "The socket belongs to the pod."),
            [ContradictionSign::Repeats]
        );
        assert!(of_two("the socket belongs to the pod", "the pod owns its socket").is_empty());
    }

    proptest! {
        // S-LIFE-9
        #[test]
        fn kinship_is_what_all_words_say_however_few_are_looked_up(
            texts in prop::collection::vec("((alpha|beta|gamma|delta|kappa|sigma|omega|port 80) ){0,7}", 2..9),
        ) {
            let lines: Vec<Value> =
                (1..).zip(&texts).map(|(day, text)| line(day, "api", &format!("say {text}"))).collect();
            let (snapshot, mut words) = (snapshot(&lines), AnalysisCache::default());
            let mut holders = snapshot.lexical().holders(&mut words);
            let texts: Vec<ComparedText> =
                snapshot.memories().iter().map(|memory| ComparedText::from_event(&memory.event())).collect();
            for (older, newer) in texts.iter().flat_map(|older| texts.iter().map(move |newer| (older, newer))) {
                let found = older.kinship_with(newer, &mut holders);
                let ((one, one_weight), (other, other_weight)) =
                    (older.weights(&mut holders), newer.weights(&mut holders));
                let both = one.iter().filter(|(term, _)| other.contains_key(*term));
                let shared: f32 = both.map(|(_, weight)| weight).sum();
                let smaller = one_weight.min(*other_weight);
                let plain = if smaller > 0.0 { (shared / smaller).min(1.0) } else { 0.0 };
                prop_assert_eq!(found, (plain >= KINSHIP_MIN).then_some(plain));
            }
        }
    }

    // S-LIFE-9
    #[test]
    fn pairs_are_active_unsettled_and_of_one_repository() {
        let (old, new) = ("bind it to port 8080", "bind it to port 9090");
        assert!(signs(&[line(1, "api", old), line(2, "web", new)]).is_empty());
        let taken_back = json!({"id": "e1", "memory_id": "m01", "event_type": "retract"});
        assert!(signs(&[line(1, "api", old), line(2, "api", new), taken_back]).is_empty());
        for (about, from) in [("m01", "m02"), ("m02", "m01")] {
            let settled = json!({"id": "e1", "memory_id": about, "event_type": "distinct", "distinct_from": from});
            assert!(signs(&[line(1, "api", old), line(2, "api", new), settled]).is_empty());
        }
        let other = json!({"id": "m02", "timestamp": "2026-01-02T00:00:00Z", "repo": "api", "lesson": "the okapi parser has 9 rules"});
        assert!(signs(&[line(1, "api", old), other]).is_empty());
    }
}
