//! A work tree of a repository, whichever program controls its versions. Not here: how it is found (`git_repository`,
//! `other_control`).

use std::fmt;
use std::path::{Path, PathBuf};

/// The program that controls the versions of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VersionControl {
    /// Git, also where Jujutsu works on the same files.
    Git,
    /// Jujutsu without git's files beside it.
    Jujutsu,
    /// Mercurial.
    Mercurial,
    /// Sapling.
    Sapling,
}

impl VersionControl {
    /// Returns the name of the folder of its files, at the top of a work tree.
    pub(crate) fn files_name(self) -> &'static str {
        match self {
            Self::Git => ".git",
            Self::Jujutsu => ".jj",
            Self::Mercurial => ".hg",
            Self::Sapling => ".sl",
        }
    }

    /// Returns the name by which people know it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Jujutsu => "Jujutsu",
            Self::Mercurial => "Mercurial",
            Self::Sapling => "Sapling",
        }
    }
}

impl fmt::Display for VersionControl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Git => "git",
            Self::Jujutsu => "jj",
            Self::Mercurial => "hg",
            Self::Sapling => "sl",
        })
    }
}

/// A work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    /// The program that controls it.
    pub control: VersionControl,
    /// Its top directory.
    pub top: PathBuf,
    /// The directory with the program's files of this work tree alone, such as `HEAD`.
    pub git_dir: PathBuf,
    /// The directory shared by all work trees of the repository.
    pub common_dir: PathBuf,
    /// The current branch or bookmark.
    pub branch: Option<String>,
    /// The current commit, where git tells it.
    pub commit: Option<String>,
}

impl WorkTree {
    /// Returns the directory of the repository's own files, which tells it from another one at the same path.
    #[must_use]
    pub fn repository_files(&self) -> PathBuf {
        let name = self.control.files_name();
        let is_named = |path: &&Path| path.file_name().is_some_and(|own| own == name);
        match self.control {
            VersionControl::Git => self.common_dir.clone(),
            // Jujutsu keeps everything in a git repository, mostly below its own folder.
            VersionControl::Jujutsu if self.common_dir.ends_with(".git") => self.common_dir.clone(),
            _ => match self.common_dir.ancestors().find(is_named) {
                Some(files) => files.to_owned(),
                None => self.common_dir.join(name),
            },
        }
    }
}
