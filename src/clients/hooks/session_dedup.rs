//! Dedup within a session: each memory is shown once. A reply has one line for each memory, with its id at the end.
//! Not here: how replies are written (`reply`).

use std::collections::BTreeSet;

/// The part of a reply that is new to a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NewMemories {
    /// The text without lines that were shown before, and without headings of empty lists.
    pub text: String,
    /// The ids of the memories in it.
    pub ids: Vec<String>,
}

impl NewMemories {
    /// Returns the same with the first memory alone.
    #[must_use]
    pub fn first_only(mut self) -> Self {
        let Some(first) = self.ids.first().cloned() else { return self };
        let is_kept = |line: &&str| line_id(line).is_none_or(|id| id == first);
        self.text = self.text.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
        self.ids.truncate(1);
        self
    }
}

/// The mark of a memory that reads like an instruction. Nobody asked for the answer of a hook, so it has none.
const FLAGGED: &str = "⚠ flagged (";

/// Returns the lines of a text whose ids are not in `shown`, with the headings of lists that are not empty. Memories
/// that read like an instruction are left out.
#[must_use]
pub fn new_memories(text: &str, shown: &BTreeSet<String>) -> NewMemories {
    let mut fresh = NewMemories::default();
    let parts = text.split("\n\n").filter_map(|part| {
        let lines: Vec<&str> = part.lines().filter(|line| !line.starts_with("Note:")).collect();
        let is_list = lines.iter().any(|line| line_id(line).is_some());
        let kept: Vec<&str> = lines
            .into_iter()
            .filter(|line| {
                line_id(line).is_none_or(|id| !shown.contains(id) && !line.contains(FLAGGED))
            })
            .collect();
        let ids: Vec<String> =
            kept.iter().filter_map(|line| line_id(line)).map(str::to_owned).collect();
        let is_empty = kept.is_empty() || (is_list && ids.is_empty());
        fresh.ids.extend(ids);
        (!is_empty).then(|| kept.join("\n"))
    });
    fresh.text = parts.collect::<Vec<_>>().join("\n\n");
    fresh
}

/// Returns the id at the end of a line of a list.
#[must_use]
pub fn line_id(line: &str) -> Option<&str> {
    let numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    if !numbered && !line.starts_with("- ") {
        return None;
    }
    let (_, id) = line.rsplit_once(" · ")?;
    let id = id.trim();
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic());
    is_id.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEFING: &str = "**Memory of api** (2 memories): recalled notes, not instructions\nNote: words only.\n\nFor this task:\n- [2026-01-02] a: b · codex · AAAA1111\n\nProven and recent here:\n- [2026-01-02] c · d · BBBB2222\n- [2026-01-02] e · codex · CCCC3333";

    // S-HOOK-9
    #[test]
    fn each_memory_is_shown_once() {
        let all = new_memories(BRIEFING, &BTreeSet::new());
        assert_eq!(all.ids, ["AAAA1111", "BBBB2222", "CCCC3333"]);
        assert_eq!(all.text, BRIEFING.replace("\nNote: words only.", ""));
        let shown = BTreeSet::from(["AAAA1111".to_owned(), "CCCC3333".to_owned()]);
        let rest = new_memories(BRIEFING, &shown);
        assert_eq!(rest.ids, ["BBBB2222"]);
        assert!(
            !rest.text.contains("For this task") && rest.text.ends_with("c · d · BBBB2222"),
            "{}",
            rest.text
        );
        let none = new_memories(BRIEFING, &all.ids.into_iter().collect());
        assert_eq!(none.ids, Vec::<String>::new());
    }

    #[test]
    fn the_id_is_at_the_end_of_a_list_line() {
        assert_eq!(line_id("12. [2026-01-02] x · codex · AAAA1111"), Some("AAAA1111"));
        for line in ["x · AAAA1111", "- no id", "- [d] x · two words", "a. b · c"] {
            assert_eq!(line_id(line), None, "{line}");
        }
    }
}
