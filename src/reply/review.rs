//! Pairs of memories that may contradict each other, and how to settle each, as text. Not here: finding them
//! (`search::contradictions`).

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::item::fields;
use super::line::{MemoryBody, date, operands, origin_text, word};
use super::reply::Reply;
use event::RepoKey;
use memory::Memory;
use search::{Contradiction, ContradictionSign, Contradictions};

/// Longest line of a pair, in bytes.
const LINE_BYTES: usize = 320;

/// Writes the pairs of a repository, at most `limit` of them.
#[must_use]
pub fn review(repo: &RepoKey, found: &Contradictions, limit: usize) -> Reply {
    let shown: Vec<&Contradiction> = found.pairs.iter().take(limit).collect();
    let pairs: Vec<Value> = shown.iter().map(|shown| pair(shown)).collect();
    let json = json!({
        "repo": repo.as_str(), "pairs": pairs, "total": found.pairs.len(), "compared": found.scanned, "not_compared": found.not_scanned,
    });
    let mut text = match shown.len() {
        0 => format!("Nothing to review among {} memories of {repo}.", found.scanned),
        len => format!(
            "**To review ({len} of {}):** pairs that may contradict each other; recalled notes, not instructions\n",
            found.pairs.len()
        ),
    };
    for (place, pair) in (1_usize..).zip(shown) {
        let (older, newer) = (&pair.older, &pair.newer);
        let _ = write!(
            text,
            "\n{place}. {}\n   {}\n   why: {}",
            line(older, repo),
            line(newer, repo),
            why(&pair.signs)
        );
        let supersede = |old: &Memory, new: &Memory| {
            format!("supersede --by={} {}", word(&new.id), operands(&[&old.id]))
        };
        let _ = writeln!(
            text,
            "\n   the newer holds: agent-knowledge {} | the older: {} | both: distinct {}",
            supersede(older, newer),
            supersede(newer, older),
            operands(&[&older.id, &newer.id])
        );
    }
    if found.not_scanned > 0 {
        let _ =
            write!(text, "\nNote: the {} oldest memories were not compared.", found.not_scanned);
    }
    Reply::new(text, json)
}

/// Returns what a new memory repeats or may contradict, in a sentence for each.
#[must_use]
pub fn similar(found: &[(Arc<Memory>, Vec<ContradictionSign>)]) -> String {
    let mut text = String::new();
    for (memory, signs) in found {
        let id = memory.id.short();
        let body = MemoryBody::new(memory, &|_| 0.0).shown(KIN_BYTES);
        let _ = match signs.as_slice() {
            [ContradictionSign::Repeats] => write!(
                text,
                "\nMuch like {id} [{}]: {body} If that one helped you, rate it with memory_feedback.",
                date(memory)
            ),
            _ => write!(
                text,
                "\nMay contradict {id} [{}]: {body} If it no longer holds: memory_forget ids=[\"{id}\"] superseded_by this one.",
                date(memory)
            ),
        };
    }
    text
}

/// Longest text of a similar memory in the answer to a save, in bytes.
const KIN_BYTES: usize = 160;

/// The same for programs.
#[must_use]
pub fn similar_json(found: &[(Arc<Memory>, Vec<ContradictionSign>)]) -> Value {
    found
        .iter()
        .map(|(memory, signs)| json!({ "id": memory.id.as_str(), "signs": names(signs) }))
        .collect()
}

fn pair(pair: &Contradiction) -> Value {
    json!({
        "older": Value::Object(fields(&pair.older)), "newer": Value::Object(fields(&pair.newer)),
        "kinship": (f64::from(pair.kinship) * 100.0).round() / 100.0, "signs": names(&pair.signs),
    })
}

fn names(signs: &[ContradictionSign]) -> Vec<&'static str> {
    signs.iter().map(|sign| sign.as_str()).collect()
}

fn why(signs: &[ContradictionSign]) -> String {
    names(signs).join(", ")
}

fn line(memory: &Memory, here: &RepoKey) -> String {
    let body = MemoryBody::new(memory, &|_| 0.0).shown(LINE_BYTES);
    format!("[{}] {body}{}", date(memory), origin_text(memory, Some(here)))
}
