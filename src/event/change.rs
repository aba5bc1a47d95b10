//! What an event about a memory does to it: a verdict, a replacement, forgetting and restoring, a pin, a link.
//! The list is closed; each change is read from a line and written to one here. Not here: what several changes
//! add up to (`memory`), what a link is (`link`).

use serde_json::{Map, Value};

use super::link::{end_fields, read_end};
use super::{Author, Event, EventId, FEEDBACK, Link, Node, Relation, Verdict};

/// What one event does to the memory it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum MemoryChange {
    /// Somebody used the memory and reports the verdict.
    Feedback(Verdict),
    /// Another memory replaces this one.
    Supersede {
        /// The replacement.
        by: EventId,
    },
    /// The memory is wrong or unwanted. It is forgotten until somebody restores it.
    Retract,
    /// The memory has not been needed for a long time.
    Archive,
    /// The memory has not been needed for a very long time.
    Bury,
    /// The memory counts again, whatever removed it before.
    Restore,
    /// The memory does not contradict another one, although the two look alike.
    Distinct {
        /// The other memory.
        from: EventId,
    },
    /// What an author said about the memory no longer counts.
    Discount {
        /// The author.
        by: Author,
    },
    /// What an author said counts again.
    Recount {
        /// The author.
        by: Author,
    },
    /// The memory does not age.
    Pin,
    /// The memory ages again.
    Unpin,
    /// The memory is linked to something.
    Link(Link),
    /// A link of the memory ends.
    Unlink {
        /// The target of the link.
        target: Node,
        /// The relation of the link.
        relation: Relation,
    },
}

/// The field that names the replacement of a memory.
const BY: &str = "superseded_by";
const FROM: &str = "distinct_from";
const VERDICT: &str = "verdict";

impl MemoryChange {
    /// Returns the `event_type` of its line.
    #[must_use]
    pub fn event_type(&self) -> &'static str {
        match self {
            Self::Feedback(_) => FEEDBACK,
            Self::Supersede { .. } => "supersede",
            Self::Retract => "retract",
            Self::Archive => "archive",
            Self::Bury => "tombstone",
            Self::Restore => "restore",
            Self::Distinct { .. } => "distinct",
            Self::Discount { .. } => "discount",
            Self::Recount { .. } => "recount",
            Self::Pin => "pin",
            Self::Unpin => "unpin",
            Self::Link(_) => "link",
            Self::Unlink { .. } => "unlink",
        }
    }

    /// Returns the fields that the line has besides those of every event.
    #[must_use]
    pub fn fields(&self) -> Map<String, Value> {
        let (name, value) = match self {
            Self::Feedback(verdict) => (VERDICT, verdict.as_str()),
            Self::Supersede { by } => (BY, by.as_str()),
            Self::Distinct { from } => (FROM, from.as_str()),
            Self::Discount { by } | Self::Recount { by } => by.field(),
            Self::Link(link) => return link.fields(),
            Self::Unlink { target, relation } => return end_fields(target, *relation),
            Self::Retract
            | Self::Archive
            | Self::Bury
            | Self::Restore
            | Self::Pin
            | Self::Unpin => return Map::new(),
        };
        Map::from_iter([(name.to_owned(), value.into())])
    }

    /// Reads what an event does to the memory it is about. Returns `None` if the event is not about a memory,
    /// or if this version does not know the change.
    #[must_use]
    pub fn from_event(event: &Event) -> Option<Self> {
        event.memory_id.as_ref()?;
        let text = |name: &str| event.extra.get(name).and_then(Value::as_str);
        Some(match event.event_type.as_str() {
            FEEDBACK => Self::Feedback(Verdict::parse(text(VERDICT)?)?),
            "supersede" => Self::Supersede { by: EventId::foreign(text(BY)?)? },
            "distinct" => Self::Distinct { from: EventId::foreign(text(FROM)?)? },
            "discount" => Self::Discount { by: Author::read(text)? },
            "recount" => Self::Recount { by: Author::read(text)? },
            "retract" => Self::Retract,
            "archive" => Self::Archive,
            "tombstone" => Self::Bury,
            "restore" => Self::Restore,
            "pin" => Self::Pin,
            "unpin" => Self::Unpin,
            "link" => Self::Link(Link::read(&event.extra)?),
            "unlink" => {
                let (target, relation) = read_end(&event.extra)?;
                Self::Unlink { target, relation }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodedLine, codec};

    fn read(line: &Value) -> Option<MemoryChange> {
        match codec::decode(line.to_string().as_bytes(), "api") {
            DecodedLine::Event(event) => MemoryChange::from_event(&event),
            other => panic!("{other:?}"),
        }
    }

    // S-LIFE-1
    #[test]
    fn a_change_is_read_as_it_was_written() {
        let by = EventId::foreign("m2").unwrap();
        let from = by.clone();
        let verdicts = Verdict::ALL.into_iter().map(MemoryChange::Feedback);
        let (target, relation) = (Node::from_id(by.clone()), Relation::Calls);
        let others = [
            MemoryChange::Supersede { by },
            MemoryChange::Distinct { from },
            MemoryChange::Discount { by: Author::Agent("bob".to_owned()) },
            MemoryChange::Recount { by: Author::Session("s1".to_owned()) },
            MemoryChange::Link(Link::plain(relation, target.clone())),
            MemoryChange::Unlink { target, relation },
            MemoryChange::Retract,
            MemoryChange::Archive,
            MemoryChange::Bury,
            MemoryChange::Restore,
            MemoryChange::Pin,
            MemoryChange::Unpin,
        ];
        for change in verdicts.chain(others) {
            let mut line = change.fields();
            line.insert("id".to_owned(), "e1".into());
            line.insert("memory_id".to_owned(), "m1".into());
            line.insert("event_type".to_owned(), change.event_type().into());
            assert_eq!(read(&Value::Object(line.clone())), Some(change.clone()));
            line.remove("memory_id");
            line.insert("lesson".to_owned(), "x".into());
            assert_eq!(read(&Value::Object(line)), None, "{change:?} is about nothing");
        }
    }

    // S-LIFE-1
    #[test]
    fn what_this_version_does_not_know_changes_nothing() {
        for line in [
            serde_json::json!({"memory_id": "m1", "event_type": "promote"}),
            serde_json::json!({"memory_id": "m1", "event_type": "feedback", "verdict": "so-so"}),
            serde_json::json!({"memory_id": "m1", "event_type": "supersede"}),
            serde_json::json!({"memory_id": "m1", "event_type": "supersede", "superseded_by": "a b"}),
            serde_json::json!({"memory_id": "m1", "event_type": "link", "target": "m2", "relation": "adores"}),
            serde_json::json!({"memory_id": "m1", "event_type": "unlink", "relation": "calls"}),
        ] {
            assert_eq!(read(&line), None, "{line}");
        }
    }
}
