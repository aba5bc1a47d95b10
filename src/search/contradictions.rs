//! Finds pairs of memories of one repository that are about one subject and may contradict each other, by words
//! alone. The list is for somebody who can judge. Not here: joining duplicates (`dedup`), what follows from a
//! verdict (`memory::lifecycle`).
//!
//! Two memories are about one subject if they share three tenths of the words of the one that has fewer; each word
//! weighs its inverse document frequency. A pair with a sign is shown if both tell of the same situation too, that is, their
//! contexts share words as well; or if the newer tells in other words of a change that the older names. `benches/contradictions`
//! has labelled pairs: 75 of a hundred shown are right, and 78 of a hundred right ones are shown
//! (`tests/integration/contradictions.rs`).

mod comparisons;
mod evidence;
mod likeness;
mod sign;

pub use comparisons::subject_terms;
pub(crate) use comparisons::{Comparisons, is_comparable};
pub use sign::ContradictionSign;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::snapshot::Snapshot;
use comparisons::{Rival, age};
use event::{Event, RepoKey, Timestamp};
use index::lexical::AnalysisCache;
use memory::Memory;

/// The newest memories of a repository that are compared with older ones: some seconds of work.
const SCANNED_MAX: usize = 2_000;

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
        let Some(newer) = snapshot.memory(*number) else { continue };
        let older = comparisons.with_older(*number, newer).into_iter();
        pairs.extend(older.map(|Rival { memory: older, kinship, signs }| Contradiction {
            older,
            newer: Arc::clone(newer),
            kinship,
            signs,
        }));
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
    let mut found = comparisons.with_event(event, is_here);
    found.sort_by(|a, b| {
        b.kinship.total_cmp(&a.kinship).then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    found.into_iter().map(|rival| (rival.memory, rival.signs)).collect()
}

fn ids(pair: &Contradiction) -> (&str, &str) {
    (pair.older.id.as_str(), pair.newer.id.as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::evidence::{ComparedText, KINSHIP_MIN};
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

    // S-LIFE-9
    #[test]
    fn the_same_preference_in_two_notes_is_no_contradiction() {
        let prefer = "install the gateway's parts with pnpm rather than npm";
        for again in [
            "for the parts of the gateway use pnpm instead of npm",
            "the gateway's parts: pnpm, not npm",
            "install parts of the gateway with pnpm in place of npm",
        ] {
            assert_eq!(of_two(prefer, again), [], "{again}");
        }
        let other = "install the gateway's parts with bun rather than npm";
        assert_eq!(of_two(prefer, other).len(), 1, "another preference may contradict it");
    }

    // S-LIFE-9
    #[test]
    fn a_change_told_in_other_words_names_the_older_note() {
        let note = |day: u32, context: &str, lesson: &str| {
            let mut line = line(day, "api", lesson);
            line["context"] = context.into();
            line
        };
        let old = note(
            1,
            "adding a feature toggle",
            "Toggles are in Walrusly; create the toggle in the test environment first.",
        );
        let new = "Walrusly was cancelled. Create toggles in Otterleash; the test environment reads them first.";
        let new = note(5, "the admin page showed nothing", new);
        let found = signs(&[old.clone(), new]);
        assert_eq!(found, [("m01".to_owned(), "m05".to_owned(), vec![ContradictionSign::Changes])]);
        let unrelated = note(
            5,
            "the admin page showed nothing",
            "The page was cancelled by the browser; reload it.",
        );
        assert_eq!(signs(&[old, unrelated]), []);
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
