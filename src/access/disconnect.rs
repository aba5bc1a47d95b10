//! The signal that the client has left, from the code that notices to the code that should stop waiting. Not here:
//! noticing (`stdio`).

use std::sync::Arc;

use tokio::sync::watch;

/// Signals all its copies, once and for good, that the client has left.
#[derive(Debug, Clone)]
pub struct Disconnect(Arc<watch::Sender<bool>>);

impl Disconnect {
    /// Returns a signal that has not been given yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Gives the signal.
    pub fn signal(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the signal is given.
    pub async fn wait(&self) {
        // The sender lives as long as this borrow of it, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|gone| *gone).await;
    }
}

impl Default for Disconnect {
    fn default() -> Self {
        Self::new()
    }
}
