//! The parts of a score as text and as fields. Not here: computing them (`search::score`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use search::Score;

/// The parts of a score, rounded to four decimal places: scores change as memories age, and smaller changes mean nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// The sum, by which hits are sorted.
    pub total: f64,
    /// Words and meaning together, 0 to 1; with an exact phrase up to a third more.
    pub fit: f64,
    /// The share of the query that its words cover, 0 to 1.
    pub covered: f64,
    /// The sum of the inverse document frequencies of the words that it shares with the query.
    pub rarity: f64,
    /// The number of distinct terms of the query.
    pub terms: usize,
    /// BM25; 0 where no word matches.
    pub words: f64,
    /// Cosine of the meanings, -1 to 1; null without a vector.
    pub meaning: Option<f64>,
    /// What the repository of the caller adds.
    pub repo: f64,
    /// What its age adds or takes.
    pub recency: f64,
    /// What its success so far adds or takes.
    pub success: f64,
    /// What the trust in its source takes.
    pub trust: f64,
    /// What a newer or better proven memory about the same subject takes.
    pub outdated: f64,
    /// What it adds that it stands in the place of a memory that it outdates; absent where it outdates none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<f64>,
    /// How near its tokens are to those of the query, -1 to 1; absent where that was not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    /// What the package of the caller adds; absent where it adds nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<f64>,
    /// What it takes that its branch is not merged here; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<f64>,
    /// What a reranker says, in units of its own; absent where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranker: Option<f64>,
}

impl ScoreParts {
    pub(super) fn from_score(score: &Score) -> Self {
        let part = |part: f32| rounded(part, 1e4);
        Self {
            total: part(score.total),
            fit: part(score.fit),
            covered: part(score.covered),
            rarity: part(score.rarity),
            terms: score.terms,
            words: part(score.lexical),
            meaning: score.dense.map(part),
            repo: part(score.repo),
            recency: part(score.recency),
            success: part(score.success),
            trust: part(score.trust),
            outdated: part(score.outdated),
            current: (score.current > 0.0).then(|| part(score.current)),
            tokens: score.late.map(part),
            package: (score.package > 0.0).then(|| part(score.package)),
            branch: (score.branch < 0.0).then(|| part(score.branch)),
            reranker: score.reranker.map(part),
        }
    }
}

/// Returns the parts of a score in one line.
pub(super) fn explained(score: &Score) -> String {
    let meaning = score.dense.map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.3}"));
    let tokens = score.late.map(|late| format!(", tokens {late:.3}")).unwrap_or_default();
    let current = match score.current > 0.0 {
        true => format!(", current {:+.3}", score.current),
        false => String::new(),
    };
    let branch = match score.branch < 0.0 {
        true => format!(", branch {:+.3}", score.branch),
        false => String::new(),
    };
    let package = match score.package > 0.0 {
        true => format!(", package {:+.3}", score.package),
        false => String::new(),
    };
    let reranker = score.reranker.map(|score| format!("; reranker {score:.3}")).unwrap_or_default();
    format!(
        "likely {:.0} %; score {:.3} = fit {:.3} (words {:.2}, meaning {meaning}{tokens}), repo {:+.3}{package}, recency {:+.3}, success {:+.3}, trust {:+.3}, outdated {:+.3}{current}{branch}{reranker}",
        score.likelihood * 100.0,
        score.total,
        score.fit,
        score.lexical,
        score.repo,
        score.recency,
        score.success,
        score.trust,
        score.outdated
    )
}

/// Returns the likelihood, rounded to thousandths.
pub(super) fn likelihood(score: &Score) -> f64 {
    rounded(score.likelihood, 1e3)
}

/// Rounds a part to a multiple of `1 / units`.
fn rounded(part: f32, units: f64) -> f64 {
    (f64::from(part) * units).round() / units
}
