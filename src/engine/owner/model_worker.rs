//! Starts the worker of a model. Not here: the worker (`index::embed`).

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use super::dense_setup::DenseSetup;
use super::engine_input::{EngineInput, PendingBatches};
use super::models::RunningModel;
use index::embed::SpaceId;
use index::embed::worker::{CacheConfig, ShutdownMode, Worker, WorkerConfig};

/// Starts the worker of a model.
pub(super) fn start_worker(
    dense: DenseSetup,
    inbox: Sender<EngineInput>,
    pending_batches: PendingBatches,
) -> std::io::Result<RunningModel> {
    let DenseSetup { load, idle, cache_dir, lock, name, may_see, scale } = dense;
    let space = SpaceId::from_name(&name);
    let at_end = if may_see.is_some() { ShutdownMode::Leave } else { ShutdownMode::Wait };
    let worker = Worker::start(WorkerConfig {
        load,
        idle,
        space,
        at_end,
        cache: Some(CacheConfig { dir: cache_dir, lock }),
        deliver: Box::new(move |batch| {
            pending_batches.fetch_add(1, Ordering::SeqCst);
            // At shutdown the thread ends before the worker.
            let _ = inbox.send(EngineInput::Embedded(space, batch));
        }),
    })?;
    Ok(RunningModel { worker, space, name, may_see, scale: Mutex::new(scale) })
}
