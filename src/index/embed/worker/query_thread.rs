//! The thread that embeds queries while texts are embedded, and the answer to a query. Not here: texts (`thread`).

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Instant;

use super::query_embedding::QueryEmbedding;
use super::worker_jobs::{QueryJob, WorkerMessage};
use super::worker_state::WorkerShared;
use crate::embed::{EmbedError, Embedder, Embedding, SpaceId};
use crate::late::QueryToken;

/// The thread that embeds queries while texts are embedded.
pub(super) struct QueryThread {
    pub(super) network: Box<dyn Embedder>,
    pub(super) shared: Arc<WorkerShared>,
    /// Takes the queries back if the network fails.
    pub(super) returned: Sender<WorkerMessage>,
}

impl QueryThread {
    /// Returns `None` where the system refuses a thread; then there is no network for queries any more.
    pub(super) fn start(self) -> Option<(Sender<QueryJob>, JoinHandle<()>)> {
        let (sender, receiver) = mpsc::channel();
        let named = std::thread::Builder::new().name("embed-query".to_owned());
        Some((sender, named.spawn(move || self.work(&receiver)).ok()?))
    }

    fn work(mut self, receiver: &Receiver<QueryJob>) {
        while let Ok(job) = receiver.recv() {
            if let Err((job, error)) = answer(self.network.as_mut(), &self.shared, job) {
                // Asked again, it may answer.
                if !self.network.has_tokens() {
                    let _ = job.reply.send(Err(error));
                    WorkerShared::leave(&self.shared.queries, 1);
                    continue;
                }
                // It would fail again; the network for texts embeds this query and all later ones.
                self.shared.slow().queries = None;
                std::iter::once(job).chain(receiver.try_iter()).for_each(|job| self.give_back(job));
                break;
            }
        }
        receiver.try_iter().for_each(|job| self.give_back(job));
    }

    fn give_back(&self, job: QueryJob) {
        if self.returned.send(WorkerMessage::Query(job)).is_err() {
            WorkerShared::leave(&self.shared.queries, 1);
        }
    }
}

/// Answers a query; gives it back where the network fails.
pub(super) fn answer(
    network: &mut dyn Embedder,
    shared: &WorkerShared,
    job: QueryJob,
) -> Result<(), (QueryJob, EmbedError)> {
    if Instant::now() < job.until {
        // Another caller may just have sent the same query.
        let known = shared.query_cache().get(&job.text);
        let meant = match known {
            Some(known) => known,
            None => match network.embed_query(&job.text) {
                Ok(embedding) => {
                    let meant = query_embedding(embedding, shared.space);
                    shared.query_cache().insert(&job.text, &meant);
                    meant
                }
                Err(error) => return Err((job, error)),
            },
        };
        // The caller may have stopped waiting.
        let _ = job.reply.send(Ok(meant));
    }
    WorkerShared::leave(&shared.queries, 1);
    Ok(())
}

fn query_embedding(Embedding { vector, tokens }: Embedding, space: SpaceId) -> QueryEmbedding {
    let tokens = tokens.iter().filter_map(QueryToken::from_token).collect();
    QueryEmbedding { space, vector, tokens }
}
