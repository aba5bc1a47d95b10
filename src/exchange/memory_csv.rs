//! Memories as a table for spreadsheets (RFC 4180). A spreadsheet must not run what an agent wrote, so the table is not
//! made to be read back. Not here: which memories are exported (`api`).

use super::field_names::FIELD_NAMES;
use super::memory_note::texts_of;
use event::{Event, clean, codec};

/// The end of a row.
const ROW_END: &str = "\r\n";
/// What parts the entries of a list in one cell.
const BETWEEN: &str = "; ";
/// What makes a cell a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Returns the first row, which names the columns.
#[must_use]
pub fn header() -> String {
    columns().collect::<Vec<_>>().join(",") + ROW_END
}

/// Returns the row of a memory.
#[must_use]
pub fn row(event: &Event) -> String {
    let fields = codec::fields_of(clean::clean(event.clone()).event());
    let cells = columns().map(|name| cell(&texts_of(&fields, name).join(BETWEEN)));
    cells.collect::<Vec<_>>().join(",") + ROW_END
}

fn columns() -> impl Iterator<Item = &'static str> {
    FIELD_NAMES.into_iter().map(|(name, _)| name)
}

/// A leading quote makes a spreadsheet take the cell as text.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(FORMULA) { "'" } else { "" };
    if guard.is_empty() && !text.contains(['"', ',', '\n', '\r']) && text.trim() == text {
        return text.to_owned();
    }
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use event::{Draft, RepoKey, Stamp, validate};

    use super::*;

    /// Reads a table as RFC 4180 says.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut is_quoted) = (vec![], vec![], String::new(), false);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, is_quoted) {
                ('"', true) if chars.peek() == Some(&'"') => cell.extend(chars.next()),
                ('"', _) => is_quoted = !is_quoted,
                (',', false) => row.push(std::mem::take(&mut cell)),
                ('\r', false) => {}
                ('\n', false) => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                (c, _) => cell.push(c),
            }
        }
        rows
    }

    // S-EXPORT-3
    #[test]
    fn a_table_has_one_row_per_memory() {
        let draft = Draft {
            event_type: Some("error".into()),
            lesson: Some("=HYPERLINK(\"http://x\",\"a\")\nsecond, line".into()),
            context: Some("-1 at start".into()),
            tags: vec!["a".into(), "b".into()],
            ..Draft::default()
        };
        let stamp = Stamp {
            now: "2026-01-02T03:04:05Z".parse().unwrap(),
            random: 7,
            repo: RepoKey::parse("api").unwrap(),
            agent_id: "@tester".into(),
            days: event::DayZone::Utc,
        };
        let event = validate(draft, &stamp).unwrap();
        let rows = read(&(header() + &row(&event) + &row(&event)));
        assert_eq!(rows.len(), 3);
        let value = |name: &str| {
            let place = rows[0].iter().position(|column| column == name).unwrap();
            rows[1][place].clone()
        };
        assert!(rows.iter().all(|row| row.len() == FIELD_NAMES.len()), "{rows:?}");
        assert_eq!(value("lesson"), "'=HYPERLINK(\"http://x\",\"a\")\nsecond, line");
        assert_eq!(
            (value("context"), value("agent_id")),
            ("'-1 at start".into(), "'@tester".into())
        );
        assert_eq!((value("tags"), value("event_type")), ("a; b".into(), "error".into()));
    }
}
