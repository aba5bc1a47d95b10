//! Joins the hits of this machine with those of another source. Scores are absolute, so joining is sorting. Not here: finding
//! either.

use std::collections::BTreeSet;

use event::EventId;
use memory::Version;

use super::better_note;
use super::dedup::{self, SimilarPolicy};
use super::hit::{Hit, Tier};
use super::near_miss::Losses;
use super::pipeline::POSSIBLE_MAX;
use super::query::Query;
use super::same_subject::HitSubjects;
use super::snapshot::Snapshot;

/// The number of a hit that is not in the snapshot of this machine.
const ELSEWHERE: u32 = u32::MAX;

/// Returns the best of two lists of hits of one query, at most `limit` likely ones and three possible ones. Of a memory that
/// this machine has, only ours counts: where it is no hit here, it may have been forgotten or disproved.
#[must_use]
pub fn merge_hits(
    own: Vec<Hit>,
    others: Vec<Hit>,
    snapshot: &Snapshot,
    query: &Query<'_>,
    limit: usize,
) -> Vec<Hit> {
    let ids: BTreeSet<&EventId> = others.iter().map(|other| &other.memory.id).collect();
    let known: Vec<Version> = (snapshot.memories().iter())
        .filter(|memory| ids.contains(&memory.id))
        .map(|memory| memory.version())
        .collect();
    let is_ours = |other: &Hit| {
        let theirs = other.memory.version();
        let is_same = |ours: &Version| ours.content_digest() == theirs.content_digest();
        known.iter().any(|ours| ours.event.id == theirs.event.id && is_same(ours))
    };
    let others: Vec<Hit> = others.into_iter().filter(|other| !is_ours(other)).collect();
    let others = others.into_iter();
    let others: Vec<Hit> = others.map(|hit| Hit { number: ELSEWHERE, ..hit }).collect();
    if others.is_empty() {
        return own;
    }
    let mut hits: Vec<Hit> = own.into_iter().chain(others).collect();
    hits.sort_by(better_note::best_first);
    let similar = match query.min_likelihood > 0.0 {
        true => SimilarPolicy::AsTitles,
        false => SimilarPolicy::Keep,
    };
    let mut hits =
        dedup::collapse(hits, limit, similar, &HitSubjects::default(), &mut Losses::default());
    hits.sort_by_key(|hit| hit.tier == Tier::Possible);
    let likely_len = hits.iter().filter(|hit| hit.tier == Tier::Likely).count();
    hits.truncate(likely_len + POSSIBLE_MAX);
    hits
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{now, snapshot};
    use super::*;

    fn hits(lines: &[Value], query: &Query<'_>) -> Vec<Hit> {
        super::super::search(&snapshot(lines), query, now(), 5)
    }

    // S-CORPUS-9
    #[test]
    fn hits_of_two_sources_are_one_list() {
        let line = |id: &str, lesson: &str| json!({"id": id, "repo": "api", "lesson": lesson, "source": "agent"});
        let both = line("b", "the walrus needs kubernetes");
        let ours = [line("a", "the walrus is slow in spring"), both.clone()];
        let theirs = [both, line("c", "walrus"), line("a", "another walrus under the same id")];
        let query = Query { text: "walrus", ..Query::default() };
        let own_snapshot = snapshot(&ours);
        let join =
            |query| merge_hits(hits(&ours, query), hits(&theirs, query), &own_snapshot, query, 5);
        let joined = join(&query);
        let mut ids: Vec<&str> = joined.iter().map(|hit| hit.memory.id.as_str()).collect();
        let totals: Vec<f32> = joined.iter().map(|hit| hit.score.total).collect();
        assert!(totals.is_sorted_by(|better, worse| better >= worse), "{totals:?}");
        ids.sort_unstable();
        assert_eq!(ids, ["a", "a", "b", "c"], "a memory that both have comes once");
        let ours = joined.iter().filter(|hit| hit.number != ELSEWHERE);
        assert_eq!(ours.count(), 2);
    }

    // S-CORPUS-9
    #[test]
    fn what_was_forgotten_here_stays_forgotten() {
        let line = json!({"id": "a", "repo": "api", "lesson": "the walrus needs kubernetes", "source": "agent"});
        let forget = json!({"id": "f", "repo": "api", "event_type": "retract", "memory_id": "a", "source": "agent"});
        let query = Query { text: "walrus", ..Query::default() };
        let ours = [line.clone(), forget];
        assert!(hits(&ours, &query).is_empty());
        let theirs = hits(&[line], &query);
        assert_eq!(theirs.len(), 1);
        assert!(merge_hits(Vec::new(), theirs, &snapshot(&ours), &query, 5).is_empty());
    }
}
