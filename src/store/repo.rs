//! Detects which repository a directory belongs to: by its remote URL, else its common directory, else its
//! folder. Reads git's files instead of starting git, because an append must not cost a process. Not here: how
//! a URL becomes a key (`event::RepoKey`).

use std::fmt;
use std::path::{Path, PathBuf};

use event::RepoKey;

use super::git_config::{self, read};

/// The repository detected for a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedRepo {
    /// Its key.
    pub key: RepoKey,
    /// What the key was made from.
    pub why: RepoSource,
    /// The work tree, if there is a git repository.
    pub git: Option<WorkTree>,
}

/// A git work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    /// The top directory of the work tree.
    pub top: PathBuf,
    /// The directory with git's files of this work tree alone, such as `HEAD`.
    pub git_dir: PathBuf,
    /// The directory shared by all work trees of the repository.
    pub common_dir: PathBuf,
    /// The current branch.
    pub branch: Option<String>,
    /// The current commit.
    pub commit: Option<String>,
}

/// What of a place has the name that somebody typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameMatch {
    /// The repository.
    Repository,
    /// A folder of it, which may have the name of another repository.
    Folder,
}

/// What a repository's key was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepoSource {
    /// The URL of a remote.
    Remote {
        /// The remote's name.
        name: String,
        /// The URL, without user information.
        url: String,
    },
    /// The common directory of a git repository that no other machine can share.
    CommonDir(PathBuf),
    /// The folder; there is no git repository.
    Folder(PathBuf),
}

impl fmt::Display for RepoSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { name, url } => write!(out, "the URL of its remote {name:?}: {url}"),
            Self::CommonDir(path) => {
                write!(
                    out,
                    "its git directory {} (it has no remote that other machines could share)",
                    path.display()
                )
            }
            Self::Folder(path) => write!(out, "the folder {} (no git repository)", path.display()),
        }
    }
}

impl DetectedRepo {
    /// Detects the repository of a directory. This never fails: if git's files do not name a repository, the
    /// folder does.
    #[must_use]
    pub fn detect(directory: &Path) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        match directory.ancestors().find_map(git_at) {
            Some((top, git_dir)) => Self::of_git(top, git_dir),
            None => {
                let key = RepoKey::from_place(&name_of(&directory), &directory.to_string_lossy());
                Self { key, why: RepoSource::Folder(directory), git: None }
            }
        }
    }

    /// Returns the top of the work tree, or the directory itself without git.
    #[must_use]
    pub fn top(&self) -> &Path {
        match (&self.git, &self.why) {
            (Some(git), _) => &git.top,
            (None, RepoSource::Folder(path) | RepoSource::CommonDir(path)) => path,
            (None, RepoSource::Remote { .. }) => Path::new(""),
        }
    }

    /// Tells what of the place has a name, as people and scripts type it: one word, in any case.
    /// `directory` is where they stand.
    #[must_use]
    pub fn name_match(&self, name: &str, directory: &Path) -> Option<NameMatch> {
        let name = name.trim();
        if name.is_empty() || name.contains(['/', '~', ':']) || !directory.is_absolute() {
            return None;
        }
        let is_folder = |path: &Path| {
            path.file_name().is_some_and(|own| own.to_string_lossy().eq_ignore_ascii_case(name))
        };
        match self.key.short_name().eq_ignore_ascii_case(name) {
            true => Some(NameMatch::Repository),
            false => (is_folder(self.top()) || is_folder(directory)).then_some(NameMatch::Folder),
        }
    }

    fn of_git(top: PathBuf, git_dir: PathBuf) -> Self {
        let common_dir = common_dir(&top, &git_dir);
        let (branch, commit) = head(&git_dir, &common_dir);
        let remote = read(&common_dir.join("config")).and_then(|config| best_remote(&config));
        let (key, why) = match remote {
            Some((name, url, key)) => (key, RepoSource::Remote { name, url: without_user(&url) }),
            None => {
                let key =
                    RepoKey::from_place(&repo_name(&common_dir), &common_dir.to_string_lossy());
                (key, RepoSource::CommonDir(common_dir.clone()))
            }
        };
        Self { key, why, git: Some(WorkTree { top, git_dir, common_dir, branch, commit }) }
    }
}

/// Tells whether a directory is the top of a work tree or a bare repository, and where its git files are.
fn git_at(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let dot_git = directory.join(".git");
    if dot_git.is_dir() {
        return Some((directory.to_owned(), dot_git));
    }
    if let Some(pointer) = read(&dot_git) {
        // In a linked work tree or a submodule, `.git` is a file that names the directory.
        let target = pointer.trim().strip_prefix("gitdir:")?.trim();
        return Some((directory.to_owned(), directory.join(target)));
    }
    let is_bare =
        ["HEAD", "objects", "refs", "config"].iter().all(|name| directory.join(name).exists());
    is_bare.then(|| (directory.to_owned(), directory.to_owned()))
}

fn common_dir(top: &Path, git_dir: &Path) -> PathBuf {
    let common = read(&git_dir.join("commondir")).map(|text| git_dir.join(text.trim()));
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

/// Reads the current branch and commit.
fn head(git_dir: &Path, common_dir: &Path) -> (Option<String>, Option<String>) {
    let Some(head) = read(&git_dir.join("HEAD")) else { return (None, None) };
    let Some(reference) = head.trim().strip_prefix("ref:").map(str::trim) else {
        return (None, commit_id(&head));
    };
    // A repository with reftables stores its branches elsewhere and marks that with this name.
    let is_real = reference != "refs/heads/.invalid";
    let branch = reference.strip_prefix("refs/heads/").filter(|_| is_real).map(str::to_owned);
    let loose = read(&common_dir.join(reference)).and_then(|text| commit_id(&text));
    let packed = || {
        let packed = read(&common_dir.join("packed-refs"))?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(reference))?;
        commit_id(line.split(' ').next()?)
    };
    (branch, loose.or_else(packed))
}

fn commit_id(text: &str) -> Option<String> {
    let id = text.trim();
    let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// Selects the remote that names the repository: `origin`, else `upstream`, else the first.
fn best_remote(config: &str) -> Option<(String, String, RepoKey)> {
    let shared = remotes(config)
        .into_iter()
        .filter_map(|(name, url)| RepoKey::from_remote(&url).map(|key| (name, url, key)));
    let rank = |name: &str| match name {
        "origin" => 0,
        "upstream" => 1,
        _ => 2,
    };
    shared.min_by_key(|(name, _, _)| rank(name))
}

/// Returns the URL of each remote, in the order of a git configuration. The first URL of a remote counts.
fn remotes(config: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for entry in git_config::entries(config).filter(|entry| entry.is("remote", "url")) {
        let is_new = found.iter().all(|(other, _)| *other != entry.subsection);
        if is_new && !entry.subsection.is_empty() {
            found.push((entry.subsection, entry.value));
        }
    }
    found
}

/// Removes user name and password from a URL that is shown.
fn without_user(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit('@').next().unwrap_or(authority);
            format!("{scheme}://{host}/{path}")
        }
        None => url.to_owned(),
    }
}

/// Returns the name of a repository's folder: `api/.git` and `api.git` are both `api`.
fn repo_name(common_dir: &Path) -> String {
    let name = name_of(common_dir);
    match common_dir.parent() {
        Some(parent) if name == ".git" => name_of(parent),
        Some(_) | None => name.trim_end_matches(".git").to_owned(),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_are_read_as_git_writes_them() {
        let config = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = git@github.com:me/api.git\n\
                      [remote \"origin\"] ; mine\n\tURL = \"https://github.com/acme/api.git\" # here\n\
                      \turl = https://mirror.example.org/api\n[branch \"main\"]\n\turl = no\n";
        let (name, url, key) = best_remote(config).unwrap();
        assert_eq!((name.as_str(), url.as_str()), ("origin", "https://github.com/acme/api.git"));
        assert_eq!(key.as_str(), "github.com/acme/api");
        assert_eq!(remotes(config).len(), 2);
    }

    // S-REPO-3
    #[test]
    fn a_remote_on_this_machine_only_is_no_identity() {
        assert_eq!(best_remote("[remote \"origin\"]\nurl = /srv/git/api.git\n"), None);
    }

    // S-REPO-3
    #[test]
    fn folders_without_git_are_told_apart_by_their_whole_path() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("a/api"), folder.path().join("b/api"));
        std::fs::create_dir_all(&one).unwrap();
        std::fs::create_dir_all(&two).unwrap();
        let (one, two) = (DetectedRepo::detect(&one), DetectedRepo::detect(&two));
        assert!(matches!(one.why, RepoSource::Folder(_)));
        assert_ne!(one.key, two.key);
        assert_eq!(one.key.short_name(), two.key.short_name());
    }

    #[test]
    fn passwords_in_urls_are_not_shown() {
        assert_eq!(without_user("https://me:secret@github.com/a/b"), "https://github.com/a/b");
    }
}
