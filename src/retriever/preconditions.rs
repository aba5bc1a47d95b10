//! Checks before a command does anything: a working directory that exists, and absolute paths. Not here: opening the memory (`memory_opening`).

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

    /// Returns the absolute path, with links followed. The path need not exist.
    pub fn absolute_path(&self, path: &Path) -> PathBuf {
        let path = self.surroundings.directory.path().join(path);
        let existing = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
        let Some((part, existing)) = existing else { return path };
        let rest = path.strip_prefix(part).unwrap_or(Path::new(""));
        rest.components().fold(existing, |place, component| place.join(component))
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
