//! Accepting a log as it is: a person has seen what was changed, and the chain begins again behind an event that says so.
//! Not here: asking the person.

use std::path::Path;

use super::audit::{self, Evidence};
use super::{ChainEvent, ChainEventKind, ChainHash, chain_file, cover, open_entry};
use super::{chain_recovery, chain_rewrite};
use crate::lock::{self, FileLock};
use crate::{Store, StoreError, lines};

impl Store {
    /// Accepts a log of this store as it is. What was changed stays in the chain, but is no fault any more. A log that is
    /// gone loses its chain.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process holds the log's lock, [`StoreError::Io`]. The chain then says what it said.
    pub fn accept_chain(&self, log: &Path) -> Result<(), StoreError> {
        self.ensure()?;
        let turn = FileLock::acquire(&lock::path_of(log), lock::WAIT_MS_MAX)?;
        let path = chain_file::path_of(log);
        let failed = || StoreError::io("write", &path);
        chain_recovery::recover_chain(log).map_err(failed())?;
        let Some((file, found)) = lines::open(log)? else {
            return cover::forget(&turn, log).map_err(failed());
        };
        let note = open_entry::last_open_of(&turn).map_err(failed())?;
        let sealed = chain_file::read(&path).map_err(failed())?;
        let evidence = Evidence::new(sealed.unwrap_or_default(), note);
        let accepted = || {
            // Until the new chain has its name, the old one and its open entry stay, and tell what was changed.
            open_entry::close(&turn)?;
            let found_word = audit::found_word(&file, found.len(), &evidence)?;
            let event = ChainEvent {
                number: evidence.number() + 1,
                kind: ChainEventKind::Accept,
                // It was written just now.
                at: open_entry::time_of(turn.file())?,
                changed: 0,
                moved: 0,
                segment: None,
                found: found_word,
                after: evidence.head(),
                head: ChainHash::NONE,
            };
            let sealed = event.sealed();
            let (text, open) =
                chain_rewrite::chain_of((&file, found.len()), evidence.events(), sealed)?;
            chain_file::replace(log, &path, &text)?;
            turn.set_note(&open.text())
        };
        accepted().map_err(failed())
    }
}
