//! What only who adds events needs, made of restored memories on a thread of its own, so that nobody waits for it who
//! asks: ids, settings and sessions. Not here: keeping them up (`built`).

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use memory::{CowVec, Lookup, Memory, Sessions};

type Memories = CowVec<Arc<Memory>>;

/// Lookups and sessions that are being made.
pub(super) struct Lookups(std::io::Result<JoinHandle<(Lookup, Sessions)>>);

impl Lookups {
    /// Begins to make them.
    pub(super) fn begin(memories: &Memories) -> Self {
        let memories = memories.clone();
        Self(thread::Builder::new().name("lookups".to_owned()).spawn(move || made(&memories)))
    }

    /// Waits for them. `memories` are those that they were begun with.
    pub(super) fn done(self, memories: &Memories) -> (Lookup, Sessions) {
        // Where there was no thread, or it came to grief.
        let done = self.0.ok().and_then(|coming| coming.join().ok());
        done.unwrap_or_else(|| made(memories))
    }
}

fn made(memories: &Memories) -> (Lookup, Sessions) {
    (Lookup::of(memories), Sessions::of(memories.iter().map(Arc::as_ref)))
}
