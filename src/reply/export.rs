//! Proven memories as lines for an agent file: the most proven that have room, in an order that does not change
//! while they stay. Not here: the file.

use std::sync::Arc;

use super::inert;
use super::line::{MemoryBody, name};
use super::tokens::tokens;
use event::{EventId, Timestamp};
use memory::Memory;

/// Longest line, in bytes: every agent reads it at every start.
const LINE_BYTES: usize = 480;

/// The order: by time, then by id.
type Order<'a> = (Option<Timestamp>, &'a EventId);

/// Returns the lines of as many memories as have room, in the given order, sorted by kind and oldest first, and the
/// number without room.
#[must_use]
pub fn export(memories: &[Arc<Memory>], max_tokens: usize) -> (Vec<String>, usize) {
    let mut room = max_tokens;
    let mut kept: Vec<(&str, Order<'_>, String)> = Vec::new();
    for memory in memories {
        let line = line_of(memory);
        // The line and its end.
        if let Some(left) = room.checked_sub(tokens(&line) + 1) {
            room = left;
            let kind = memory.provenance.kind.as_str();
            kept.push((kind, (memory.timestamp, &memory.id), line));
        }
    }
    kept.sort();
    let left_out = memories.len() - kept.len();
    (kept.into_iter().map(|(_, _, line)| line).collect(), left_out)
}

fn line_of(memory: &Memory) -> String {
    let body = inert::loaded(&MemoryBody::new(memory, &|_| 0.0).shown(LINE_BYTES));
    let kind = name(memory.provenance.kind.as_str());
    format!("- {body} ({kind} {})", memory.id.short())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_memories;
    use super::*;
    use crate::tokens;

    fn memory(id: &str, kind: &str, lesson: &str) -> Arc<Memory> {
        test_memories::memory(
            &json!({ "id": id, "event_type": kind, "lesson": lesson, "context": "builds",
            "timestamp": "2026-01-02T03:04:05Z", "command": "make x" }),
        )
    }

    // S-FILE-5
    #[test]
    fn exported_lines_are_ordered_by_kind_and_time() {
        let one = [
            memory("m2", "decision", "b"),
            memory("m1", "pattern", "a"),
            memory("m3", "decision", "c\nd"),
        ];
        let mut other = one.clone();
        other.reverse();
        let expected = [
            "- builds: b `make x` (decision m2)",
            "- builds: c d `make x` (decision m3)",
            "- builds: a `make x` (pattern m1)",
        ];
        assert_eq!(export(&one, 500), (expected.map(str::to_owned).to_vec(), 0));
        assert_eq!(export(&other, 500).0, expected);
    }

    // S-FILE-5
    #[test]
    fn memories_without_room_are_counted() {
        let many: Vec<_> =
            (0..9).map(|at| memory(&format!("m{at}"), "pattern", &"word ".repeat(200))).collect();
        let (lines, left_out) = export(&many, 300);
        assert!(
            tokens(&lines.join("\n")) <= 300 && left_out == 9 - lines.len() && !lines.is_empty()
        );
    }
}
