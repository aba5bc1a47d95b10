//! Word that the other side is gone, passed from whoever notices to whoever should stop waiting.
//! Not here: noticing (`stdio`).

use std::sync::Arc;

use tokio::sync::watch;

/// Tells all its copies, once and for good, that the other side is gone.
#[derive(Debug, Clone)]
pub struct Disconnect(Arc<watch::Sender<bool>>);

impl Disconnect {
    /// Returns one that has not happened yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Makes it happen.
    pub fn happen(&self) {
        self.0.send_replace(true);
    }

    /// Waits until it has happened.
    pub async fn happened(&self) {
        // The sender lives as long as this borrow of it, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|gone| *gone).await;
    }
}

impl Default for Disconnect {
    fn default() -> Self {
        Self::new()
    }
}
