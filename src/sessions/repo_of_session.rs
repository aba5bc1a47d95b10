//! Which repository a session belongs to: by the remote that its records name, else by the directory in which it began.
//! The names of folders of transcripts are not asked, because they stand for several directories. Not here: how a
//! directory's repository is found (`place`).

use std::collections::HashMap;
use std::path::Path;

use event::RepoKey;
use guard::secrets::RedactedText;
use place::{Locator, PlaceStrength, Steps, StoredPlaces, remote_key};
use transcripts::exchange::SessionFacts;

use super::import_scope::ImportScope;

/// Most directories that are remembered during one import.
const DIRECTORIES_MAX: usize = 10_000;

/// Finds the repositories of sessions, each directory once.
#[derive(Debug)]
pub struct SessionRepos<'a> {
    scope: &'a ImportScope,
    /// The repositories of the store, and those of other sessions.
    known: Vec<RepoKey>,
    by_directory: HashMap<String, Option<RepoKey>>,
}

impl<'a> SessionRepos<'a> {
    /// Makes it for an import.
    #[must_use]
    pub fn new(scope: &'a ImportScope) -> Self {
        Self { scope, known: scope.known_repos.clone(), by_directory: HashMap::new() }
    }

    /// Counts repositories as known that only other sessions name, as on the first day, when the store has none.
    pub(super) fn know_also(&mut self, repos: impl IntoIterator<Item = RepoKey>) {
        self.known.extend(repos);
        self.known.sort();
        self.known.dedup();
        self.by_directory.clear();
    }

    /// Returns the repository of a session. `None`: its records name neither branch nor remote, and its directory is in
    /// no repository, so it may be about anything.
    pub fn repo_of(&mut self, facts: &SessionFacts) -> Option<RepoKey> {
        let remote = facts.remote.as_deref().and_then(|remote| self.of_remote(remote));
        if remote.is_some() {
            return remote;
        }
        let directory = facts.directory.as_deref()?;
        if let Some(key) = self.of_directory(directory) {
            return Some(key);
        }
        let name = directory.rsplit(['/', '\\']).find(|part| !part.is_empty())?;
        // A key spells the name in its own way, in which no rule would know a secret.
        let name = RedactedText::redact(name);
        facts.branch.as_ref().map(|_| RepoKey::from_place(&name, directory))
    }

    /// Reads a URL, or `owner/name` as GitHub's own tool writes it.
    fn of_remote(&self, remote: &str) -> Option<RepoKey> {
        let is_short = remote.split('/').count() == 2 && !remote.contains([':', '@']);
        let url = if is_short { format!("https://github.com/{remote}") } else { remote.to_owned() };
        remote_key(&url, &self.scope.machine)
    }

    /// Returns the repository of a directory, which may be gone.
    fn of_directory(&mut self, directory: &str) -> Option<RepoKey> {
        if self.by_directory.len() >= DIRECTORIES_MAX {
            self.by_directory.clear();
        }
        let (scope, known) = (self.scope, &self.known);
        let detect = || {
            let known = KnownRepos(known);
            let mut locator = Locator::new(&scope.machine, &known, Steps::disabled());
            let place = locator.at(Path::new(directory));
            place.own_key.clone().filter(|_| place.strength() == PlaceStrength::Repository)
        };
        self.by_directory.entry(directory.to_owned()).or_insert_with(detect).clone()
    }
}

/// The repositories that a name may mean.
struct KnownRepos<'a>(&'a [RepoKey]);

impl StoredPlaces for KnownRepos<'_> {
    fn only_named(&self, short_name: &str) -> Option<RepoKey> {
        let typed = RepoKey::parse(short_name).ok()?;
        match typed.longer(self.0).as_slice() {
            [only] => Some((*only).clone()),
            _ => None,
        }
    }
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
        SessionRepos::new(&ImportScope::default()).repo_of(&facts).map(|key| key.to_string())
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
