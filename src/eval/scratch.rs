//! A folder of our own that is gone when we are. Not here: what is put into it (`corpus`).

use std::path::{Path, PathBuf};

use super::EvalError;

/// A folder that only its user can read, removed with all it holds when this is dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes a new folder below `above`; `random` keeps it apart from others. One that is there already
    /// may be somebody's trap, and is an error.
    pub(super) fn new(above: &Path, random: u128) -> Result<Self, EvalError> {
        let path = above.join(format!("agent-knowledge-eval-{random:032x}"));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(EvalError::io("make the folder", &path))?;
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever clears temporary files.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_is_private_new_and_gone_afterwards() {
        let above = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(above.path(), 7).unwrap();
        std::fs::write(scratch.path().join("a"), "x").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = scratch.path().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        assert!(Scratch::new(above.path(), 7).is_err());
        drop(scratch);
        assert_eq!(std::fs::read_dir(above.path()).unwrap().count(), 0);
    }
}
