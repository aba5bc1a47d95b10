//! Which repository a file of the store belongs to. Not here: which repository a directory is (`repo`).

use std::path::Path;

use event::RepoKey;

use super::{Store, archive, spool};

impl Store {
    /// Returns the key of the repository that a file belongs to, by the file's name. The file is a log, a write
    /// in the spool, or a segment.
    #[must_use]
    pub fn repo_of(log: &Path) -> RepoKey {
        let sealed_from = || Some(archive::stem_of_log(log)?.to_string_lossy().into_owned());
        let waits_for = spool::stem_of_log(log).or_else(sealed_from);
        let stem = || log.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        RepoKey::from_file_stem(&waits_for.unwrap_or_else(stem))
    }
}
