//! Scores every posting of a query: the reference for `search` in tests and benchmarks. Not here: skipping
//! documents.

use super::best_scores::BestScores;
use super::live_segment::LiveSegment;
use super::postings::PassageNumber;
use super::query::PreparedQuery;
use super::weight::LengthNorm;
use super::{DocId, ScoredDocument};

impl PreparedQuery<'_> {
    /// Returns the result of [`PreparedQuery::search`], computed by scoring everything: for tests and benchmarks.
    #[must_use]
    pub fn search_everything(
        &self,
        keep: impl Fn(DocId) -> bool,
        top_k: usize,
    ) -> Vec<ScoredDocument> {
        let norm = self.corpus.length_norm();
        let mut top = BestScores::new(top_k);
        let mut scores = Vec::new();
        for (place, part) in self.index.parts.iter().enumerate() {
            add_up(part, place, self, norm, &mut scores);
            collect(part, &scores, &keep, &mut top);
        }
        top.into_sorted()
    }
}

/// Fills `scores` with the score of every document of `part`: zero for documents without a match.
fn add_up(
    part: &LiveSegment,
    place: usize,
    query: &PreparedQuery<'_>,
    norm: LengthNorm,
    scores: &mut Vec<f32>,
) {
    scores.clear();
    scores.resize(part.segment.docs.len(), 0.0);
    let lengths = &part.segment.lengths;
    for term in query.by_weight() {
        for (local, count) in term.list(place).iter() {
            let local = local as usize;
            if let (Some(score), Some(&length)) = (scores.get_mut(local), lengths.get(local)) {
                *score += term.weight * norm.saturated(count, length);
            }
        }
    }
}

/// Offers the living documents that the filter keeps to `top`, each with the score of its best passage.
fn collect(
    part: &LiveSegment,
    scores: &[f32],
    keep: &impl Fn(DocId) -> bool,
    top: &mut BestScores,
) {
    let mut first: PassageNumber = 0;
    for passages in part.segment.docs.chunk_by(|one, other| one == other) {
        let locals = first
            ..first.saturating_add(
                PassageNumber::try_from(passages.len()).unwrap_or(PassageNumber::MAX),
            );
        first = locals.end;
        let Some(&doc) = passages.first() else { continue };
        let score_of = |local: PassageNumber| scores.get(local as usize).copied().unwrap_or(0.0);
        let living = locals.filter(|local| score_of(*local) > 0.0 && part.is_alive(*local));
        let score = living.map(score_of).fold(0.0, f32::max);
        let scored = ScoredDocument { doc, score };
        if score > 0.0 && top.wants(scored) && keep(doc) {
            top.push(scored);
        }
    }
}
