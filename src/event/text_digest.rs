//! Whether two versions of a memory say the same, whoever vouches for them and wherever they stand. Not here: ids, which
//! may hash a whole line (`id`).

use std::collections::BTreeSet;

use super::{Event, EventId};

/// Hashes the lines that an event says, each once: a lesson that repeats another field adds nothing. The order of the
/// lines does not count.
#[must_use]
pub fn text_digest(event: &Event) -> EventId {
    let texts = [&event.context, &event.command, &event.lesson].into_iter().chain(&event.symptoms);
    let lines = texts.flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty());
    let lines: BTreeSet<&str> = lines.collect();
    EventId::derive(None, lines.into_iter().collect::<Vec<_>>().join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedLine, codec};

    fn digest(line: &str) -> EventId {
        match codec::decode(line.as_bytes(), "") {
            DecodedLine::Event(event) => text_digest(&event),
            other => panic!("{other:?}"),
        }
    }

    // S-IMPORT-7
    #[test]
    fn only_texts_count_in_a_digest() {
        let one = digest(r#"{"id":"a","context":"npm failed\nEACCES","lesson":"chown it"}"#);
        assert_eq!(
            digest(
                r#"{"id":"b","source":"imported","context":"npm failed\n EACCES","lesson":"chown it\n"}"#
            ),
            one
        );
        assert_ne!(digest(r#"{"id":"a","context":"npm failed\nEACCES","lesson":"chmod it"}"#), one);
        let old = digest(r#"{"symptoms":["a","b"]}"#);
        assert_eq!(digest(r#"{"symptoms":["a","b"],"lesson":"a\nb"}"#), old);
    }
}
