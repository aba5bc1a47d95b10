//! Snapshots made of lines, for the tests of this crate and of those above. Not here: the tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "only tests use it, those of other crates too"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::snapshot::Snapshot;
use event::{DecodedLine, Timestamp, codec};
use index::lexical::{DocId, LexicalIndex};
use index::vector::VectorIndex;
use memory::{Effect, Fold, LinePlace};

/// A snapshot of these lines; a line's `vector`, if any, is its meaning.
pub fn snapshot(lines: &[Value]) -> Snapshot {
    let (mut fold, mut lexical) = (Fold::default(), LexicalIndex::default());
    let mut vectors = VectorIndex::new(2);
    for (offset, line) in (0..).zip(lines) {
        let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "api") else {
            panic!("{line}")
        };
        let repo = event.repo_key();
        let origin = LinePlace::own("a", offset);
        if let Effect::Added(number) = fold.apply(*event, repo, origin) {
            let text = fold.memories().get(number as usize).unwrap().index_text();
            lexical.insert(DocId(number), &text).unwrap();
            if let Some([x, y]) = line["vector"].as_array().map(Vec::as_slice) {
                let [x, y] = [x, y].map(|number| number.to_string().parse::<f32>().unwrap());
                vectors.set(number, &[x, y]).unwrap();
            }
        }
    }
    let mut repos = BTreeMap::new();
    for memory in fold.memories().iter() {
        *repos.entry(memory.repo.clone()).or_default() += 1;
    }
    let (repos, health) = (Arc::new(repos), Arc::default());
    let (fold, vectors) = (fold.frozen(), Some(vectors));
    Snapshot {
        fold,
        lexical,
        vectors,
        space: Default::default(),
        scale: Default::default(),
        withheld: 0,
        next_embedded: None,
        neighbours: Default::default(),
        repos,
        health,
        sign_locations: Default::default(),
        sign_store: None,
        subjects: Default::default(),
    }
}

/// When the tests search.
pub fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}
