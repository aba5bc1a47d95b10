//! A query that was sent to the worker thread. The caller can do something else before it waits for the embedding.
//! Not here: embedding (`thread`).

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use super::query_embedding::QueryEmbedding;
use super::refusal::QueryError;
use crate::embed::EmbedError;

/// The embedding of a query, or the channel on which it will come.
pub struct PendingQuery(QueryState);

enum QueryState {
    QueryCache(QueryEmbedding),
    Sent {
        answer: Receiver<Result<QueryEmbedding, EmbedError>>,
        /// The caller waits until then.
        until: Instant,
    },
}

impl PendingQuery {
    pub(super) fn cached(meant: QueryEmbedding) -> Self {
        Self(QueryState::QueryCache(meant))
    }

    pub(super) fn sent(
        answer: Receiver<Result<QueryEmbedding, EmbedError>>,
        until: Instant,
    ) -> Self {
        Self(QueryState::Sent { answer, until })
    }

    /// Waits until `until` at most, if the query was sent to wait for longer.
    #[must_use]
    pub fn hurried(self, until: Instant) -> Self {
        Self(match self.0 {
            QueryState::Sent { answer, until: first } => {
                QueryState::Sent { answer, until: first.min(until) }
            }
            cached @ QueryState::QueryCache(_) => cached,
        })
    }

    /// Waits for the embedding until the time given when the query was sent. One that is there already is returned
    /// even after that time.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn answer(self) -> Result<QueryEmbedding, QueryError> {
        let (answer, until) = match self.0 {
            QueryState::QueryCache(meant) => return Ok(meant),
            QueryState::Sent { answer, until } => (answer, until),
        };
        match answer.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(result) => Ok(result?),
            Err(RecvTimeoutError::Timeout) => Err(QueryError::TimedOut),
            // The thread skipped the query, because its time had passed.
            Err(RecvTimeoutError::Disconnected) if Instant::now() >= until => {
                Err(QueryError::TimedOut)
            }
            Err(RecvTimeoutError::Disconnected) => Err(QueryError::Stopped),
        }
    }
}
