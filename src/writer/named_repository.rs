//! The repository that somebody names to a command that writes into logs or looks after them: what a save would take. Not here: the
//! steps of that (`target`).

use std::path::Path;

use event::{MemoryScope, RepoKey};
use settings::Config;
use store::Store;

use crate::RecordError;
use crate::target::TargetSearch;

/// Returns the repository that a text names where somebody stands: a name, a key, a URL, a path, or a word for the one at hand.
///
/// # Errors
/// [`RecordError::Invalid`] says what is allowed.
pub fn named_repository(
    store: &Store,
    config: &Config,
    directory: &Path,
    text: &str,
) -> Result<RepoKey, RecordError> {
    let search = TargetSearch { store, config, directory };
    Ok(search.target_of(Some(text), MemoryScope::Repo)?.into_repo()?)
}
