//! The work tree in which events were learned. The store remembers it once the first of them is written, so that a refused event leaves
//! nothing, and the first one of a new store is remembered as well. Not here: what is remembered (`store::place_record`).

use std::sync::Once;

use event::{RepoKey, Timestamp};
use place::WorkTree;
use store::Store;

/// A work tree, and the key of its repository before aliases.
#[derive(Debug)]
pub(crate) struct ServedPlace {
    tree: WorkTree,
    own_key: RepoKey,
    remembering: Once,
}

impl ServedPlace {
    /// Makes it of a work tree.
    pub(crate) fn new(tree: WorkTree, own_key: RepoKey) -> Self {
        Self { tree, own_key, remembering: Once::new() }
    }

    /// Lets the store remember which repository the work tree is, once for all events of a batch.
    pub(crate) fn remember(&self, store: &Store, now: Timestamp) {
        self.remembering.call_once(|| store.remember_place(&self.tree, &self.own_key, now));
    }
}
