//! Which of two chains fits a log, after a process died while it rewrote the log. Not here: rewriting (`chain_rewrite`).

use std::io;
use std::path::Path;

use super::audit::{self, Evidence};
use super::chain_file;
use crate::{StoreError, lines};

/// Decides which chain fits the log if a process died while it rewrote it. The caller holds the log's lock.
pub(super) fn recover_chain(log: &Path) -> io::Result<()> {
    let next = chain_file::next_of(log);
    let Some(entries) = chain_file::read(&next)? else { return Ok(()) };
    let fits = match lines::open(log) {
        Ok(Some((file, found))) => {
            audit::is_whole(&file, found.len(), &Evidence::new(entries, None))?
        }
        Ok(None) => false,
        Err(StoreError::Io { source, .. }) => return Err(source),
        Err(error) => return Err(chain_file::io_error(error)),
    };
    if fits {
        std::fs::rename(&next, chain_file::path_of(log))
    } else {
        std::fs::remove_file(&next)
    }
}
