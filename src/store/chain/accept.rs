//! Accepting a log as it is: a person has seen what was changed, and the chain begins again behind an event that says so.
//! Not here: asking the person.

use std::path::Path;

use super::audit::{self, Evidence};
use super::{ChainEvent, ChainEventKind, ChainHash, chain_file, open_entry, resettle, settle};
use crate::lock::{self, FileLock};
use crate::{Store, StoreError, lines};

impl Store {
    /// Accepts a log of this store as it is. What was changed stays in the chain, but is no fault any more. A log that is
    /// gone loses its chain.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process holds the log's lock, [`StoreError::Io`]. The chain is then as it was.
    pub fn accept_chain(&self, log: &Path) -> Result<(), StoreError> {
        self.ensure()?;
        let turn = FileLock::take(&lock::path_of(log), lock::WAIT_MS_MAX)?;
        let path = chain_file::path_of(log);
        let failed = || StoreError::io("write", &path);
        settle::settle(log).map_err(failed())?;
        let Some((file, found)) = lines::open(log)? else {
            std::fs::remove_file(&path).map_err(failed())?;
            return turn.set_note("").map_err(failed());
        };
        let note = open_entry::open_of(&turn).map_err(failed())?;
        let sealed = chain_file::read(&path).map_err(failed())?;
        let evidence = Evidence::of(sealed.unwrap_or_default(), note);
        let accepted = || {
            // Written again, so that it has the time of now.
            turn.set_note(&evidence.open().map_or_else(String::new, |open| open.text()))?;
            let found_word = audit::audit(&file, found.len(), &evidence)?.found_word();
            let event = ChainEvent {
                number: evidence.number() + 1,
                kind: ChainEventKind::Accept,
                at: open_entry::time_of(turn.file())?,
                changed: 0,
                moved: 0,
                segment: None,
                found: found_word,
                after: evidence.head(),
                head: ChainHash::NONE,
            };
            let sealed = event.sealed();
            let (text, open) = resettle::chain_of((&file, found.len()), evidence.events(), sealed)?;
            turn.set_note(&open.text())?;
            chain_file::replace(log, &path, &text)
        };
        accepted().map_err(failed())
    }
}
