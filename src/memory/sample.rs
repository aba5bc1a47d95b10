//! Test memories, made from lines as a log holds them. Not here: any tests.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::{Fold, Memory, Origin};
use event::{Decoded, codec};

/// Folds several lines and returns the memory `m1`.
pub(super) fn folded(lines: &[Value]) -> Arc<Memory> {
    let fold = fold(lines);
    Arc::clone(fold.memories().iter().find(|memory| memory.id.as_str() == "m1").unwrap())
}

/// Folds several lines.
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
