//! What each store has: its name, how it is recognised, and how it is read. Not here: which stores there are (`stores`).

use super::super::error::ExchangeError;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::Harvest;

/// A store whose memories can be imported.
#[derive(Debug)]
pub struct ForeignStore {
    /// Its name in commands and answers.
    pub name: &'static str,
    /// What of it is imported, for people.
    pub form: &'static str,
    /// Tells whether a path holds such a store.
    pub recognises: fn(&ForeignPlace) -> bool,
    /// Reads it.
    pub read: fn(&ForeignPlace) -> Result<Harvest, ExchangeError>,
}

/// Returns an error for a path that does not hold what a forced store needs.
pub(super) fn unlike(place: &ForeignPlace, store: &ForeignStore) -> ExchangeError {
    ExchangeError::form(&place.path, format!("is no {} ({})", store.name, store.form))
}
