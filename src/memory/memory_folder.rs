//! The package of a repository that a memory is of. Not here: which folder is a package (`place`).

use super::Memory;
use event::FolderPath;

impl Memory {
    /// Returns the folder of its repository it was learned in, where that is a package.
    #[must_use]
    pub fn folder(&self) -> Option<&FolderPath> {
        self.provenance.folder.as_ref()
    }

    /// Tells whether two memories of one repository are of packages beside each other: neither says anything of the other's subject.
    #[must_use]
    pub fn is_of_package_beside(&self, other: &Self) -> bool {
        let folders = self.folder().zip(other.folder());
        folders.is_some_and(|(own, other)| own.is_beside(other))
    }
}
