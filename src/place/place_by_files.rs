//! The place of a directory, and the key of a URL, by the files alone: for whoever needs only a top, a work tree or a key. Not here: what the store knows of it
//! (`store::Store::place_at`).

use std::path::Path;

use event::RepoKey;

use crate::locate::Locator;
use crate::machine::Machine;
use crate::place::Place;
use crate::repository_key::KeyFinder;
use crate::steps::Steps;
use crate::stored_places::NothingStored;

/// Finds a place without asking a store, so without aliases and memories.
#[must_use]
pub fn place_by_files(directory: &Path, machine: &Machine) -> Place {
    Locator::new(machine, &NothingStored, Steps::disabled()).at(directory)
}

/// Returns the key that the URL of a remote gives on a machine, with the settings of git and SSH followed.
#[must_use]
pub fn remote_key(url: &str, machine: &Machine) -> Option<RepoKey> {
    let finder = KeyFinder { machine, stored: &NothingStored };
    finder.url_key("origin", url, &mut Steps::disabled()).map(|(key, _)| key)
}
