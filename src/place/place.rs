//! A place: the repository that a lesson belongs to, how that is known, and where in it somebody stands. Not here: finding it
//! (`locate`).

use std::fmt;
use std::path::{Path, PathBuf};

use event::RepoKey;

use crate::work_tree::{VersionControl, WorkTree};

/// Where somebody stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The repository, with aliases followed. `None`: the directory is nobody's project, so whoever saves must name one.
    pub repository: Option<RepoKey>,
    /// Its key before aliases.
    pub own_key: Option<RepoKey>,
    /// How that is known.
    pub because: PlaceSource,
    /// The top of the work tree or project.
    pub top: PathBuf,
    /// The folder below the top, with `/`; empty at the top itself.
    pub folder: String,
    /// The work tree, where a program controls its versions.
    pub work_tree: Option<WorkTree>,
}

/// How a repository is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceSource {
    /// By the URL of a remote.
    Remote {
        /// The remote's name.
        name: String,
        /// The URL, without user information.
        url: String,
    },
    /// By the common directory of a repository that no other machine can share.
    CommonDir(VersionControl, PathBuf),
    /// By what the store remembers of a common directory.
    Remembered(PathBuf),
    /// By the text of a `.git` file that leads nowhere.
    PointerText(PathBuf),
    /// By the custom of a tool, which removed the directory.
    RemovedTree(PathBuf),
    /// By the beginning of the name of a removed directory, which may also have been another repository.
    RemovedNamesake(PathBuf),
    /// By a folder that has memories.
    Memories(PathBuf),
    /// By a file or folder that marks a project.
    Mark {
        /// The project's folder.
        folder: PathBuf,
        /// The name of the mark.
        mark: String,
    },
    /// By the variable or argument that declares the project.
    Declared(PathBuf),
    /// By the folder alone.
    Folder(PathBuf),
    /// Not at all: nobody works on a project there.
    NoProject(PathBuf),
}

impl fmt::Display for PlaceSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { name, url } => write!(out, "the URL of its remote {name:?}: {url}"),
            Self::CommonDir(control, path) => {
                let directory = match control {
                    VersionControl::Git => "git directory".to_owned(),
                    other => format!("{} repository", other.name()),
                };
                let path = path.display();
                write!(
                    out,
                    "its {directory} {path} (it has no remote that other machines could share)"
                )
            }
            Self::Remembered(path) => {
                write!(out, "what the store remembers of {}", path.display())
            }
            Self::PointerText(path) => {
                write!(out, "its file .git, which names {} (not there)", path.display())
            }
            Self::RemovedTree(path) | Self::RemovedNamesake(path) => {
                write!(out, "the removed directory {}, by its name", path.display())
            }
            Self::Memories(path) => {
                write!(out, "the folder {}, which has memories (no git repository)", path.display())
            }
            Self::Mark { folder, mark } => {
                write!(out, "the folder {}, which has {mark} (no git repository)", folder.display())
            }
            Self::Declared(path) => write!(
                out,
                "the folder {}, which the client declares (no git repository)",
                path.display()
            ),
            Self::Folder(path) => write!(out, "the folder {} (no git repository)", path.display()),
            Self::NoProject(path) => {
                write!(out, "the folder {}, which is nobody's project", path.display())
            }
        }
    }
}

/// How much a place says about what somebody works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceStrength {
    /// Nothing.
    Nothing,
    /// A folder, and nothing that makes it a project.
    Folder,
    /// A project without version control.
    Project,
    /// A repository.
    Repository,
}

/// What of a place has the name that somebody typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameMatch {
    /// The repository.
    Repository,
    /// A folder of it, which may have the name of another repository.
    Folder,
}

impl Place {
    /// Returns the current branch.
    #[must_use]
    pub fn branch(&self) -> Option<&str> {
        self.work_tree.as_ref()?.branch.as_deref()
    }

    /// Returns the work tree if git controls it.
    #[must_use]
    pub fn git(&self) -> Option<&WorkTree> {
        self.work_tree.as_ref().filter(|tree| tree.control == VersionControl::Git)
    }

    /// Tells how much the place says.
    #[must_use]
    pub fn strength(&self) -> PlaceStrength {
        match &self.because {
            PlaceSource::NoProject(_) => PlaceStrength::Nothing,
            PlaceSource::Folder(_) => PlaceStrength::Folder,
            PlaceSource::Memories(_) | PlaceSource::Mark { .. } | PlaceSource::Declared(_) => {
                PlaceStrength::Project
            }
            PlaceSource::Remote { .. }
            | PlaceSource::CommonDir(..)
            | PlaceSource::Remembered(_)
            | PlaceSource::PointerText(_)
            | PlaceSource::RemovedTree(_)
            | PlaceSource::RemovedNamesake(_) => PlaceStrength::Repository,
        }
    }

    /// Tells what of the place has a name, as people and scripts type it: one word, in any case. `directory` is where they stand.
    #[must_use]
    pub fn name_match(&self, name: &str, directory: &Path) -> Option<NameMatch> {
        let name = name.trim();
        if name.is_empty() || name.contains(['/', '~', ':']) || !directory.is_absolute() {
            return None;
        }
        let is_folder = |path: &Path| {
            path.file_name().is_some_and(|own| own.to_string_lossy().eq_ignore_ascii_case(name))
        };
        let own_key = self.own_key.as_ref()?;
        match own_key.short_name().eq_ignore_ascii_case(name) {
            true => Some(NameMatch::Repository),
            false => (is_folder(&self.top) || is_folder(directory)).then_some(NameMatch::Folder),
        }
    }
}

/// Writes the path of a directory below a top with `/`; empty where it is not below.
pub(crate) fn folder_below(top: &Path, directory: &Path) -> String {
    let Ok(below) = directory.strip_prefix(top) else { return String::new() };
    let parts = below.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
