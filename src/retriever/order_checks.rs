//! Finds in advance which memories read like instructions, while nobody waits. Not here: what does (`guard`), what becomes of
//! such a memory (`search`).

use std::sync::Arc;
use std::time::Duration;

use api::local::Core;
use search::snapshot::Snapshot;

/// How many memories are checked in one step. One check takes about ten microseconds.
const ORDERS_STEP: usize = 512;

/// The pause between two steps, in milliseconds. With it the checks take about a third of one processor.
const ORDERS_STEP_MS: u64 = 10;

/// The pause until new memories are looked for, in milliseconds.
const ORDERS_PAUSE_MS: u64 = 15_000;

/// Finds in advance which memories read like instructions. Doing it during a search that meets hundreds of new
/// candidates would take longer than everything else. It goes in small steps, because nobody waits for it.
pub fn start_order_checks(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    // Without a thread it is found when a search needs it.
    let _ = std::thread::Builder::new().name("orders".to_owned()).spawn(move || {
        let mut next = 0;
        while let Some(core) = core.upgrade()
            && let Ok(snapshot) = core.engine.snapshot_for_upkeep()
        {
            let is_done;
            (next, is_done) = judge_some(&snapshot, next);
            // Nothing is held during the pause: the end waits for it.
            drop((snapshot, core));
            let pause_ms = if is_done { ORDERS_PAUSE_MS } else { ORDERS_STEP_MS };
            std::thread::park_timeout(Duration::from_millis(pause_ms));
        }
    });
}

/// Checks some memories from a number on. Returns the number to continue from, and whether all are done. Memories
/// checked before, for example in a checkpoint, take no time.
fn judge_some(snapshot: &Snapshot, from: usize) -> (usize, bool) {
    // Some memories may be gone meanwhile, and others have their numbers.
    let from = from.min(snapshot.memories().len());
    let rest = snapshot.memories().iter().enumerate().skip(from);
    let mut unjudged = rest.filter(|(_, memory)| !memory.is_flag_known());
    let mut next = from;
    for (number, memory) in unjudged.by_ref().take(ORDERS_STEP) {
        let _ = memory.flagged();
        next = number + 1;
    }
    match unjudged.next() {
        Some(_) => (next, false),
        None => (snapshot.memories().len(), true),
    }
}
