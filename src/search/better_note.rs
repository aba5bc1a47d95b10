//! Finds the better of two notes about one subject: a newer one, or one that is far better proven than a note that failed. The
//! other ranks lower and names it, and a newer note takes the place of the note that it outdates. It is looked up in the whole
//! store, so no filter hides that a note is outdated; whether a newer note takes a place depends on whether the outdated one is a hit.
//! Not here: pairs for somebody to judge (`contradictions`), a replacement that somebody stated (`memory::lifecycle`).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::contradictions::{Comparisons, is_comparable};
use super::dedup::DistinctTexts;
use super::hit::{Hit, OutdatedNote, Tier, newest_first};
use super::prior::believed_success;
use super::same_subject::{HitSubjects, is_of_one_session, is_settled, is_task, trust_rank};
use super::score::Score;
use super::subject_memo::{ComparedState, RememberedNotes, RememberedSubjects, SubjectNote};
use crate::snapshot::Snapshot;
use event::{Confidence, EventId, SESSION_RECORD, Timestamp};
use memory::Memory;

/// What a better note takes from the score of a memory. On `benches/lessons` the note that outdates another scores up
/// to 0.25 below it, half of them up to 0.07 below.
const PENALTY: f32 = -0.2;
/// A note that is this much newer outdates one about the same subject.
const NEWER_SECONDS_MIN: i64 = 24 * 3_600;
/// By how much one note must be better proven than another that failed: the difference of their success (`prior`).
const SUCCESS_MARGIN: f32 = 0.25;
/// The longest chain of notes that is followed from an outdated note to the current one.
const CHAIN_MAX: usize = 3;

/// A memory with its number in the snapshot.
type NumberedMemory = (u32, Arc<Memory>);

/// Names the better note of each hit that has one, and takes the penalty from its score. A newer note takes the place of the
/// first hit that it outdates, also where it was no hit itself, unless the query's filter leaves it out (`fits`).
///
/// `hits` are sorted by their score, and so are those afterwards that the reply has room for: others cannot reach them, so their
/// better notes are not looked up. Nor are those of hits that are not wanted, since they are not shown. Returns which hits are of one
/// subject.
pub(super) fn compare(
    snapshot: &Snapshot,
    hits: &mut Vec<Hit>,
    mut room: DistinctTexts,
    now: Timestamp,
    is_wanted: impl Fn(&Hit) -> bool,
    fits: impl Fn(&Memory) -> bool,
) -> HitSubjects {
    let mut own = RememberedSubjects::default();
    let mut held = snapshot.subjects.try_lock();
    let RememberedSubjects { words, notes } = held.as_deref_mut().unwrap_or(&mut own);
    let repos = hits.iter().map(|hit| hit.memory.repo.clone()).collect();
    let comparisons = Comparisons::new(snapshot, &repos, now, words);
    let mut search = BetterNoteSearch { snapshot, now, comparisons, notes };
    let mut current: BTreeMap<u32, (Arc<Memory>, OutdatedNote)> = BTreeMap::new();
    let mut subjects = HitSubjects::default();
    for hit in hits.iter_mut() {
        if room.is_full_above(hit.score.total) {
            break;
        }
        let mut better = None;
        if is_wanted(hit) {
            better = search.better_than(hit.number, &hit.memory);
            let notes = search.notes_of_subject(hit.number, &hit.memory);
            subjects.insert(hit.number, &notes);
        }
        if let Some((number, better)) = better {
            if is_newer(&better, &hit.memory) && fits(&better) {
                let outdated = OutdatedNote {
                    number: hit.number,
                    memory: Arc::clone(&hit.memory),
                    score: hit.score,
                };
                current.entry(number).or_insert_with(|| (Arc::clone(&better), outdated));
            }
            hit.better = Some(better);
            hit.score.outdated = PENALTY;
            hit.score.total += PENALTY;
        }
        if !subjects.has_repeated(hit.number) {
            room.add(hit);
        }
    }
    take_places(hits, current);
    hits.sort_by(best_first);
    subjects
}

/// Returns the newer note that outdates a memory, by the memory's id, for those of `memories` that one outdates.
pub(super) fn newer_notes(
    snapshot: &Snapshot,
    memories: &[&Arc<Memory>],
    now: Timestamp,
) -> BTreeMap<EventId, Arc<Memory>> {
    let mut own = RememberedSubjects::default();
    let mut held = snapshot.subjects.try_lock();
    let RememberedSubjects { words, notes } = held.as_deref_mut().unwrap_or(&mut own);
    let repos = memories.iter().map(|memory| memory.repo.clone()).collect();
    let comparisons = Comparisons::new(snapshot, &repos, now, words);
    let mut search = BetterNoteSearch { snapshot, now, comparisons, notes };
    let wanted: BTreeSet<&EventId> = memories.iter().map(|memory| &memory.id).collect();
    let numbered = (0..).zip(snapshot.memories().iter());
    let wanted =
        numbered.filter(|(_, memory)| repos.contains(&memory.repo) && wanted.contains(&memory.id));
    let newer = wanted.filter_map(|(number, memory)| {
        let (_, better) = search.better_than(number, memory)?;
        is_newer(&better, memory).then(|| (memory.id.clone(), better))
    });
    newer.collect()
}

/// Gives each current note the score of the note that it outdates, if that is higher.
fn take_places(hits: &mut Vec<Hit>, mut current: BTreeMap<u32, (Arc<Memory>, OutdatedNote)>) {
    for hit in hits.iter_mut() {
        if let Some((_, outdated)) = current.remove(&hit.number) {
            take_place(hit, outdated);
        }
    }
    for (number, (memory, outdated)) in current {
        let mut hit = Hit {
            number,
            memory,
            score: Score::default(),
            tier: Tier::Likely,
            duplicates: Vec::new(),
            better: None,
            outdates: None,
        };
        take_place(&mut hit, outdated);
        hits.push(hit);
    }
}

fn take_place(hit: &mut Hit, outdated: OutdatedNote) {
    // Not added, since rounding would make it another score.
    let total = outdated.score.total.max(hit.score.total);
    hit.score.current = total - hit.score.total;
    hit.score.total = total;
    hit.outdates = Some(Box::new(outdated));
}

/// Orders hits by score, equal ones newest first, then by id.
pub(super) fn best_first(a: &Hit, b: &Hit) -> Ordering {
    let by_score = b.score.total.total_cmp(&a.score.total);
    by_score.then_with(|| newest_first(&a.memory, &b.memory))
}

/// The search for better notes.
struct BetterNoteSearch<'a> {
    snapshot: &'a Snapshot,
    now: Timestamp,
    comparisons: Comparisons<'a>,
    notes: &'a mut RememberedNotes,
}

impl BetterNoteSearch<'_> {
    /// Returns the better note about the subject of a memory; of a chain of notes that outdate each other, the last.
    fn better_than(&mut self, number: u32, memory: &Arc<Memory>) -> Option<NumberedMemory> {
        if memory.lifecycle().is_pinned {
            return None;
        }
        let mut last = (number, Arc::clone(memory));
        for _ in 0..CHAIN_MAX {
            let Some(next) = self.next_better(last.0, &last.1) else { break };
            let is_end = !is_newer(&next.1, &last.1);
            last = next;
            if is_end {
                break;
            }
        }
        (last.0 != number).then_some(last)
    }

    /// Returns the better note that is most surely about the same subject.
    fn next_better(&mut self, number: u32, memory: &Arc<Memory>) -> Option<NumberedMemory> {
        let notes = self.notes_of_subject(number, memory);
        let better = notes.into_iter().filter_map(|note| {
            let other = self.snapshot.memory(note.number)?;
            let is_better = is_comparable(other, self.now) && is_better(other, memory, self.now);
            is_better.then(|| (note.odds, note.number, Arc::clone(other)))
        });
        let nearest = better.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
        nearest.map(|(_, number, memory)| (number, memory))
    }

    /// Returns the notes about the subject of a memory, as they are remembered.
    fn notes_of_subject(&mut self, number: u32, memory: &Arc<Memory>) -> Vec<SubjectNote> {
        let state = ComparedState {
            memories: self.snapshot.memories(),
            repos: self.snapshot.repos(),
            embedded: self.snapshot.embedded_count(),
        };
        let known = self.notes.notes_of(memory, &state);
        known.unwrap_or_else(|| {
            let notes = self.comparisons.notes_of_subject(number, memory);
            self.notes.remember(memory, &state, &notes);
            notes
        })
    }
}

/// Tells whether a note is better than another about the same subject. A newer note is, unless it failed and the other is far
/// better proven; no report at all is unknown, not bad. Notes of one session complete each other, who is trusted less does not
/// outdate, and a settled pair stays as it was settled.
fn is_better(other: &Memory, memory: &Memory, now: Timestamp) -> bool {
    let is_guess = other.provenance.confidence == Confidence::Inferred
        && memory.provenance.confidence == Confidence::Stated;
    let is_less_trusted =
        other.is_candidate() || is_guess || trust_rank(other) < trust_rank(memory);
    if other.id == memory.id
        || other.provenance.kind.as_str() == SESSION_RECORD
        || is_of_one_session(other, memory)
        || is_less_trusted
        || is_task(other) != is_task(memory)
        || is_settled(other, memory)
    {
        return false;
    }
    let gain = believed_success(other, now) - believed_success(memory, now);
    if is_newer(other, memory) {
        let is_disproved = has_failed(other) && gain < -SUCCESS_MARGIN;
        return !is_disproved && !other.verdicts().is_stale;
    }
    has_failed(memory) && gain > SUCCESS_MARGIN
}

/// Tells whether a note is at least a day newer than another.
fn is_newer(other: &Memory, memory: &Memory) -> bool {
    other
        .timestamp
        .zip(memory.timestamp)
        .is_some_and(|(other, this)| other.as_second() - this.as_second() >= NEWER_SECONDS_MIN)
}

/// Tells whether anybody reported that it failed or no longer holds.
fn has_failed(memory: &Memory) -> bool {
    let fell_short = memory.evidence().map(event::SuccessRate::counts);
    let verdicts = memory.verdicts();
    verdicts.failed > 0 || verdicts.stale > 0 || fell_short.is_some_and(|(good, all)| good < all)
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
