//! What a command needs before it does anything: a working directory that exists, and a table of the settings that this version
//! understands in full. Not here: opening the memory (`memory_opening`).

use std::path::{Path, PathBuf};

use crate::failure::unavailable_error;
use crate::startup::Retriever;
use requests::ApiError;

impl Retriever<'_> {
    /// Returns the working directory, if it exists.
    pub fn working_directory(&self) -> Option<PathBuf> {
        self.surroundings.directory.existing().map(Path::to_owned)
    }

    /// Returns a path that somebody gave, from the working directory where it is relative.
    pub fn path_from_here(&self, path: &Path) -> Result<PathBuf, ApiError> {
        match path.is_absolute() {
            true => Ok(path.to_owned()),
            false => Ok(self.needed_directory()?.join(path)),
        }
    }

    /// Returns the working directory for a command that works on what is in it.
    pub fn needed_directory(&self) -> Result<PathBuf, ApiError> {
        self.directory_use.record(true);
        self.working_directory().ok_or_else(|| {
            let removed = self.surroundings.directory.path().display();
            unavailable_error(format!(
                "the working directory does not exist any more ({removed}), and this command works on what is in it; change \
                 into one that exists, for example cd ~"
            ))
        })
    }
}
