//! Memories for the tests of this room, made from lines as a log holds them. Not here: what is made of them.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::event::{Decoded, Event, codec};
use crate::retriever::projection::{Memory, Origin};

/// Returns the event of a line.
pub(super) fn event(line: &Value) -> Event {
    match codec::decode(line.to_string().as_bytes(), "") {
        Decoded::Event(event) => *event,
        other => panic!("{line}: {other:?}"),
    }
}

/// Returns the memory of a line.
pub(super) fn memory(line: &Value) -> Arc<Memory> {
    let event = event(line);
    let origin = Origin { log: Path::new("a").into(), offset: 0 };
    let (about, conflicts) = (Vec::new(), Vec::new());
    Arc::new(Memory { repo: event.repo_key(), event, origin, about, conflicts })
}
