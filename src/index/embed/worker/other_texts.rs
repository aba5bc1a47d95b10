//! Embeds texts of another program, which waits for their vectors: as texts of memories are, between two batches, and the vectors
//! are not kept. Not here: who may ask for that (`web::embeddings`).

use std::sync::mpsc::{self};
use std::time::{Duration, Instant};

use super::Worker;
use super::refusal::QueryError;
use super::waiting_texts::BATCH_TEXTS;
use super::worker_jobs::{QUERIES_MAX, TEXT_BYTES_MAX, TextsJob, WorkerMessage};
use super::worker_state::{WorkerShared, WorkerState};

impl Worker {
    /// Embeds texts of another program, between two batches, and does not keep the vectors. Waits `wait` at most.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn embed_texts(
        &self,
        texts: &[String],
        wait: Duration,
    ) -> Result<Vec<Vec<f32>>, QueryError> {
        match &self.shared.slow().state {
            WorkerState::Loading => return Err(QueryError::Loading),
            WorkerState::Failed(error) => return Err(error.clone().into()),
            WorkerState::Ready { .. } => {}
        }
        let until = Instant::now() + wait;
        let mut vectors = Vec::with_capacity(texts.len());
        for texts in texts.chunks(BATCH_TEXTS) {
            let cut = |text: &String| {
                text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default().to_owned()
            };
            if !WorkerShared::enter(&self.shared.queries, QUERIES_MAX) {
                return Err(QueryError::Busy);
            }
            let (reply, answer) = mpsc::sync_channel(1);
            let job = TextsJob { texts: texts.iter().map(cut).collect(), until, reply };
            let sent = self.sender.send(WorkerMessage::Texts(job));
            self.load_again();
            let left = until.saturating_duration_since(Instant::now());
            let received = sent
                .map_err(|_| QueryError::Stopped)
                .and_then(|()| answer.recv_timeout(left).map_err(|_| QueryError::TimedOut));
            WorkerShared::leave(&self.shared.queries, 1);
            vectors.extend(received??);
        }
        Ok(vectors)
    }
}
