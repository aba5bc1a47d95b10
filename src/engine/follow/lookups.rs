//! Builds the tables that only applying events needs (ids, provenances and sessions) from restored
//! memories, on a thread of its own, so that no query waits for them. Not here: updating them
//! (`folded_state`).

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use memory::{CowVec, Lookup, Memory, Sessions};

type Memories = CowVec<Arc<Memory>>;

/// Tables that are being built.
pub(super) struct Lookups(std::io::Result<JoinHandle<(Lookup, Sessions)>>);

impl Lookups {
    /// Starts building them.
    pub(super) fn begin(memories: &Memories) -> Self {
        let memories = memories.clone();
        Self(thread::Builder::new().name("lookups".to_owned()).spawn(move || made(&memories)))
    }

    /// Waits for them. `memories` must be those passed to `begin`.
    pub(super) fn join(self, memories: &Memories) -> (Lookup, Sessions) {
        // Without a thread, or after its panic, they are built here.
        let done = self.0.ok().and_then(|thread| thread.join().ok());
        done.unwrap_or_else(|| made(memories))
    }
}

fn made(memories: &Memories) -> (Lookup, Sessions) {
    (Lookup::build(memories), Sessions::build(memories.iter().map(Arc::as_ref)))
}
