//! The turn of those who rewrite files of a log, after what an interrupted archiving left was taken out of the log. So
//! nobody changes one of two copies of a line. Not here: taking it out (`interrupted_archiving`).

use std::ops::Deref;
use std::path::Path;

use super::super::rewrite::RewriteTurn;
use super::super::{Store, StoreError, quarantine};
use super::interrupted_archiving::finish_archiving;

/// A turn to rewrite, in which no line is left over from an interrupted archiving.
pub(crate) struct SettledTurn {
    turn: RewriteTurn,
    /// How many lines were taken out of the log.
    pub(super) settled_lines: u64,
}

impl SettledTurn {
    /// Takes the turn for a file of a store: a log, a segment, a spooled write or a quarantine.
    pub(crate) fn acquire(store: &Store, file: &Path) -> Result<Self, StoreError> {
        let turn = RewriteTurn::acquire(store, file)?;
        // A quarantine has a turn of its own, and is not archived.
        let is_of_log = quarantine::lock_of(file).is_none();
        let log = store.log_of(&Store::repo_of(file));
        let settled_lines = if is_of_log { finish_archiving(&turn, &log)? } else { 0 };
        Ok(Self { turn, settled_lines })
    }
}

impl Deref for SettledTurn {
    type Target = RewriteTurn;

    fn deref(&self) -> &RewriteTurn {
        &self.turn
    }
}
