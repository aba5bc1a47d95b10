//! A work tree of a repository, whichever program controls its versions. Not here: how it is found (`git_repository`,
//! `other_control`).

use std::fmt;
use std::path::PathBuf;

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
