//! Starts the work of a thread: loads the model, for the first time or again, and divides it between texts and queries. Not here:
//! the work (`thread`), the handle others hold (`worker`).

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;

use super::priority::give_way;
use super::query_thread::QueryThread;
use super::thread::{EmbeddingThread, give_up};
use super::worker_jobs::WorkerMessage;
use super::worker_state::{
    CacheConfig, ModelResidence, WorkerConfig, WorkerParts, WorkerShared, WorkerState,
};
use crate::embed::cache::VectorCache;
use crate::embed::{EmbedError, Embedder};
use crate::late::SignStore;

/// The life of the first thread. `returned` is its own sender.
pub(super) fn run(
    config: WorkerConfig,
    shared: &Arc<WorkerShared>,
    receiver: Receiver<WorkerMessage>,
    returned: Sender<WorkerMessage>,
) {
    let WorkerConfig { load, cache, deliver, idle, .. } = config;
    match load() {
        Ok(embedder) => {
            let cache = cache.and_then(|cache| open_cache(cache, embedder.as_ref(), shared));
            work(embedder, WorkerParts { cache, deliver, idle, receiver, returned }, shared);
        }
        Err(error) => fail(error, shared, &receiver),
    }
}

/// The life of a thread that loads the model again.
pub(super) fn run_again(mut parts: WorkerParts, shared: &Arc<WorkerShared>) {
    let Some(idle) = &mut parts.idle else { return };
    match (idle.load)() {
        Ok(embedder) => work(embedder, parts, shared),
        Err(error) => fail(error, shared, &parts.receiver),
    }
}

fn work(mut embedder: Box<dyn Embedder>, parts: WorkerParts, shared: &Arc<WorkerShared>) {
    let ready = WorkerState::Ready { model: embedder.description(), dims: embedder.dims() };
    let returned = parts.returned.clone();
    let queries = embedder
        .split_off_queries()
        .and_then(|network| QueryThread { network, shared: Arc::clone(shared), returned }.start());
    let (sender, thread) = queries.unzip();
    if sender.is_some() {
        // Nobody waits for texts; the thread for queries has its own priority by now.
        give_way();
    }
    let mut slow = shared.slow();
    (slow.state, slow.queries, slow.residence) = (ready, sender, ModelResidence::Loaded);
    drop(slow);
    EmbeddingThread::new(embedder, parts, shared).work();
    // A panic over there was reported there.
    let _ = thread.map(JoinHandle::join);
}

/// Reports why, and drops what was queued meanwhile.
fn fail(error: EmbedError, shared: &WorkerShared, receiver: &Receiver<WorkerMessage>) {
    shared.slow().state = WorkerState::Failed(error);
    let waiting = receiver.try_iter().filter(|message| matches!(message, WorkerMessage::Embed(_)));
    give_up(shared, waiting.count());
}

fn open_cache(
    config: CacheConfig,
    embedder: &dyn Embedder,
    shared: &WorkerShared,
) -> Option<VectorCache> {
    match VectorCache::open(&config.dir, embedder.model_id(), embedder.dims(), config.lock) {
        Ok(cache) => {
            let mut slow = shared.slow();
            slow.cache = Some(cache.stats());
            match cache.tokens() {
                Ok(tokens) => {
                    let sign_store: Arc<dyn SignStore> = tokens.clone();
                    slow.sign_store = Some(sign_store);
                }
                Err(why) => slow.cache_trouble = Some(why.to_owned()),
            }
            drop(slow);
            Some(cache)
        }
        Err(error) => {
            shared.slow().cache_trouble = Some(error.to_string());
            None
        }
    }
}
