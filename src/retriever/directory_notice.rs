//! Notes whether a command asked the working directory for something, so that another directory in its place is told only where it
//! decides anything. Each request says itself whether it names its repository. Not here: finding the directory (`StartDirectory`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use requests::{Api, ApiError, Reply, Request, Voice};

/// Whether the directory was asked for.
#[derive(Debug, Clone, Default)]
pub struct DirectoryUse(Arc<AtomicBool>);

impl DirectoryUse {
    /// Notes that it was, if so.
    pub fn record(&self, is_asked: bool) {
        self.0.fetch_or(is_asked, Ordering::Relaxed);
    }

    /// Tells whether it was, since this was asked last.
    pub fn take_use(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    /// Returns the same memory, which notes what it is asked.
    pub fn recording(&self, inner: Arc<dyn Api>) -> Arc<dyn Api> {
        Arc::new(NotingApi { inner, asked: self.clone() })
    }
}

struct NotingApi {
    inner: Arc<dyn Api>,
    asked: DirectoryUse,
}

impl Api for NotingApi {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        self.asked.record(request.takes_directory());
        self.inner.ask_as(request, voice)
    }
}
