//! Lines that lost the break between them, so that several events stand on one: an editor or a merge joined them. Not
//! here: a line with one event (`codec`).

use std::ops::Range;

use serde_json::{Deserializer, Value};

use super::limits::READ_LINE_BYTES_MAX;
use super::{DecodedLine, Event, codec};

/// Returns the events of a line that holds several objects and nothing else, each with its place in the line; `None`
/// unless every object is a whole event. `file_repo` is used for an event that names no repo.
#[must_use]
pub fn joined_events(line: &[u8], file_repo: &str) -> Option<Vec<(Range<usize>, Event)>> {
    if line.len() > READ_LINE_BYTES_MAX || !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let mut values = Deserializer::from_slice(line).into_iter::<Value>();
    let (mut begin, mut events) = (0, Vec::new());
    while let Some(value) = values.next() {
        value.ok()?;
        let place = begin..values.byte_offset();
        begin = place.end;
        match codec::decode(line.get(place.clone())?, file_repo) {
            DecodedLine::Event(event) => events.push((place, *event)),
            DecodedLine::Blank | DecodedLine::Skipped(_) => return None,
        }
    }
    (events.len() > 1).then_some(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-LINE-8
    #[test]
    fn events_on_one_line_are_all_read() {
        let (one, two) = (r#"{"id":"m1","lesson":"a }{ b"}"#, r#"{"lesson":"c","repo":"web"}"#);
        for between in ["", " ", "\r"] {
            let line = format!("{one}{between}{two}");
            let events = joined_events(line.as_bytes(), "api").unwrap();
            let lessons: Vec<&str> = events.iter().map(|(_, event)| &*event.lesson).collect();
            assert_eq!(lessons, ["a }{ b", "c"]);
            assert_eq!((&*events[0].1.repo, &*events[1].1.repo), ("api", "web"));
            let DecodedLine::Event(alone) = codec::decode(two.as_bytes(), "api") else { panic!() };
            assert_eq!(
                events[1].1.id, alone.id,
                "an event without an id has that of its own bytes"
            );
            assert_eq!(line.get(events[1].0.clone()).unwrap().trim_start(), two);
        }
    }

    // S-LINE-8
    #[test]
    fn any_other_line_is_not_joined() {
        for line in [
            "",
            r#"{"lesson":"a"}"#,
            r#"{"lesson":"a"}{"less"#,
            r#"{"lesson":"a"}{"tags":[]}"#,
            r#"{"lesson":"a"} x"#,
            r#"{"lesson":"a"}[1]"#,
            r#"[{"lesson":"a"},{"lesson":"b"}]"#,
        ] {
            assert_eq!(joined_events(line.as_bytes(), "api"), None, "{line}");
        }
    }
}
