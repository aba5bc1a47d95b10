//! A temporary folder that is removed on drop. Not here: its contents (`corpus`).

use std::path::{Path, PathBuf};

use super::EvalError;

/// A folder that only its user can read, removed with its contents on drop.
#[derive(Debug)]
pub(super) struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    /// Creates a new folder below `above`, with `random` in its name. An existing folder is an error, because
    /// somebody may have planted it.
    pub(super) fn new(above: &Path, random: u128) -> Result<Self, EvalError> {
        let path = above.join(format!("agent-knowledge-eval-{random:032x}"));
        store::private_dirs().create(&path).map_err(EvalError::io("make the folder", &path))?;
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // If it cannot be removed, it is left to the cleanup of temporary files.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_is_private_new_and_gone_afterwards() {
        let above = tempfile::tempdir().unwrap();
        let scratch = ScratchFolder::new(above.path(), 7).unwrap();
        std::fs::write(scratch.path().join("a"), "x").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = scratch.path().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        assert!(ScratchFolder::new(above.path(), 7).is_err());
        drop(scratch);
        assert_eq!(std::fs::read_dir(above.path()).unwrap().count(), 0);
    }
}
