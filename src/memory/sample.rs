//! Memories for the tests of this room, made from lines as a log holds them. Not here: what is made of them.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::{Fold, Memory, Origin};
use event::{Decoded, codec};

/// Returns the memory `m1` of several lines, with what the others say of it.
pub(super) fn folded(lines: &[Value]) -> Arc<Memory> {
    let fold = fold(lines);
    Arc::clone(fold.memories().iter().find(|memory| memory.id.as_str() == "m1").unwrap())
}

/// Returns the fold of several lines.
pub(super) fn fold(lines: &[Value]) -> Fold {
    let mut fold = Fold::default();
    for (offset, line) in (0..).zip(lines) {
        let Decoded::Event(event) = codec::decode(line.to_string().as_bytes(), "api") else {
            panic!("{line}")
        };
        let repo = event.repo_key();
        fold.apply(*event, repo, Origin { log: Path::new("a").into(), offset });
    }
    fold
}
