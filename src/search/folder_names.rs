//! A folder of a repository under all names that it has had: a package is renamed, and what was learned in it stays its own. Not here:
//! finding the names (`staleness::moved_paths`).

use event::FolderPath;

/// A folder under the names that it has and has had, the present one first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderNames {
    present: FolderPath,
    others: Vec<FolderPath>,
}

impl From<FolderPath> for FolderNames {
    fn from(present: FolderPath) -> Self {
        Self { present, others: Vec::new() }
    }
}

impl FolderNames {
    /// A folder that has other names too.
    #[must_use]
    pub fn new(present: FolderPath, mut others: Vec<FolderPath>) -> Self {
        others.retain(|other| *other != present);
        Self { present, others }
    }

    /// Returns its present name.
    #[must_use]
    pub fn present(&self) -> &FolderPath {
        &self.present
    }

    /// Tells whether a name is one of its own.
    #[must_use]
    pub fn is_named(&self, folder: &FolderPath) -> bool {
        self.names().any(|name| name == folder)
    }

    /// Tells whether a folder is it or below it.
    #[must_use]
    pub fn has(&self, folder: &FolderPath) -> bool {
        self.names().any(|name| folder.is_within(name))
    }

    /// Tells whether a folder is neither it nor below nor above it, under any of its names.
    #[must_use]
    pub fn is_beside(&self, folder: &FolderPath) -> bool {
        self.names().all(|name| folder.is_beside(name))
    }

    fn names(&self) -> impl Iterator<Item = &FolderPath> {
        std::iter::once(&self.present).chain(&self.others)
    }
}
