//! Test memories, made from lines as a log holds them. Not here: any tests.

use std::sync::Arc;

use serde_json::Value;

use super::{Fold, LineOrigin, LinePlace, LogFile, Memory};
use event::{DecodedLine, codec};

/// Folds several lines and returns the memory `m1`.
pub(super) fn folded(lines: &[Value]) -> Arc<Memory> {
    let fold = fold(lines);
    Arc::clone(fold.memories().iter().find(|memory| memory.id.as_str() == "m1").unwrap())
}

/// Folds several lines of the own store.
pub(super) fn fold(lines: &[Value]) -> Fold {
    let lines: Vec<(Value, LineOrigin)> =
        lines.iter().map(|line| (line.clone(), LineOrigin::Own)).collect();
    fold_from(&lines)
}

/// Folds several lines of some origins.
pub(super) fn fold_from(lines: &[(Value, LineOrigin)]) -> Fold {
    let mut fold = Fold::default();
    for (offset, (line, origin)) in (0..).zip(lines) {
        let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "api") else {
            panic!("{line}")
        };
        let repo = event.repo_key();
        let name = origin.other().map_or("a", event::StoreOrigin::as_str);
        let log = Arc::new(LogFile { path: name.into(), origin: origin.clone() });
        fold.apply(*event, repo, LinePlace { log, offset });
    }
    fold
}
