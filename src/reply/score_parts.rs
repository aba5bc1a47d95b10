//! The parts of a score as text and as JSON. Not here: computing them (`search::score`).

use serde_json::{Value, json};

use search::Score;

/// Returns the parts of a score in one line.
pub(super) fn explained(score: &Score) -> String {
    let meaning = score.dense.map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.3}"));
    let tokens = score.late.map(|late| format!(", tokens {late:.3}")).unwrap_or_default();
    let reranker = score.reranker.map(|score| format!("; reranker {score:.3}")).unwrap_or_default();
    format!(
        "likely {:.0} %; score {:.3} = fit {:.3} (words {:.2}, meaning {meaning}{tokens}), repo {:+.3}, recency {:+.3}, success {:+.3}, trust {:+.3}, outdated {:+.3}{reranker}",
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
pub(super) fn likelihood(score: &Score) -> Value {
    json!(rounded(score.likelihood, 1e3))
}

/// Rounds a part to a multiple of `1 / units`.
fn rounded(part: f32, units: f64) -> f64 {
    (f64::from(part) * units).round() / units
}

/// Returns the parts of a score, for programs, rounded to four decimal places: scores change as memories age,
/// and smaller changes mean nothing.
pub(super) fn score_json(score: &Score) -> Value {
    let part = |part: f32| rounded(part, 1e4);
    let mut parts = json!({
        "total": part(score.total), "fit": part(score.fit), "covered": part(score.covered), "rarity": part(score.rarity),
        "terms": score.terms, "words": part(score.lexical), "meaning": score.dense.map(part), "repo": part(score.repo),
        "recency": part(score.recency), "success": part(score.success), "trust": part(score.trust),
        "outdated": part(score.outdated),
    });
    for (name, known) in [("tokens", score.late), ("reranker", score.reranker)] {
        if let (Some(known), Some(parts)) = (known, parts.as_object_mut()) {
            parts.insert(name.to_owned(), json!(part(known)));
        }
    }
    parts
}
