//! Finds the better of two notes about one subject: a newer one, or one that is far better proven. The other ranks lower
//! and names it. It is looked up in the whole store, so no filter and no other hit changes the order of two memories.
//! Not here: pairs for somebody to judge (`contradictions`), a replacement that somebody stated (`memory::lifecycle`).

use std::cmp::Ordering;
use std::sync::Arc;

use super::contradictions::Comparisons;
use super::dedup::DistinctTexts;
use super::hit::{Hit, newest_first};
use super::prior::believed_success;
use crate::snapshot::Snapshot;
use event::Timestamp;
use index::lexical::AnalysisCache;
use memory::Memory;

/// What a better note takes from the score of a memory. On `benches/lessons` the note that outdates another scores up
/// to 0.25 below it, half of them up to 0.07 below.
const PENALTY: f32 = -0.2;
/// A note that is this much newer outdates one that is not better proven.
const NEWER_SECONDS_MIN: i64 = 24 * 3_600;
/// By how much one note must be better proven than another: the difference of their success (`prior`).
const SUCCESS_MARGIN: f32 = 0.25;

/// Names the better note of each hit that has one, and takes the penalty from its score. `hits` are sorted by their
/// score, and so are those afterwards that the reply has room for: others cannot reach them, so their better notes are not looked up.
/// Nor are those of hits that are not wanted, since they are not shown.
pub(super) fn compare(
    snapshot: &Snapshot,
    hits: &mut [Hit],
    mut room: DistinctTexts,
    now: Timestamp,
    is_wanted: impl Fn(&Hit) -> bool,
) {
    let mut words = AnalysisCache::default();
    let repos = hits.iter().map(|hit| hit.memory.repo.clone()).collect();
    let mut comparisons = Comparisons::new(snapshot, &repos, now, &mut words);
    for hit in hits.iter_mut() {
        if room.is_full_above(hit.score.total) {
            break;
        }
        if is_wanted(hit) {
            hit.better = better_than(hit.number, &hit.memory, &mut comparisons);
        }
        if hit.better.is_some() {
            hit.score.outdated = PENALTY;
            hit.score.total += PENALTY;
        }
        room.add(hit);
    }
    hits.sort_by(best_first);
}

/// Orders hits by score, equal ones newest first, then by id.
pub(super) fn best_first(a: &Hit, b: &Hit) -> Ordering {
    let by_score = b.score.total.total_cmp(&a.score.total);
    by_score.then_with(|| newest_first(&a.memory, &b.memory))
}

fn better_than(
    number: u32,
    memory: &Memory,
    comparisons: &mut Comparisons<'_>,
) -> Option<Arc<Memory>> {
    if memory.lifecycle().is_pinned {
        return None;
    }
    let is_near = |other: &Memory| other.repo == memory.repo && !other.is_of_package_beside(memory);
    let is_better = |other: &Memory| is_near(other) && is_better(other, memory);
    comparisons.nearest_of_same_subject(number, memory, is_better)
}

/// Tells whether a note is better than another about the same subject. Notes of one session complete each other, what
/// others wrote does not outdate one's own, and a settled pair stays as it was settled.
fn is_better(other: &Memory, memory: &Memory) -> bool {
    let session = memory.provenance.session_id.as_deref();
    let is_of_session = session.is_some() && other.provenance.session_id.as_deref() == session;
    let is_outside = other.is_candidate() || other.is_foreign() && !memory.is_foreign();
    let is_settled = memory.lifecycle().distinct.contains(&other.id)
        || other.lifecycle().distinct.contains(&memory.id);
    if other.id == memory.id || is_of_session || is_outside || is_settled {
        return false;
    }
    let gain = believed_success(other) - believed_success(memory);
    let is_newer = other
        .timestamp
        .zip(memory.timestamp)
        .is_some_and(|(other, this)| other.as_second() - this.as_second() >= NEWER_SECONDS_MIN);
    gain > SUCCESS_MARGIN || is_newer && gain >= -SUCCESS_MARGIN && !other.verdicts().is_stale
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::query::Query;
    use super::super::testing::{now, snapshot};
    use super::super::{Filter, search};
    use super::*;

    /// Two notes about one subject, 40 days apart, among others. `older` and `newer` are added to their fields.
    fn notes(older: Value, newer: Value) -> Vec<Value> {
        let note = |id: &str, day: &str, lesson: &str, more: Value| {
            let mut line = json!({ "id": id, "timestamp": format!("2026-{day}T00:00:00Z"), "lesson": lesson,
                "context": "rate limit of the gateway answers 429" });
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line
        };
        let mut lines = vec![
            note("old", "03-01", "each client may send a hundred requests per second", older),
            note("new", "04-10", "the limit is forty requests per second for each client", newer),
        ];
        lines.extend((0..60).map(|number| {
            json!({ "id": format!("x{number}"), "lesson": format!("otter {number} with the badger") })
        }));
        lines
    }

    /// The hits of "gateway 429": each id with the id of its better note.
    fn found(lines: &[Value]) -> Vec<(String, Option<String>)> {
        let query = Query { text: "gateway answers 429 hundred", ..Query::default() };
        let hits = search(&snapshot(lines), &query, now(), 5);
        let named = |hit: &Hit| {
            let better = hit.better.as_ref().map(|better| better.id.to_string());
            (hit.memory.id.to_string(), better)
        };
        hits.iter().map(named).collect()
    }

    fn ranked(
        first: (&str, Option<&str>),
        second: (&str, Option<&str>),
    ) -> Vec<(String, Option<String>)> {
        let owned = |(id, better): (&str, Option<&str>)| (id.to_owned(), better.map(str::to_owned));
        vec![owned(first), owned(second)]
    }

    // S-RANK-10
    #[test]
    fn a_newer_note_about_the_subject_comes_first() {
        let expected = ranked(("new", None), ("old", Some("new")));
        assert_eq!(found(&notes(json!({}), json!({}))), expected);
    }

    // S-RANK-10
    #[test]
    fn an_older_note_stays_first_if_it_is_far_better_proven() {
        let (proven, disproven) =
            (json!({ "success_rate": "40/40" }), json!({ "success_rate": "1/9" }));
        let expected = ranked(("old", None), ("new", Some("old")));
        assert_eq!(found(&notes(proven, disproven)), expected);
    }

    // S-RANK-10
    #[test]
    fn these_do_not_outdate_a_note() {
        let unmoved = ranked(("old", None), ("new", None));
        for (older, newer) in [
            (json!({ "session_id": "s" }), json!({ "session_id": "s" })),
            (json!({}), json!({ "timestamp": "2026-03-01T12:00:00Z" })),
            (json!({}), json!({ "source": "imported" })),
            (json!({}), json!({ "repo": "github.com/acme/web" })),
            (json!({ "folder": "packages/web" }), json!({ "folder": "packages/api" })),
        ] {
            assert_eq!(found(&notes(older, newer.clone())), unmoved, "{newer}");
        }
        let mut settled = notes(json!({}), json!({}));
        settled.push(json!({ "event_type": "distinct", "id": "d", "memory_id": "old", "distinct_from": "new" }));
        assert_eq!(found(&settled), unmoved);
        let mut pinned = notes(json!({}), json!({}));
        pinned.push(json!({ "event_type": "pin", "id": "p", "memory_id": "old" }));
        assert_eq!(found(&pinned), unmoved);
    }

    // S-RANK-3, S-RANK-10
    #[test]
    fn a_filter_that_hides_the_better_note_changes_no_score() {
        let lines = notes(json!({ "tags": ["a"] }), json!({ "tags": ["b"] }));
        let snapshot = snapshot(&lines);
        let text = "gateway answers 429 hundred";
        let filter = Filter { tags: vec!["a".to_owned()], ..Filter::default() };
        let all = search(&snapshot, &Query { text, ..Query::default() }, now(), 5);
        let some = search(&snapshot, &Query { text, filter, ..Query::default() }, now(), 5);
        let old = all.iter().find(|hit| hit.memory.id.as_str() == "old").unwrap();
        assert_eq!((some.len(), some[0].score), (1, old.score));
        assert!(old.score.outdated < 0.0);
    }
}
