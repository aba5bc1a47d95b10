//! Which repository a session belongs to: by the remote that its records name, else by the directory in which it began, else by the paths
//! in its calls. The names of folders of transcripts are not asked, because they stand for several directories. Not here: how a
//! directory's repository is found (`place`), what other sessions say (`repo_correction`).

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use event::RepoKey;
use guard::secrets::RedactedText;
use place::{
    Locator, PlaceSource, PlaceStrength, Steps, custom_tree_name, directory_of_text, remote_key,
};
use transcripts::exchange::SessionFacts;

use super::call_paths::CallPaths;
use super::import_scope::ImportScope;
use super::machine_repos::{
    MachineRepos, ReposOnBranch, dashed, is_own_branch, real_path, repeats_branch,
};

/// Most directories that are remembered during one import.
const DIRECTORIES_MAX: usize = 10_000;

/// Of how many paths in calls one may lie in another repository, which the session only looked into.
const STRAY_PATHS: usize = 8;

/// Folders in a repository in which tools make its work trees.
const INNER_FOLDERS: [&str; 4] =
    ["/.claude/worktrees/", "/.worktrees/", "/.trees/", "/.conductor/"];

/// Finds the repositories of sessions, each directory once.
#[derive(Debug)]
pub struct SessionRepos<'a> {
    scope: &'a ImportScope,
    /// The repositories of the store, of this machine, and of other sessions.
    pub(super) repos: MachineRepos,
    by_directory: HashMap<(String, Option<String>), Option<DirectoryRepo>>,
}

/// The repository of a session, as far as it is known while one session is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionRepo {
    /// It is this one.
    Known(RepoKey),
    /// By names it is the second one, which may change once all sessions are read. Until then it has the first, of its directory alone.
    Guessed(RepoKey, Option<RepoKey>),
}

/// The repository of a directory, and how sure that is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DirectoryRepo {
    key: RepoKey,
    sign: DirectorySign,
}

/// How a directory's repository is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DirectorySign {
    /// It is there, or the nearest folder above it that is there.
    Files,
    /// By the custom of a tool, or by the name of a repository.
    Name,
}

impl<'a> SessionRepos<'a> {
    /// Makes it for an import.
    #[must_use]
    pub fn new(scope: &'a ImportScope) -> Self {
        let mut repos = MachineRepos::default();
        repos.add_keys(scope.known_repos.iter().cloned());
        for top in &scope.work_trees {
            repos.add_directory(top, &scope.machine);
        }
        Self { scope, repos, by_directory: HashMap::new() }
    }

    /// Counts repositories as known that only other sessions name, as on the first day, when the store has none.
    pub(super) fn know_also(
        &mut self,
        keys: impl IntoIterator<Item = RepoKey>,
        directories: &[String],
    ) {
        self.repos.add_keys(keys);
        for directory in directories {
            self.repos.add_directory(Path::new(directory), &self.scope.machine);
        }
        self.by_directory.clear();
    }

    /// Returns the repository of a session that is read. `None`: its records name neither branch nor remote, its directory is in no
    /// repository, and its calls name none, so it may be about anything.
    pub(super) fn repo_at_reading(
        &mut self,
        facts: &SessionFacts,
        calls: &CallPaths,
    ) -> Option<SessionRepo> {
        let found = self.repo_by_facts(facts);
        if let Some(DirectoryRepo { key, sign: DirectorySign::Files }) = found {
            return Some(SessionRepo::Known(key));
        }
        if let Some(key) = self.repo_of_calls(facts, calls) {
            return Some(SessionRepo::Known(key));
        }
        let guessed = found.map(|found| found.key);
        let own = self.own_key(facts, guessed.as_ref())?;
        Some(SessionRepo::Guessed(own, guessed))
    }

    /// Returns the repository that the records of a session name, once all others are known.
    pub(super) fn repo_of(&mut self, facts: &SessionFacts) -> Option<RepoKey> {
        self.repo_by_facts(facts).map(|found| found.key)
    }

    fn repo_by_facts(&mut self, facts: &SessionFacts) -> Option<DirectoryRepo> {
        let remote = facts.remote.as_deref().and_then(|remote| self.of_remote(remote));
        if let Some(key) = remote {
            return Some(DirectoryRepo { key, sign: DirectorySign::Files });
        }
        self.of_directory(facts.directory.as_deref()?, facts.branch.as_deref())
    }

    /// The key of a directory that is in no repository now: its records say that it was in one, or the custom of a tool does.
    fn own_key(&self, facts: &SessionFacts, guessed: Option<&RepoKey>) -> Option<RepoKey> {
        let directory = facts.directory.as_deref()?;
        let path = Path::new(directory);
        if let Some(top) = self.enclosing_top(directory).filter(|_| !path.exists()) {
            let name = RedactedText::redact(top.rsplit(['/', '\\']).next()?);
            return Some(RepoKey::from_place(&name, top));
        }
        let custom = custom_tree_name(path, &self.scope.machine).filter(|_| !path.exists());
        let name = directory.rsplit(['/', '\\']).find(|part| !part.is_empty())?;
        let is_of_repository = facts.branch.is_some() || guessed.is_some() || custom.is_some();
        // A key spells the name in its own way, in which no rule would know a secret.
        let name = RedactedText::redact(custom.as_deref().unwrap_or(name));
        is_of_repository.then(|| RepoKey::from_place(&name, directory))
    }

    /// Returns the top of the repository in which a tool made the work tree of a directory, by the text alone: all of it may be gone.
    fn enclosing_top<'b>(&self, directory: &'b str) -> Option<&'b str> {
        let plain = directory.replace('\\', "/");
        let ends = INNER_FOLDERS.iter().filter_map(|folder| plain.find(folder));
        let top = ends.min().and_then(|end| directory.get(..end)).filter(|top| !top.is_empty())?;
        (!self.scope.machine.is_no_project(Path::new(top))).then_some(top)
    }

    /// Reads a URL, or `owner/name` as GitHub's own tool writes it.
    fn of_remote(&self, remote: &str) -> Option<RepoKey> {
        let is_short = remote.split('/').count() == 2 && !remote.contains([':', '@']);
        let url = if is_short { format!("https://github.com/{remote}") } else { remote.to_owned() };
        remote_key(&url, &self.scope.machine)
    }

    /// Returns the repository of a directory, which may be gone.
    fn of_directory(&mut self, directory: &str, branch: Option<&str>) -> Option<DirectoryRepo> {
        if self.by_directory.len() >= DIRECTORIES_MAX {
            self.by_directory.clear();
        }
        let asked = (directory.to_owned(), branch.map(str::to_owned));
        if let Some(known) = self.by_directory.get(&asked) {
            return known.clone();
        }
        let found = self.look_up(&directory_path(directory, self.scope), branch);
        self.by_directory.insert(asked, found.clone());
        found
    }

    fn look_up(&self, directory: &Path, branch: Option<&str>) -> Option<DirectoryRepo> {
        let stored = ReposOnBranch { repos: &self.repos, branch };
        let mut locator = Locator::new(&self.scope.machine, &stored, Steps::disabled());
        let place = locator.at(directory);
        // The settings of a person, which lie in the home, are not what a removed directory below was about.
        let is_above = !directory.exists() && self.scope.machine.is_no_project(&place.top);
        let is_repository = place.strength() == PlaceStrength::Repository && !is_above;
        let found = place.own_key.clone().filter(|_| is_repository);
        let by_name =
            matches!(place.because, PlaceSource::RemovedTree(_) | PlaceSource::RemovedNamesake(_));
        if let Some(key) = found.clone().filter(|_| !by_name) {
            return Some(DirectoryRepo { key, sign: DirectorySign::Files });
        }
        if directory.exists() {
            return None;
        }
        let real = real_path(directory);
        let listed = [directory, &real]
            .into_iter()
            .find_map(|path| self.repos.with_work_tree(path, &self.scope.machine));
        if let Some(key) = listed {
            return Some(DirectoryRepo { key, sign: DirectorySign::Files });
        }
        let is_namesake = matches!(place.because, PlaceSource::RemovedNamesake(_));
        let key = found
            .filter(|key| !is_namesake || self.may_be_namesake(key, &place.top, &real, branch))?;
        Some(DirectoryRepo { key, sign: DirectorySign::Name })
    }

    /// Tells whether a removed directory whose name begins with that of a repository was its work tree. Another repository may have been
    /// called so; it was no work tree if it stood on a branch that the repository itself has checked out, as `main`, or never had.
    fn may_be_namesake(
        &self,
        key: &RepoKey,
        top: &Path,
        gone: &Path,
        branch: Option<&str>,
    ) -> bool {
        let Some(branch) = branch.filter(|branch| *branch != "HEAD") else { return true };
        if !is_own_branch(branch) {
            return false;
        }
        let mut repos = self.repos.clone();
        repos.add_directory(top, &self.scope.machine);
        let mut folders = gone.iter().map(|part| dashed(&part.to_string_lossy()));
        repos.has_branch(key, branch)
            || folders.any(|folder| {
                repos.folders(key).chain([key.short_name()]).any(|name| {
                    let rest = folder.strip_prefix(&dashed(name)).unwrap_or_default();
                    repeats_branch(rest.trim_start_matches('-'), branch)
                })
            })
    }

    /// Returns the repository in which all paths of the calls lie, but for a few. Edited files come first, then directories of commands;
    /// what was only looked at counts where nothing else is known. Edits in the session's own directory are of another repository, unless
    /// its branch is one of this.
    fn repo_of_calls(&mut self, facts: &SessionFacts, calls: &CallPaths) -> Option<RepoKey> {
        let directory = facts.directory.as_deref().map(|text| directory_path(text, self.scope));
        let is_there = directory.as_ref().is_some_and(|path| path.exists());
        let is_own = |path: &PathBuf| directory.as_ref().is_some_and(|own| path.starts_with(own));
        let (own, edited): (Vec<PathBuf>, Vec<PathBuf>) =
            calls.edited.iter().map(|path| directory_path(path, self.scope)).partition(is_own);
        let own_edits = if directory.is_some() { own.len() + calls.relative_edits } else { 0 };
        if let Some((key, strays, all)) = self.most_named(&edited) {
            let is_here = (strays + own_edits) * STRAY_PATHS <= all + own_edits;
            return (is_here || strays == 0 && self.has_branch_of(&key, facts)).then_some(key);
        }
        // Who began somewhere else that is there, and edited nothing, only looked around.
        if is_there {
            return None;
        }
        let has_no_branch = facts.branch.as_deref().is_none_or(|branch| branch == "HEAD");
        let looked_at = if directory.is_none() { calls.named.as_slice() } else { &[] };
        let found = [calls.entered.as_slice(), looked_at].into_iter().find_map(|paths| {
            let paths = paths.iter().map(|path| directory_path(path, self.scope));
            let paths: Vec<PathBuf> = paths.filter(|path| !is_own(path)).collect();
            self.most_named(&paths)
        });
        let (key, strays, all) = found?;
        let is_here = has_no_branch && own_edits == 0 && strays * STRAY_PATHS <= all;
        (is_here || strays == 0 && self.has_branch_of(&key, facts)).then_some(key)
    }

    /// Returns the repository in which most of the paths lie, how many lie in others, and how many lie in any.
    fn most_named(&mut self, paths: &[PathBuf]) -> Option<(RepoKey, usize, usize)> {
        let mut counts: BTreeMap<RepoKey, usize> = BTreeMap::new();
        for path in paths {
            let Some(key) = self.repo_of_path(path) else { continue };
            *counts.entry(key).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let (key, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        Some((key, all - most, all))
    }

    fn has_branch_of(&self, key: &RepoKey, facts: &SessionFacts) -> bool {
        let branch = facts.branch.as_deref().filter(|branch| is_own_branch(branch));
        branch.is_some_and(|branch| self.repos.has_branch(key, branch))
    }

    /// Returns the repository in which a path lies. One that holds the whole home says nothing.
    fn repo_of_path(&mut self, path: &Path) -> Option<RepoKey> {
        let folder = if path.is_dir() { path } else { path.parent()? };
        let home = self.scope.machine.home.as_ref();
        let is_setting = home.is_some_and(|home| {
            let below = path.strip_prefix(home).ok().and_then(|below| below.components().next());
            below.is_some_and(|first| first.as_os_str().as_encoded_bytes().starts_with(b"."))
                && custom_tree_name(folder, &self.scope.machine).is_none()
        });
        if is_setting {
            return None;
        }
        let found = self.of_directory(&folder.to_string_lossy(), None)?;
        if found.sign == DirectorySign::Files && !self.repos.is_on_disk(&found.key) {
            self.repos.add_directory(folder, &self.scope.machine);
        }
        Some(found.key)
    }
}

fn directory_path(text: &str, scope: &ImportScope) -> PathBuf {
    directory_of_text(text, &scope.machine).unwrap_or_else(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo_text(
        directory: Option<&str>,
        branch: Option<&str>,
        remote: Option<&str>,
    ) -> Option<String> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let facts = SessionFacts {
            directory: owned(directory),
            branch: owned(branch),
            remote: owned(remote),
            ..<_>::default()
        };
        let scope = ImportScope::default();
        let found = SessionRepos::new(&scope).repo_at_reading(&facts, &CallPaths::default());
        found.map(|found| match found {
            SessionRepo::Known(key) | SessionRepo::Guessed(key, _) => key.to_string(),
        })
    }

    #[test]
    fn a_remote_comes_first_and_a_bare_folder_is_private() {
        let expected = Some("github.com/acme/api".to_owned());
        assert_eq!(repo_text(None, None, Some("git@github.com:acme/api.git")), expected);
        assert_eq!(repo_text(None, None, Some("acme/api")), expected);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(repo_text(Some(path), None, None), None);
        assert!(repo_text(Some("/gone/shop"), Some("main"), None).unwrap().starts_with("shop"));
        assert_eq!(repo_text(Some("/gone/shop"), None, None), None);
        // The repository is gone with its work trees.
        let shop = repo_text(Some("/gone/shop"), Some("main"), None);
        for inner in ["/.claude/worktrees/calm-fox/src", "/.worktrees/a", "/.conductor/lisbon"] {
            assert_eq!(repo_text(Some(&format!("/gone/shop{inner}")), Some("x"), None), shop);
        }
        for name in ["objects", "refs"] {
            std::fs::create_dir_all(folder.path().join(".git").join(name)).unwrap();
        }
        std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let key = repo_text(Some(path), None, None);
        assert!(key.is_some());
        // Agents remove their work trees after each task.
        let gone = folder.path().join(".claude/worktrees/feat-x");
        assert_eq!(repo_text(gone.to_str(), Some("feat-x"), None), key);
    }
}
