//! Starts the worker of a model. Not here: the worker (`index::embed`).

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use super::dense::Dense;
use super::engine_input::{Input, PendingBatches};
use super::models::Model;
use index::embed::SpaceId;
use index::embed::worker::{AtEnd, CacheConfig, Worker, WorkerConfig};

/// Starts the worker of a model.
pub(super) fn start_worker(
    dense: Dense,
    inbox: Sender<Input>,
    pending_batches: PendingBatches,
) -> std::io::Result<Model> {
    let Dense { load, cache_dir, lock, name, may_see, scale } = dense;
    let space = SpaceId::of(&name);
    let at_end = if may_see.is_some() { AtEnd::Leave } else { AtEnd::Wait };
    let worker = Worker::start(WorkerConfig {
        load,
        space,
        at_end,
        cache: Some(CacheConfig { dir: cache_dir, lock }),
        deliver: Box::new(move |batch| {
            pending_batches.fetch_add(1, Ordering::SeqCst);
            // At shutdown the thread ends before the worker.
            let _ = inbox.send(Input::Embedded(space, batch));
        }),
    })?;
    Ok(Model { worker, space, name, may_see, scale: Mutex::new(scale) })
}
