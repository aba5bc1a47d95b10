//! Git's own test for what a repository is, on its files: `objects` and `refs` are folders, and `HEAD` names a ref or a commit;
//! otherwise it is none, and git looks further up. Not here: its remotes (`remote`), and a pointer whose target is missing
//! (`lost_pointer`).

use std::path::{Path, PathBuf};

use crate::git_head::{GitHead, read_head};
use crate::small_file::{path_of_bytes, small_path};

/// What one directory is to git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GitAt {
    /// The top of a work tree, or a bare repository.
    Repository(GitRepository),
    /// A work tree whose `.git` names a directory that is none.
    LostPointer(PathBuf),
    /// A folder `.git` that this user may not read.
    Unreadable(PathBuf),
    /// A folder `.git` that is no repository, but has a configuration, as images have that leave out the objects.
    Remains(PathBuf),
    /// Nothing.
    Nothing,
}

/// A git repository as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitRepository {
    /// The top of the work tree, or the bare repository.
    pub(crate) top: PathBuf,
    /// The directory with the files of this work tree.
    pub(crate) git_dir: PathBuf,
    /// The directory shared by all work trees.
    pub(crate) common_dir: PathBuf,
    /// What is checked out.
    pub(crate) head: GitHead,
}

impl GitAt {
    /// Looks at one directory.
    pub(crate) fn look(directory: &Path) -> Self {
        let dot_git = directory.join(".git");
        match dot_git.metadata() {
            Ok(found) if found.is_dir() => match GitRepository::open(directory, &dot_git) {
                Some(found) => return Self::Repository(found),
                None if is_refused(&dot_git) => return Self::Unreadable(dot_git),
                None if dot_git.join("config").is_file() => return Self::Remains(dot_git),
                None => {}
            },
            Ok(_) => {
                // In a linked work tree or a submodule, `.git` is a file that names the directory.
                if let Some(target) = pointer(&dot_git) {
                    let git_dir = directory.join(&target);
                    let found = GitRepository::open(directory, &git_dir);
                    return found.map_or(Self::LostPointer(git_dir), Self::Repository);
                }
            }
            Err(_) => {}
        }
        // A file less to look for in each folder: a bare repository has `HEAD` right here.
        let bare = directory.join("HEAD").is_file();
        let bare = bare.then(|| GitRepository::open(directory, directory)).flatten();
        bare.map_or(Self::Nothing, Self::Repository)
    }
}

impl GitRepository {
    /// Returns the repository with its files in a directory, if git would take it for one.
    pub(crate) fn open(top: &Path, git_dir: &Path) -> Option<Self> {
        let common_dir = common_dir(top, git_dir);
        let head = read_head(git_dir, &common_dir)?;
        let is_one = common_dir.join("objects").is_dir() && common_dir.join("refs").is_dir();
        let (top, git_dir) = (top.to_owned(), git_dir.to_owned());
        is_one.then_some(Self { top, git_dir, common_dir, head })
    }
}

/// Reads the path in a `.git` file.
fn pointer(file: &Path) -> Option<PathBuf> {
    let text = small_path(file)?;
    let target = text.as_os_str().as_encoded_bytes().strip_prefix(b"gitdir:")?.trim_ascii();
    (!target.is_empty()).then(|| path_of_bytes(target))
}

fn is_refused(git_dir: &Path) -> bool {
    let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
    let head = git_dir.join("HEAD");
    let opened = std::fs::File::open(&head).err().is_some_and(refused);
    opened || git_dir.join("objects").metadata().err().is_some_and(refused)
}

/// Returns the directory that all work trees of a repository share.
fn common_dir(top: &Path, git_dir: &Path) -> PathBuf {
    let common = small_path(&git_dir.join("commondir")).map(|path| git_dir.join(path));
    // A `.git` folder that is not a link is below the working directory, which is already resolved.
    let is_plain = git_dir == top.join(".git")
        && git_dir.symlink_metadata().is_ok_and(|found| !found.is_symlink());
    match common {
        None if is_plain => git_dir.to_owned(),
        common => {
            let common = common.unwrap_or_else(|| git_dir.to_owned());
            common.canonicalize().unwrap_or(common)
        }
    }
}
