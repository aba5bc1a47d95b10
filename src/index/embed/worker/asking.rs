//! A question that was put to the thread, and waiting for what it means. Whoever asked can do something else
//! meanwhile. Not here: answering (`thread`).

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use super::{Meant, QueryError};
use crate::embed::EmbedError;

/// What a question means, or will mean.
pub struct Asking(Inner);

enum Inner {
    Known(Meant),
    Put {
        answer: Receiver<Result<Meant, EmbedError>>,
        /// Until then it is waited for.
        until: Instant,
    },
}

impl Asking {
    pub(super) fn known(meant: Meant) -> Self {
        Self(Inner::Known(meant))
    }

    pub(super) fn put(answer: Receiver<Result<Meant, EmbedError>>, until: Instant) -> Self {
        Self(Inner::Put { answer, until })
    }

    /// Waits for the answer, for no longer than was said when it was asked; one that is there is taken even later.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn answer(self) -> Result<Meant, QueryError> {
        let (answer, until) = match self.0 {
            Inner::Known(meant) => return Ok(meant),
            Inner::Put { answer, until } => (answer, until),
        };
        match answer.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(result) => Ok(result?),
            Err(RecvTimeoutError::Timeout) => Err(QueryError::TimedOut),
            // The thread passed it over because it came to it too late.
            Err(RecvTimeoutError::Disconnected) if Instant::now() >= until => {
                Err(QueryError::TimedOut)
            }
            Err(RecvTimeoutError::Disconnected) => Err(QueryError::Stopped),
        }
    }
}
