//! The lock under which processes append to the vector cache: a lock file beside the cache. Not
//! here: the cache itself (`index::embed::cache`).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use index::embed::cache::AppendLock;
use store::FileLock;

/// How long to wait for the lock, in milliseconds. Writing a batch takes microseconds, and vectors
/// that could not be cached are only computed again.
const WAIT_MS: u64 = 2_000;

/// The lock of a cache directory.
#[derive(Debug, Clone)]
pub struct CacheLock {
    path: PathBuf,
}

impl CacheLock {
    /// Names the lock of a cache directory.
    #[must_use]
    pub fn in_dir(cache_dir: &Path) -> Self {
        Self { path: cache_dir.join("vectors.lock") }
    }
}

impl AppendLock for CacheLock {
    fn with_lock(
        &self,
        file: &File,
        body: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let _turn = FileLock::acquire(&self.path, WAIT_MS).map_err(io::Error::other)?;
        body(file)
    }
}
