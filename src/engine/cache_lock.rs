//! The lock under which processes add to one cache of vectors: the store's lock, in a file beside
//! the cache. Not here: the cache itself (`index::embed::cache`).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use index::embed::cache::AppendLock;
use store::FileLock;

/// How long to wait for others, in milliseconds. A batch takes microseconds to write, and vectors
/// that could not be kept are only made again.
const WAIT_MS: u64 = 2_000;

/// The lock of one cache directory.
#[derive(Debug, Clone)]
pub struct CacheLock {
    path: PathBuf,
}

impl CacheLock {
    /// Names the lock of a cache directory.
    #[must_use]
    pub fn of(cache_dir: &Path) -> Self {
        Self { path: cache_dir.join("vectors.lock") }
    }
}

impl AppendLock for CacheLock {
    fn with_lock(
        &self,
        file: &File,
        body: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let _turn = FileLock::take(&self.path, WAIT_MS).map_err(io::Error::other)?;
        body(file)
    }
}
