//! The directory in which a program was started. It may have been removed meanwhile, as happens to the work trees of
//! finished sessions; commands that need no directory then continue, and others say that they need one. Not here: asking the system (the
//! mains do), which repository a directory belongs to (`store`).

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The directory in which a program was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartDirectory {
    path: PathBuf,
    state: DirectoryState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectoryState {
    /// It exists.
    Exists,
    /// It was removed, but `$PWD` names a directory that exists, such as one that was made again under its name.
    NamedByShell,
    /// It was removed.
    Gone,
    /// It was removed, but the folders above it, or its name, tell its repository.
    InRepository,
}

impl StartDirectory {
    /// Finds the directory: the one that the system names, else `$PWD` where that is an absolute path of a directory.
    #[must_use]
    pub fn find(current: io::Result<PathBuf>, lookup: &dyn Fn(&str) -> Option<OsString>) -> Self {
        if let Ok(path) = current {
            return Self::at(path);
        }
        let by_shell = lookup("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
        match by_shell {
            Some(path) if path.is_dir() => Self { path, state: DirectoryState::NamedByShell },
            // Its path still tells a message which directory is meant, and a hook which repository is above it.
            Some(path) => Self { path, state: DirectoryState::Gone },
            None => Self { path: PathBuf::from("/"), state: DirectoryState::Gone },
        }
    }

    /// Returns a directory that exists.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path, state: DirectoryState::Exists }
    }

    /// Returns its path, from which relative paths count. Nothing need be there.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory if it exists.
    #[must_use]
    pub fn existing(&self) -> Option<&Path> {
        let is_gone = matches!(self.state, DirectoryState::Gone | DirectoryState::InRepository);
        (!is_gone).then_some(&*self.path)
    }

    /// Returns the same directory, of which the repository is known all the same.
    #[must_use]
    pub fn in_repository(self) -> Self {
        match self.state {
            DirectoryState::Gone => Self { state: DirectoryState::InRepository, ..self },
            _ => self,
        }
    }

    /// Says that another directory is taken than the one in which the program was started. Where there is none, whatever needs
    /// one says so.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let path = self.path.display();
        match self.state {
            DirectoryState::Exists | DirectoryState::Gone => None,
            DirectoryState::InRepository => Some(format!(
                "the working directory was removed; the repository above {path} is used in its place"
            )),
            DirectoryState::NamedByShell => Some(format!(
                "the working directory was removed; {path}, which $PWD names, is used in its place"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(current: io::Result<&Path>, pwd: Option<&Path>) -> StartDirectory {
        let lookup =
            |name: &str| pwd.filter(|_| name == "PWD").map(|path| path.as_os_str().to_owned());
        StartDirectory::find(current.map(Path::to_owned), &lookup)
    }

    // S-EXIT-3
    #[test]
    fn the_system_wins_over_the_shell_and_the_shell_over_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (present, gone) = (folder.path(), folder.path().join("gone"));
        let removed = || Err(io::ErrorKind::NotFound.into());
        let started = found(Ok(present), Some(&gone));
        assert_eq!((started.existing(), started.notice()), (Some(present), None));
        let by_shell = found(removed(), Some(present));
        assert_eq!(by_shell.existing(), Some(present));
        assert!(by_shell.notice().is_some_and(|notice| notice.contains("was removed")));
        let nowhere = found(removed(), Some(&gone));
        assert_eq!((nowhere.existing(), nowhere.path()), (None, &*gone));
        assert_eq!(nowhere.notice(), None);
        assert!(nowhere.in_repository().notice().is_some_and(|notice| notice.contains("above")));
        for wrong in [None, Some(Path::new(".")), Some(Path::new(""))] {
            let nowhere = found(removed(), wrong);
            assert_eq!((nowhere.existing(), nowhere.path()), (None, Path::new("/")), "{wrong:?}");
        }
    }
}
