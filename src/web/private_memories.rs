//! Keeps private memories on this machine: a server that answers other machines answers nothing while its store holds any. Asked
//! before each call, and again before its answer leaves, since a memory may be saved meanwhile. Not here: marking a memory
//! as private (`event`).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory::FoldMark;

use crate::request_guard::Refusal;
use api::local::Core;

/// How long the check waits for logs that are being read, in milliseconds: as long as a call waits for its turn.
const WAIT_MS: u64 = 2_000;

/// What is known of the memories that were looked at last.
#[derive(Default)]
pub struct PrivateMemories(Mutex<Option<(FoldMark, bool)>>);

impl PrivateMemories {
    /// Refuses while the store holds private memories. Blocks as long as new lines are read.
    ///
    /// # Errors
    /// [`Refusal::Private`]; [`Refusal::Busy`] while the logs are being read for the first time.
    pub fn check(&self, core: &Arc<Core>) -> Result<(), Refusal> {
        let snapshot = core.engine.snapshot_within(Duration::from_millis(WAIT_MS));
        let snapshot = snapshot.map_err(|_| Refusal::Failed)?.ok_or(Refusal::Busy)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let current = known.as_ref().filter(|(mark, _)| snapshot.is_marked(mark));
        let is_any = current.map_or_else(
            || snapshot.memories().iter().any(|memory| memory.provenance.is_private),
            |(_, is_any)| *is_any,
        );
        *known = Some((snapshot.mark(), is_any));
        if is_any { Err(Refusal::Private) } else { Ok(()) }
    }
}
