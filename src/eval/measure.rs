//! Turns answers into numbers. Not here: how certain a difference is (`bootstrap`), tables (`eval_report`).
//!
//! Each measure is taken of one query and then averaged over the queries it applies to. With the hits of a
//! query ranked from 1, `rel` the number of its relevant documents, and `g` a document's grade:
//!
//! - R@k: relevant documents among the first k, divided by `rel`.
//! - hit@1: 1 where the first hit is relevant.
//! - MRR: 1 / rank of the first relevant hit among the first ten, else 0 (E. M. Voorhees, "The TREC-8 Question
//!   Answering Track Report", 1999).
//! - nDCG@10: the sum of g / log2(rank + 1) over the first ten hits, divided by the same sum for the best
//!   order there is (K. Järvelin, J. Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques",
//!   TOIS 20(4), 2002, with gains as they are graded).
//! - answered: the share of answerable queries with a likely hit; false: that of unanswerable ones.
//! - full: likely hits of an answerable query, which are shown in full.
//! - likely: of the replies with a relevant document in either tier, the share with one among the likely hits.
//! - stale: the share of queries with stale documents where one stands above the best relevant hit.
//! - div@5: how different the first five hits are: the mean of 1 - |A and B| / |A or B| over their pairs, A and B being
//!   their sets of words (P. Jaccard, "Étude comparative de la distribution florale", 1901).
//! - tokens: of the reply as an agent gets it (five hits, 500 tokens at most), by `o200k_base` or `cl100k_base`,
//!   whichever needs more.

use search::Tier;

/// The answer to a query, judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryAnswer {
    /// The query's id.
    pub id: String,
    /// The query's kind.
    pub kind: Option<String>,
    /// The relevant documents.
    pub relevant: Vec<RelevantDocument>,
    /// The rank of the best stale document, if the query has stale documents.
    pub stale: Option<Option<usize>>,
    /// How many hits were examined.
    pub depth: usize,
    /// How many likely hits the reply had.
    pub returned: usize,
    /// The best tier with a relevant document in the reply.
    pub right: Option<Tier>,
    /// How different the first five hits are, 0 to 1; `None` for fewer than two.
    pub diversity: Option<f64>,
    /// Tokens of the reply.
    pub tokens: usize,
    /// Time from the question to the text of the reply, in microseconds.
    pub micros: u64,
    /// The examined hits, best first.
    pub hits: Vec<ExaminedHit>,
}

/// A hit and whether it is right, for calibration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExaminedHit {
    /// Its grade; 0 for a wrong one.
    pub grade: u32,
    /// The likelihood that it has according to the search, 0 to 1.
    pub likelihood: f64,
    /// The parts of its score, as `--explain` shows them.
    pub score: serde_json::Value,
}

/// A relevant document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelevantDocument {
    /// The grade, from 1.
    pub grade: u32,
    /// The rank, from 1; `None` if the document is not among the examined hits.
    pub rank: Option<usize>,
}

/// The number of hits that every measure except R@1 and R@5 uses.
const TEN: usize = 10;

/// A measure of one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// R@1.
    Recall1,
    /// R@5.
    Recall5,
    /// R@10.
    Recall10,
    /// Whether the first hit is relevant.
    Hit1,
    /// Reciprocal rank.
    Mrr,
    /// nDCG@10.
    Ndcg10,
    /// Whether an answerable query has a likely hit.
    Answered,
    /// Whether an unanswerable query has a likely hit.
    FalseAnswer,
    /// Likely hits of an answerable query.
    Full,
    /// Whether a relevant document in the reply is a likely hit.
    Likely,
    /// Whether a stale document is above the relevant ones.
    StaleAbove,
    /// How different the first five hits are.
    Diversity5,
    /// Tokens of the reply.
    Tokens,
}

impl Measure {
    /// All measures, in the order of reports.
    pub const ALL: [Self; 13] = [
        Self::Recall1,
        Self::Recall5,
        Self::Recall10,
        Self::Hit1,
        Self::Mrr,
        Self::Ndcg10,
        Self::Answered,
        Self::FalseAnswer,
        Self::Full,
        Self::Likely,
        Self::StaleAbove,
        Self::Diversity5,
        Self::Tokens,
    ];

    /// Returns the name of the measure in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recall1 => "R@1",
            Self::Recall5 => "R@5",
            Self::Recall10 => "R@10",
            Self::Hit1 => "hit@1",
            Self::Mrr => "MRR",
            Self::Ndcg10 => "nDCG@10",
            Self::Answered => "answered",
            Self::FalseAnswer => "false",
            Self::Full => "full",
            Self::Likely => "likely",
            Self::StaleAbove => "stale",
            Self::Diversity5 => "div@5",
            Self::Tokens => "tokens",
        }
    }

    /// Computes the measure for one answer; `None` if it does not apply, or too few hits were examined.
    #[must_use]
    pub fn value(self, answer: &QueryAnswer) -> Option<f64> {
        let is_answerable = !answer.relevant.is_empty();
        let deep = |depth: usize| is_answerable && answer.depth >= depth;
        let share = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::Recall1 => deep(1).then(|| recall(answer, 1)),
            Self::Recall5 => deep(5).then(|| recall(answer, 5)),
            Self::Recall10 => deep(TEN).then(|| recall(answer, TEN)),
            Self::Hit1 => deep(1).then(|| share(best(answer) == Some(1))),
            Self::Mrr => deep(TEN).then(|| {
                best(answer).filter(|rank| *rank <= TEN).map_or(0.0, |rank| 1.0 / as_f64(rank))
            }),
            Self::Ndcg10 => deep(TEN).then(|| ndcg(answer)),
            Self::Answered => is_answerable.then(|| share(answer.returned > 0)),
            Self::FalseAnswer => (!is_answerable).then(|| share(answer.returned > 0)),
            Self::Full => is_answerable.then(|| as_f64(answer.returned)),
            Self::Likely => answer.right.map(|tier| share(tier == Tier::Likely)),
            Self::StaleAbove => answer.stale.filter(|_| is_answerable).map(|stale| {
                share(stale.is_some_and(|stale| best(answer).is_none_or(|best| stale < best)))
            }),
            Self::Diversity5 => answer.diversity.filter(|_| deep(5)),
            Self::Tokens => Some(as_f64(answer.tokens)),
        }
    }

    /// Averages the measure over the answers it applies to; `None` if there are none.
    #[must_use]
    pub fn mean(self, answers: &[&QueryAnswer]) -> Option<f64> {
        mean(answers.iter().filter_map(|answer| self.value(answer)))
    }
}

/// Averages numbers; `None` if there are none.
#[must_use]
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_usize);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / as_f64(count))
}

/// Returns the time within which a share of the answers arrived, in milliseconds (nearest rank); 0 without
/// answers.
#[must_use]
pub fn percentile_ms(answers: &[&QueryAnswer], share: f64) -> f64 {
    let mut micros: Vec<u64> = answers.iter().map(|answer| answer.micros).collect();
    micros.sort_unstable();
    let micros = micros.get(nearest_rank(share, micros.len())).copied().unwrap_or(0);
    #[expect(clippy::cast_precision_loss, reason = "a search takes less than 2^52 microseconds")]
    let ms = micros as f64 / 1_000.0;
    ms
}

/// Returns the zero-based index of a percentile among `count` sorted values, by nearest rank.
#[must_use]
pub fn nearest_rank(share: f64, count: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is between 0 and the count"
    )]
    let rank = (share.clamp(0.0, 1.0) * as_f64(count)).ceil() as usize;
    rank.saturating_sub(1)
}

/// Converts a count, which is far below 2^52, to a float.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(super) fn as_f64(count: usize) -> f64 {
    count as f64
}

fn recall(answer: &QueryAnswer, depth: usize) -> f64 {
    let is_found = |judged: &&RelevantDocument| judged.rank.is_some_and(|rank| rank <= depth);
    as_f64(answer.relevant.iter().filter(is_found).count()) / as_f64(answer.relevant.len())
}

fn best(answer: &QueryAnswer) -> Option<usize> {
    answer.relevant.iter().filter_map(|judged| judged.rank).min()
}

fn ndcg(answer: &QueryAnswer) -> f64 {
    let gain = |grade: u32, rank: usize| f64::from(grade) / as_f64(rank + 1).log2();
    let found = answer.relevant.iter().filter_map(|judged| Some((judged.grade, judged.rank?)));
    let gained: f64 =
        found.filter(|(_, rank)| *rank <= TEN).map(|(grade, rank)| gain(grade, rank)).sum();
    let mut grades: Vec<u32> = answer.relevant.iter().map(|judged| judged.grade).collect();
    grades.sort_unstable_by(|a, b| b.cmp(a));
    let best: f64 = (1..=TEN).zip(grades).map(|(rank, grade)| gain(grade, rank)).sum();
    if best > 0.0 { gained / best } else { 0.0 }
}

#[cfg(test)]
mod tests;
