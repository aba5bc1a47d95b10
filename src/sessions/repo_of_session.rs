//! Which repository a session belongs to: by the remote that its records name, else by the directory in which it began.
//! The names of folders of transcripts are not asked, because they stand for several directories. Not here: how a
//! directory's repository is found (`store`).

use std::collections::HashMap;
use std::path::Path;

use event::RepoKey;
use guard::secrets::RedactedText;
use store::{DetectedRepo, RepoSource};
use transcripts::exchange::SessionFacts;

/// Most directories that are remembered during one import.
const DIRECTORIES_MAX: usize = 10_000;

/// Finds the repositories of sessions, each directory once.
#[derive(Debug, Default)]
pub struct SessionRepos {
    by_directory: HashMap<String, Option<RepoKey>>,
}

impl SessionRepos {
    /// Returns the repository of a session. `None`: its records name neither branch nor remote, and its directory is in
    /// no repository, so it may be about anything.
    pub fn repo_of(&mut self, facts: &SessionFacts) -> Option<RepoKey> {
        let remote = facts.remote.as_deref().and_then(key_of_remote);
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

    fn of_directory(&mut self, directory: &str) -> Option<RepoKey> {
        if self.by_directory.len() >= DIRECTORIES_MAX {
            self.by_directory.clear();
        }
        let detect = || {
            let path = Path::new(directory);
            let found =
                (path.is_absolute() && path.is_dir()).then(|| DetectedRepo::detect(path))?;
            (!matches!(found.why, RepoSource::Folder(_))).then_some(found.key)
        };
        self.by_directory.entry(directory.to_owned()).or_insert_with(detect).clone()
    }
}

/// Reads a URL, or `owner/name` as GitHub's own tool writes it.
fn key_of_remote(remote: &str) -> Option<RepoKey> {
    let is_short = remote.split('/').count() == 2 && !remote.contains([':', '@']);
    let url = if is_short { format!("https://github.com/{remote}") } else { remote.to_owned() };
    RepoKey::from_remote(&url)
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
        SessionRepos::default().repo_of(&facts).map(|key| key.to_string())
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
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert!(repo_text(Some(path), None, None).is_some());
    }
}
