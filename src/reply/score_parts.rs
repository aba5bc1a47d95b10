//! The parts of a score as text and as JSON. Not here: computing them (`search::score`).

use serde_json::{Value, json};

use search::Score;

/// Returns the parts of a score in one line.
pub(super) fn explained(score: &Score) -> String {
    let meaning = score.dense.map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.3}"));
    let tokens = score.late.map(|late| format!(", tokens {late:.3}")).unwrap_or_default();
    format!(
        "likely {:.0} %; score {:.3} = fit {:.3} (words {:.2}, meaning {meaning}{tokens}), repo {:+.3}, recency {:+.3}, success {:+.3}, trust {:+.3}, outdated {:+.3}",
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
    json!((f64::from(score.likelihood) * 1000.0).round() / 1000.0)
}

/// Returns the parts of a score, for programs.
pub(super) fn score_json(score: &Score) -> Value {
    let mut parts = json!({
        "total": score.total, "fit": score.fit, "covered": score.covered, "rarity": score.rarity, "terms": score.terms, "words": score.lexical, "meaning": score.dense,
        "repo": score.repo, "recency": score.recency, "success": score.success, "trust": score.trust, "outdated": score.outdated,
    });
    if let (Some(late), Some(parts)) = (score.late, parts.as_object_mut()) {
        parts.insert("tokens".to_owned(), json!(late));
    }
    parts
}
