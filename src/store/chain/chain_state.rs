//! Comparing a log of a store with its chain, both as they were at one moment. Not here: the comparison itself (`audit`).

use std::fs::File;
use std::path::{Path, PathBuf};

use super::audit::{Evidence, audit};
use super::chain_recovery::recover_chain;
use super::{ChainAudit, ChainFault, ChainFaultKind, chain_file, open_entry};
use crate::lock::{self, FileLock};
use crate::{Store, StoreError, layout, lines};

impl Store {
    /// Checks a log of this store against its chain. `None` if it has no chain: the next append begins one. Holds the
    /// log's lock while it reads the chain, not while it reads the log.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process holds the lock, [`StoreError::Io`].
    pub fn audit_chain(&self, log: &Path) -> Result<Option<ChainAudit>, StoreError> {
        let Some(LoadedChain { evidence, file }) = load(log)? else { return Ok(None) };
        let audited = match file {
            Some((file, length)) => audit(&file, length, &evidence),
            None => Ok(all_gone(&evidence)),
        };
        audited.map(Some).map_err(StoreError::io("read", log))
    }

    /// Lists the logs that have a chain but are gone, sorted.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the chains exist but cannot be listed.
    pub fn logs_gone(&self) -> Result<Vec<PathBuf>, StoreError> {
        let folder = self.root().join(chain_file::FOLDER);
        if !layout::is_own_folder(&folder)? {
            return Ok(Vec::new());
        }
        let mut gone = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(StoreError::io("list", &folder))? {
            let path = entry.map_err(StoreError::io("list", &folder))?.path();
            let log = self.root().join(path.file_stem().unwrap_or_default());
            let is_chain = path.extension().is_some_and(|extension| extension == "chain");
            if is_chain && Self::is_log(&log) && log.symlink_metadata().is_err() {
                gone.push(log);
            }
        }
        gone.sort();
        Ok(gone)
    }
}

/// What is said of a log that does not exist.
fn all_gone(evidence: &Evidence) -> ChainAudit {
    let mut found = ChainAudit::from_evidence(evidence);
    if found.lines > 0 {
        let lines = (1, found.lines);
        found.faults.push(ChainFault { kind: ChainFaultKind::Gone, lines, bytes: 0..0 });
    }
    found
}

/// A chain with its log and the length of the log, as they were at one moment.
pub(super) struct LoadedChain {
    pub evidence: Evidence,
    pub file: Option<(File, u64)>,
}

pub(super) fn load(log: &Path) -> Result<Option<LoadedChain>, StoreError> {
    let path = chain_file::path_of(log);
    let failed = || StoreError::io("read", &path);
    let lock = lock::path_of(log);
    if lock.symlink_metadata().is_err() && path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let turn = FileLock::acquire(&lock, lock::WAIT_MS_MAX)?;
    // What cannot be settled, as on a disk that cannot be written, is read as it is.
    let _ = recover_chain(log);
    let note = open_entry::last_open_of(&turn).map_err(failed())?;
    let sealed = chain_file::read(&path).map_err(failed())?;
    if sealed.is_none() && note.is_none() {
        return Ok(None);
    }
    let file = lines::open(log)?.map(|(file, found)| (file, found.len()));
    Ok(Some(LoadedChain { evidence: Evidence::new(sealed.unwrap_or_default(), note), file }))
}
