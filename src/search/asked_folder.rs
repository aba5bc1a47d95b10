//! A folder that a question names, and which memories were learned in it. Not here: reading what somebody typed (`place`).

use std::collections::BTreeSet;

use event::{FolderPath, RepoKey};
use memory::Memory;

/// A folder that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedFolder {
    /// Its path from the top of a repository on.
    pub path: FolderPath,
    /// The keys of its repository, where it is one of the caller's work tree; `None` for the folder of this name in every repository.
    pub keys: Option<BTreeSet<RepoKey>>,
}

impl AskedFolder {
    /// Tells whether a memory was learned in it or in a folder below it.
    #[must_use]
    pub fn has(&self, memory: &Memory) -> bool {
        let is_within = memory.folder().is_some_and(|folder| folder.is_within(&self.path));
        is_within && self.keys.as_ref().is_none_or(|keys| keys.contains(&memory.repo))
    }
}
