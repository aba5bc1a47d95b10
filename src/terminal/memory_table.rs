//! The memories of `list` as a person reads them on a terminal: a table, one line for each memory, the fix before the problem. Not
//! here: the answer that everybody else gets (`reply`).

use crate::screen::{cut, width};
use event::EventId;
use guard::text::{Layout, neutralise};
use reply::{EventFields, PageAnswer};

/// Letters of a time that are its day.
const DAY_LETTERS: usize = 10;
/// Columns of a cell that may be long, at most.
const CELL_COLUMNS_MAX: usize = 16;
/// Columns of a lesson at least: on a narrow terminal its line is longer than the terminal.
const LESSON_COLUMNS_MIN: usize = 20;
const GAP: &str = "  ";
const HEAD: [&str; 5] = ["ID", "DAY", "KIND", "REPOSITORY", "WHO"];
const LESSON: &str = "LESSON";

/// Returns the table of an answer of `list`, in lines of this width; `None` where it has no memories.
pub fn table(page: &PageAnswer, columns: usize) -> Option<String> {
    if page.list.memories.is_empty() {
        return None;
    }
    let memories = page.list.memories.iter().map(|memory| &memory.event);
    let rows: Vec<([String; 5], String)> = memories.map(row).collect();
    let head = (HEAD.map(str::to_owned), LESSON.to_owned());
    let mut widths = [0; 5];
    for (cells, _) in std::iter::once(&head).chain(&rows) {
        for (most, cell) in widths.iter_mut().zip(cells) {
            *most = width(cell).max(*most);
        }
    }
    let used_columns: usize = widths.iter().map(|most| most + GAP.len()).sum();
    let room = columns.saturating_sub(used_columns).max(LESSON_COLUMNS_MIN);
    let lines = std::iter::once(&head).chain(&rows).map(|(cells, lesson)| {
        let cells = cells.iter().zip(widths).map(|(cell, most)| {
            let spaces = " ".repeat(most.saturating_sub(width(cell)));
            format!("{cell}{spaces}{GAP}")
        });
        format!("{}{}", cells.collect::<String>(), cut(lesson, room))
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    for notice in &page.list.notices {
        text.push_str(&format!("\n\n{}", neutralise(notice, Layout::Line)));
    }
    if let Some(next) = &page.next {
        let (total, how) = (page.total, reply::next_page_of_command(next));
        text.push_str(&format!("\n\n{} of {total}. The next page: {how}", rows.len()));
    }
    Some(text)
}

/// Returns the cells of a memory and its lesson.
fn row(memory: &EventFields) -> ([String; 5], String) {
    let of = |text: &str| neutralise(text, Layout::Line);
    let some = |text: &str, count: usize| text.chars().take(count).collect::<String>();
    let id = of(&memory.id);
    let short = EventId::foreign(&id).map_or_else(|| id.clone(), |id| id.short().to_owned());
    let repo = of(&memory.repo);
    let repo = repo.rsplit('/').next().unwrap_or(&repo);
    let why = memory.flagged.as_deref().map(of);
    let mark = why.map_or_else(String::new, |why| format!("⚠ flagged ({why}): "));
    let texts = [&memory.lesson, &memory.context, &memory.command].map(|text| of(text));
    let text = texts.into_iter().find(|text| !text.is_empty());
    let cells = [
        short,
        some(&of(memory.timestamp.as_deref().unwrap_or_default()), DAY_LETTERS),
        cut(&of(&memory.event_type), CELL_COLUMNS_MAX),
        cut(repo, CELL_COLUMNS_MAX),
        cut(&of(&memory.agent_id), CELL_COLUMNS_MAX),
    ];
    (cells, format!("{mark}{}", text.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // S-COLOR-3
    #[test]
    fn a_table_has_one_line_per_memory() {
        let long = "bind port 0 and read it back, because fixed ports collide between jobs";
        let json = json!({ "memories": [
            { "id": "01M8BH1KYYFKJVXTRCQ4ZKGN8W", "timestamp": "2026-11-26T08:55:07Z", "agent_id": "Ada",
              "repo": "github.com/acme/web", "event_type": "error", "lesson": long },
            { "id": "01M8BH1KYADFYKWCK2JRE3N9TM", "timestamp": "2026-11-25T08:55:07Z", "agent_id": "codex",
              "repo": "東京", "event_type": "decision", "lesson": "", "context": "a\n\u{1b}[2Jb", "flagged": "order" },
        ], "total": 9, "next": "here" });
        let page = |json| serde_json::from_value(json).unwrap();
        let text = table(&page(json), 72).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "ID        DAY         KIND      REPOSITORY  WHO    LESSON");
        assert!(
            lines[1].starts_with("Q4ZKGN8W  2026-11-26  error     web         Ada    bind port 0")
        );
        assert!(lines[1].ends_with('…') && width(lines[1]) <= 72, "{}", lines[1]);
        let second = "JRE3N9TM  2026-11-25  decision  東京        codex  ⚠ flagged (order): a b";
        assert!(second.starts_with(lines[2].trim_end_matches('…')), "{}", lines[2]);
        assert_eq!(
            lines[3..],
            ["", "2 of 9. The next page: the same command with --cursor 'here'"]
        );
        assert_eq!(table(&page(json!({ "memories": [], "total": 0 })), 80), None);
    }
}
