//! Memories for the tests of this crate, made from lines of a log. Not here: what is made of them.

use std::sync::Arc;

use serde_json::Value;

use event::{DecodedLine, codec};
use memory::{Fold, LinePlace, Memory};

/// Returns the memory of a line.
pub(super) fn memory(line: &Value) -> Arc<Memory> {
    folded(std::slice::from_ref(line))
}

/// Returns the memory that the first of several lines makes, with what the others say of it.
pub(super) fn folded(lines: &[Value]) -> Arc<Memory> {
    let mut fold = Fold::default();
    for (offset, line) in (0..).zip(lines) {
        let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "") else {
            panic!("{line}")
        };
        let repo = event.repo_key();
        fold.apply(*event, repo, LinePlace::own("a", offset));
    }
    Arc::clone(fold.memories().get(0).unwrap())
}
