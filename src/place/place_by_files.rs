//! The place of a directory by the files alone, for whoever needs only its top or its work tree. Not here: what the store knows of it
//! (`store::Store::place_at`).

use std::path::Path;

use crate::locate::Locator;
use crate::machine::Machine;
use crate::place::Place;
use crate::steps::Steps;
use crate::stored_places::NothingStored;

/// Finds a place without asking a store, so without aliases and memories.
#[must_use]
pub fn place_by_files(directory: &Path, machine: &Machine) -> Place {
    Locator::new(machine, &NothingStored, Steps::disabled()).at(directory)
}
