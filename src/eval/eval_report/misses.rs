//! Missed documents, as text and JSON. Not here: finding the reasons (`eval::misses`).

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::misses::{DocumentScores, Miss, MissReason};
use guard::text::{Layout, neutralise};

/// Characters of a query that a report repeats.
const QUERY_CHARS: usize = 160;

/// Counts the misses by reason and explains the first ones.
pub(super) fn misses_text(misses: &[Miss], count: usize) -> String {
    let mut text = format!("  missed: {}", misses.len());
    for (why, times) in by_reason(misses) {
        let _ = write!(text, ", {} {times}", why.name());
    }
    text.push('\n');
    for miss in misses.iter().take(count) {
        let asked = neutralise(&miss.text, Layout::Line);
        let asked: String = asked.chars().take(QUERY_CHARS).collect();
        let _ = writeln!(text, "  {}: {asked}\n    {}", miss.query, miss.why.name());
        side(&mut text, "missed", &miss.missed);
        if let Some(fifth) = &miss.fifth {
            side(&mut text, "fifth", fifth);
        }
    }
    text
}

fn side(text: &mut String, name: &str, side: &DocumentScores) {
    let rank = side.rank.map_or("not ranked".to_owned(), |rank| format!("rank {rank}"));
    let _ = write!(text, "    {name:6} {} ({rank}", neutralise(&side.document, Layout::Line));
    for (part, value) in &side.score {
        match value.as_f64() {
            Some(value) => {
                let _ = write!(text, ", {part} {value:.3}");
            }
            None => {
                let _ = write!(text, ", {part} -");
            }
        }
    }
    if let (None, Some(cosine)) = (side.rank, side.cosine) {
        let _ = write!(text, ", meaning {cosine:.3}");
    }
    let matched: Vec<String> =
        side.matched.iter().map(|(term, score)| format!("{term} {score:.1}")).collect();
    let missing: Vec<String> =
        side.missing.iter().map(|(term, count)| format!("{term} ({count})")).collect();
    let _ = writeln!(text, ")\n           holds {}; lacks {}", list(&matched), list(&missing));
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

/// Returns all misses, and the number for each reason.
pub(super) fn misses_json(misses: &[Miss]) -> Value {
    let reasons: Map<String, Value> =
        by_reason(misses).map(|(why, count)| (why.name().to_owned(), count.into())).collect();
    let one = |miss: &Miss| {
        json!({
            "query": miss.query, "text": miss.text, "document": miss.document, "why": miss.why.name(),
            "missed": miss.missed.json(), "fifth": miss.fifth.as_ref().map(DocumentScores::json),
        })
    };
    json!({ "reasons": reasons, "queries": misses.iter().map(one).collect::<Vec<_>>() })
}

fn by_reason(misses: &[Miss]) -> impl Iterator<Item = (MissReason, usize)> {
    let count = |why: MissReason| misses.iter().filter(|miss| miss.why == why).count();
    MissReason::ALL.into_iter().map(move |why| (why, count(why))).filter(|(_, count)| *count > 0)
}
