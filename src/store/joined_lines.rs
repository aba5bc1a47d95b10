//! Counts the lines of a log that hold several events, since somebody lost the line break between them. Not here: reading
//! them (`event::joined_events`).

use std::path::Path;

use event::joined_events;

use super::{Store, Tail};

impl Store {
    /// Returns how many lines of a log hold several events, and the number of the first, from 1. A log that cannot be
    /// read has none; others report that.
    #[must_use]
    pub fn joined_lines(log: &Path) -> (usize, usize) {
        let (mut number, mut count, mut first) = (0, 0, 0);
        let _ = Tail::from_beginning(log).read(|line| {
            number += 1;
            if may_be_joined(line.bytes) && joined_events(line.bytes, "").is_some() {
                count += 1;
                first = if first == 0 { number } else { first };
            }
        });
        (count, first)
    }
}

/// Tells whether an object may end and another begin within a line, at a hundredth of the cost of reading it.
fn may_be_joined(line: &[u8]) -> bool {
    line.split(|byte| *byte == b'}').skip(1).any(|after| after.trim_ascii_start().starts_with(b"{"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-LINE-8
    #[test]
    fn lines_of_several_events_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("r.jsonl");
        let one = r#"{"lesson":"a }{ b"}"#;
        std::fs::write(&log, format!("{one}\n{one}{one}\n{one} {one}{one}\n{one}{{\n")).unwrap();
        assert_eq!(Store::joined_lines(&log), (2, 2));
        assert_eq!(Store::joined_lines(&folder.path().join("none.jsonl")), (0, 0));
    }
}
