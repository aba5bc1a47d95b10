//! Jujutsu, Mercurial and Sapling by their files: the top of their work tree, the repository behind it, and its remote. The layouts
//! were read off Mercurial 7.2 and the documentation of jj and Sapling. Not here: git (`git_repository`).

use std::path::{Path, PathBuf};

use crate::small_file::{small_path, small_text};
use crate::work_tree::VersionControl;

/// How deep configurations of Mercurial may include each other.
const DEPTH_MAX: usize = 8;

/// A work tree of another program than git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ControlledTree {
    /// The program.
    pub(crate) control: VersionControl,
    /// The top of the work tree.
    pub(crate) top: PathBuf,
    /// The program's files of this work tree.
    pub(crate) own_dir: PathBuf,
    /// The top of the main work tree, which names the repository where it has no remote.
    pub(crate) main_top: PathBuf,
    /// The git repository in which Jujutsu keeps everything.
    pub(crate) git_dir: Option<PathBuf>,
    /// The URLs or paths of the remotes, the best first.
    pub(crate) remotes: Vec<(String, String)>,
    /// The bookmark or branch.
    pub(crate) branch: Option<String>,
}

impl ControlledTree {
    /// Looks at one directory.
    pub(crate) fn look(directory: &Path) -> Option<Self> {
        jujutsu(directory)
            .or_else(|| mercurial(directory, ".hg", VersionControl::Mercurial))
            .or_else(|| mercurial(directory, ".sl", VersionControl::Sapling))
    }
}

/// `.jj/repo` is the repository, or in a second workspace a file with its path; `store/git_target` names the git repository.
fn jujutsu(top: &Path) -> Option<ControlledTree> {
    let own_dir = top.join(".jj");
    let repo = own_dir.join("repo");
    let repo = match repo.metadata().ok()?.is_dir() {
        true => repo,
        false => own_dir.join(small_path(&repo)?),
    };
    let repo = repo.canonicalize().unwrap_or(repo);
    let store = repo.join("store");
    let git_dir = small_path(&store.join("git_target")).map(|target| store.join(target));
    let git_dir = git_dir.map(|path| path.canonicalize().unwrap_or(path));
    // `TOP/.jj/repo`
    let main_top = repo.parent().and_then(Path::parent).unwrap_or(top).to_owned();
    let (control, top) = (VersionControl::Jujutsu, top.to_owned());
    Some(ControlledTree {
        control,
        top,
        own_dir,
        main_top,
        git_dir,
        remotes: Vec::new(),
        branch: None,
    })
}

/// `.hg` has `requires` or a store; `sharedpath` names the repository that a share belongs to; `[paths]` in `hgrc` has the URLs.
/// Sapling kept that, with other names.
fn mercurial(top: &Path, name: &str, control: VersionControl) -> Option<ControlledTree> {
    let own_dir = top.join(name);
    let is_one = ["requires", "store", "sharedpath", "00changelog.i"];
    if !own_dir.is_dir() || !is_one.iter().any(|file| own_dir.join(file).exists()) {
        return None;
    }
    let shared = small_path(&own_dir.join("sharedpath")).map(|path| own_dir.join(path));
    let main = shared.map_or_else(|| own_dir.clone(), |path| path.canonicalize().unwrap_or(path));
    let main_top = main.parent().unwrap_or(top).to_owned();
    // A share that is not "share-safe" has a configuration of its own.
    let folders = if main == own_dir { vec![&own_dir] } else { vec![&own_dir, &main] };
    let files = folders.iter().flat_map(|folder| ["hgrc", "config"].map(|file| folder.join(file)));
    let mut remotes: Vec<(String, String)> =
        files.flat_map(|file| paths_in(&file, DEPTH_MAX)).collect();
    remotes.sort_by_key(|(name, _)| match name.as_str() {
        "default" => 0,
        "upstream" => 1,
        _ => 2,
    });
    let word = |file: &str| small_text(&own_dir.join(file)).map(|text| text.trim().to_owned());
    let branch =
        word("bookmarks.current").filter(|name| !name.is_empty()).or_else(|| word("branch"));
    let branch = branch.filter(|name| !name.is_empty());
    Some(ControlledTree {
        control,
        top: top.to_owned(),
        own_dir,
        main_top,
        git_dir: None,
        remotes,
        branch,
    })
}

/// Reads the entries of `[paths]` from a configuration of Mercurial, and from those that it includes.
fn paths_in(file: &Path, depth: usize) -> Vec<(String, String)> {
    let Some(text) = small_text(file) else { return Vec::new() };
    let mut found = Vec::new();
    let mut is_paths = false;
    for line in text.lines() {
        if line.starts_with(['#', ';']) || line.trim().is_empty() {
            continue;
        }
        if let Some(path) = line.strip_prefix("%include ").filter(|_| depth > 0) {
            let folder = file.parent().unwrap_or_else(|| Path::new(""));
            found.extend(paths_in(&folder.join(path.trim()), depth - 1));
        } else if let Some(section) = line.trim().strip_prefix('[') {
            is_paths = section.strip_suffix(']').is_some_and(|section| section.trim() == "paths");
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_paths) {
            let (name, value) = (name.trim(), value.trim());
            // `default:pushurl` and `default-push` say where to push.
            if !name.contains(':') && !name.ends_with("-push") && !value.is_empty() {
                found.push((name.to_owned(), value.to_owned()));
            }
        }
    }
    found
}
