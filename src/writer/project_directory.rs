//! Which directory tells a caller's repository: the one in which the program was started, or one that the client declares. Not here: finding a
//! repository from a directory (`place`), what the store knows of it (`store`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use event::Timestamp;
use place::{DirectoryOrigin, KnownDirectory, PlaceStrength};
use settings::Config;
use store::Store;

use crate::StartDirectory;

/// Returns the directories that are known of a caller, what a hook or an argument names first. `lookup` reads the environment.
#[must_use]
pub fn known_directories(
    named: Option<KnownDirectory>,
    start: &StartDirectory,
    store: &Store,
    lookup: &dyn Fn(&str) -> Option<OsString>,
) -> Vec<KnownDirectory> {
    let origin = match start.existing() {
        Some(_) => DirectoryOrigin::Process,
        None => DirectoryOrigin::Shell,
    };
    let own = KnownDirectory::new(origin, start.path());
    let declared = KnownDirectory::declared(lookup, store.machine());
    named.into_iter().chain([own]).chain(declared).collect()
}

/// Remembers a directory whose repository became another one since it was last served, such as one that got a remote. Whoever reads
/// the settings afterwards finds what is certain joined. Tells whether there was a change.
pub fn remember_change(store: &Store, config: &Config, directory: &Path, now: Timestamp) -> bool {
    let place = store.place_at(directory, config);
    let is_changed = store.is_changed_place(&place);
    if is_changed {
        store.remember_place(&place, now);
    }
    is_changed
}

/// Returns the directory that tells a caller's repository. `None`: the working directory was removed, and nothing above it or declared
/// is a repository.
#[must_use]
pub fn project_directory(
    store: &Store,
    config: &Config,
    start: &StartDirectory,
    known: &[KnownDirectory],
) -> Option<PathBuf> {
    let chosen = store.project_directory(known, config)?;
    let is_there = start.existing().is_some() || chosen != start.path();
    let is_sure = || store.place_at(&chosen, config).strength() == PlaceStrength::Repository;
    (is_there || is_sure()).then_some(chosen)
}
