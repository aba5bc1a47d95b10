//! Memories to choose from, one short line each: what to do before what happened, then the origin. Not here: a page of
//! memories (`item`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::inert;
use super::line::{date, mark, name};
use super::reply::Reply;
use guard::disclosure::DisclosureOccasion;
use memory::Memory;

/// Longest lesson, and longest context, in bytes: a terminal shows no more in one line.
const TEXT_BYTES_MAX: usize = 200;

/// Writes the lines of those that may be shown so. The texts are neutralised, and no memory holds a secret.
#[must_use]
pub fn outline(memories: &[&Arc<Memory>], total: usize, how: DisclosureOccasion) -> Reply {
    let shown = memories.iter().filter(|memory| !memory.is_left_out(how));
    let lines: Vec<Value> = shown.map(|memory| line(memory)).collect();
    let held_back = memories.len() - lines.len();
    let json = json!({ "memories": lines, "total": total, "held_back": held_back });
    Reply { text: String::new(), json }
}

fn line(memory: &Memory) -> Value {
    let event = memory.event();
    let texts = [&event.lesson, &event.context].map(|text| short(text));
    let said: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    let (repo, kind) = (name(memory.repo.short_name()), name(event.event_type.as_str()));
    let tags: String = event.tags.iter().take(4).map(|tag| format!(" #{}", name(tag))).collect();
    let text = format!("{}{} · {repo} {kind}{tags}", mark(memory), said.join(" · "));
    json!({ "id": memory.id.as_str(), "day": date(memory), "text": text })
}

fn short(text: &str) -> String {
    let begin = text.get(..text.floor_char_boundary(2 * TEXT_BYTES_MAX)).unwrap_or_default();
    let mut text = inert::text(begin);
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_memories;

    // S-PICK-1
    #[test]
    fn a_line_has_the_fix_first_and_no_commands() {
        let line = json!({ "id": "m1", "timestamp": "2026-01-02T03:04:05Z", "repo": "api",
            "event_type": "error", "lesson": "bind port 0\n\u{1B}[31m", "context": "x".repeat(9_000),
            "tags": ["ci", "net"] });
        let memory = test_memories::memory(&line);
        let json = outline(&[&memory], 7, DisclosureOccasion::Listed).json;
        let text = json["memories"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("bind port 0 · xxx") && text.len() < 500, "{text}");
        assert!(text.ends_with(" · api error #ci #net"), "{text}");
        assert_eq!(
            (&json["memories"][0]["day"], &json["total"]),
            (&"2026-01-02".into(), &7.into())
        );
    }
}
