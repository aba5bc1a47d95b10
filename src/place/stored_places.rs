//! What the store knows about places, asked one question at a time, because most places need none. Not here: the answers, which
//! the caller reads from the store and the configuration.

use std::path::Path;

use event::RepoKey;

/// Answers what is known of places.
pub trait StoredPlaces {
    /// Follows aliases to the current key of a repository.
    fn current(&self, key: &RepoKey) -> RepoKey {
        key.clone()
    }

    /// Tells whether a repository has memories.
    fn has_memories(&self, _key: &RepoKey) -> bool {
        false
    }

    /// Returns the key that the repository with this common directory had when it was last seen. Where another repository lay there
    /// before, this one gets a key of its own.
    fn key_of_common_dir(&self, _common_dir: &Path) -> Option<RepoKey> {
        None
    }

    /// Returns the same for the folder with the files of Mercurial, Sapling or Jujutsu.
    fn key_of_control_files(&self, _files: &Path) -> Option<RepoKey> {
        None
    }

    /// Returns the key of a folder without version control, where it differs from the one that its path gives: another folder lay
    /// there before, and was moved away with its memories.
    fn key_of_folder(&self, _folder: &Path) -> Option<RepoKey> {
        None
    }

    /// Returns the only known repository of a short name.
    fn only_named(&self, _short_name: &str) -> Option<RepoKey> {
        None
    }
}

/// A store that knows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NothingStored;

impl StoredPlaces for NothingStored {}
