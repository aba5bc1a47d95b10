//! The score of a whole document of several passages. The best passage alone hides what the rest of a long text says,
//! and the whole text alone hides what one passage says, so ranking uses the mean of both. Not here: finding
//! documents (`search`), which sees passages only.

use super::live_segment::LiveSegment;
use super::postings::{HalfCount, PassageNumber};
use super::query::{PreparedQuery, PreparedTerm};
use super::weight::{CorpusSize, LengthNorm};
use super::{CorpusTotals, DocId};

/// Computes the scores of whole documents for one query.
pub struct WholeScores<'query> {
    query: &'query PreparedQuery<'query>,
    /// Uses the average length of documents, not of passages.
    norm: LengthNorm,
}

impl PreparedQuery<'_> {
    /// Prepares to score whole documents; `None` if each document is one passage, whose score is that of the whole.
    #[must_use]
    pub fn whole_scores(&self) -> Option<WholeScores<'_>> {
        let numbers = self.index.numbers.as_ref();
        let totals = numbers.map_or_else(|| self.index.totals(), |numbers| numbers.totals());
        let CorpusTotals { documents, reply_terms, .. } = totals;
        let corpus = CorpusSize { documents, terms: self.corpus.terms.saturating_sub(reply_terms) };
        (documents < self.corpus.documents)
            .then(|| WholeScores { query: self, norm: corpus.length_norm() })
    }
}

impl WholeScores<'_> {
    /// Returns the BM25 of a document as one text, with the term weights of passages. It is below
    /// [`PreparedQuery::utmost`], and 0 without a match.
    #[must_use]
    pub fn score(&self, doc: DocId) -> f32 {
        let parts = self.query.index.parts.iter().enumerate();
        let score = |(place, part): (usize, &LiveSegment)| {
            let mut locals = part.places_of(doc);
            let (first, last) = (*locals.first()?, *locals.last()?);
            locals.retain(|local| !part.segment.is_reply(*local));
            let sum = |counts: &mut dyn Iterator<Item = HalfCount>| {
                counts.fold(0, HalfCount::saturating_add)
            };
            let length_of =
                |local: &PassageNumber| part.segment.lengths.get(*local as usize).copied();
            let length = sum(&mut locals.iter().filter_map(length_of));
            let added = |term: &PreparedTerm<'_>| {
                let list = term.list(place);
                let said = list
                    .within(first..=last)
                    .filter(|(local, _)| locals.binary_search(local).is_ok());
                let count = sum(&mut said.map(|(_, count)| count));
                term.weight * self.norm.saturated(count, length)
            };
            Some(self.query.by_weight().map(added).sum::<f32>())
        };
        parts.filter_map(score).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::super::Passage;
    use super::super::tests::{all, indexed, put_passages};
    use super::*;

    fn scores(index: &super::super::LexicalIndex, query: &str, docs: u32) -> Vec<f32> {
        let prepared = index.prepare(query);
        let whole = prepared.whole_scores().unwrap();
        (0..docs).map(|doc| whole.score(DocId(doc))).collect()
    }

    // S-RANK-5
    #[test]
    fn a_whole_counts_what_its_passages_say_together() {
        let mut index = indexed([]);
        put_passages(
            &mut index,
            0,
            ["alpha one", "beta two", "gamma three"].map(Passage::from_text).into(),
        );
        put_passages(
            &mut index,
            1,
            ["alpha one", "alpha two", "delta three"].map(Passage::from_text).into(),
        );
        let scores = scores(&index, "alpha beta gamma", 2);
        assert!(scores[0] > scores[1] && scores[1] > 0.0, "{scores:?}");
        assert!(indexed(["alpha", "beta"]).prepare("alpha").whole_scores().is_none());
    }

    // S-RANK-5
    #[test]
    fn a_reply_counts_as_a_passage_but_not_for_the_whole() {
        let mut index = indexed([]);
        let reply = |text: &str| Passage { is_reply: true, ..Passage::from_text(text) };
        put_passages(&mut index, 0, vec![Passage::from_text("alpha"), reply("beta gamma")]);
        put_passages(&mut index, 1, vec![Passage::from_text("beta"), reply("alpha gamma")]);
        assert_eq!(all(&index, "gamma").len(), 2);
        let (alpha, gamma) = (scores(&index, "alpha", 2), scores(&index, "gamma", 2));
        assert!(alpha[0] > 0.0 && alpha[1] <= 0.0, "{alpha:?}");
        assert!(gamma.iter().all(|score| *score <= 0.0), "{gamma:?}");
    }

    proptest! {
        // S-RANK-5
        #[test]
        fn wholes_rank_as_texts_of_one_passage_do(
            texts in prop::collection::vec(prop::collection::vec("(a|b|c|d)x( (a|b|c|d)x){0,4}", 1..5), 2..8),
        ) {
            let (mut parts, mut wholes) = (indexed([]), indexed([]));
            for (doc, passages) in (0..).zip(&texts) {
                put_passages(&mut parts, doc, passages.iter().map(Passage::from_text).collect());
                put_passages(&mut wholes, doc, vec![Passage::from_text(passages.join(" "))]);
            }
            prop_assume!(parts.prepare("ax").whole_scores().is_some());
            let docs = u32::try_from(texts.len()).unwrap();
            let scores = scores(&parts, "ax", docs);
            let found = all(&wholes, "ax");
            let holding = scores.iter().filter(|score| **score > 0.0).count();
            prop_assert_eq!(found.len(), holding);
            for pair in found.windows(2) {
                let [better, worse] = [0, 1].map(|at| scores[pair[at].doc.0 as usize]);
                let order = better.total_cmp(&(worse - 1e-5));
                prop_assert!(order == Ordering::Greater, "{better} {worse}");
            }
        }
    }
}
