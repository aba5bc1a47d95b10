//! Where things are: one directory with one `.jsonl` file per repository, private to its user.
//! Not here: what a file contains.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use super::{Config, StoreError};
use crate::event::RepoKey;

/// The folder of the lock files, inside the store.
pub(super) const LOCKS: &str = ".locks";

/// A directory of logs.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Names a store; nothing is opened or made.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the log of a repository, whether or not it exists.
    #[must_use]
    pub fn log_of(&self, repo: &RepoKey) -> PathBuf {
        self.root.join(repo.file_name())
    }

    /// Lists the logs, in order of name. A store that does not exist has none.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the directory is there but cannot be read.
    pub fn logs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &self.root)(error)),
        };
        let paths = entries.map(|entry| Ok(entry?.path()));
        logs_among(paths).map_err(StoreError::io("list", &self.root))
    }

    /// Returns the key of the repository whose log this is, judging by the file's name.
    #[must_use]
    pub fn repo_of(log: &Path) -> RepoKey {
        RepoKey::of_file_stem(&log.file_stem().unwrap_or_default().to_string_lossy())
    }

    /// Finds the repository that a typed key means: itself, where it has a log or nothing else
    /// fits; else the one whose key it abbreviates. Aliases are followed.
    ///
    /// # Errors
    /// [`StoreError::Ambiguous`] when it could mean several, [`StoreError::Io`] as [`Store::logs`].
    pub fn resolve(&self, typed: &RepoKey, config: &Config) -> Result<RepoKey, StoreError> {
        let known: Vec<RepoKey> = self.logs()?.iter().map(|log| Self::repo_of(log)).collect();
        let current = config.current(typed);
        if current != *typed || known.contains(typed) {
            return Ok(current);
        }
        let mut meant: Vec<RepoKey> =
            typed.longer(&known).into_iter().map(|key| config.current(key)).collect();
        meant.dedup();
        match meant.as_slice() {
            [] => Ok(current),
            [only] => Ok(only.clone()),
            several => Err(StoreError::Ambiguous {
                given: typed.to_string(),
                candidates: several.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// Makes the directory and its lock folder where they are missing, private to the user. Returns
    /// the directories on the way to the logs that were missing, outermost first.
    ///
    /// # Errors
    /// [`StoreError::Io`] names what could not be made.
    pub fn ensure(&self) -> Result<Vec<PathBuf>, StoreError> {
        let locks = self.root.join(LOCKS);
        if locks.is_dir() {
            return Ok(Vec::new());
        }
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let mut missing: Vec<PathBuf> =
            self.root.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        missing.reverse();
        for made in [&self.root, &locks] {
            make_private_dir(made).map_err(StoreError::io("make the directory", made))?;
        }
        // A store inside a git work tree must not offer its lock files for commit.
        let ignore = locks.join(".gitignore");
        std::fs::write(&ignore, "*\n").map_err(StoreError::io("write", &ignore))?;
        Ok(missing)
    }
}

/// Picks the logs. A listing that breaks off is no listing: what is missing from it would look gone.
fn logs_among(paths: impl Iterator<Item = io::Result<PathBuf>>) -> io::Result<Vec<PathBuf>> {
    let mut logs: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
    logs.retain(|path| is_log(path));
    logs.sort();
    Ok(logs)
}

/// Tells whether a path is named like a log.
#[must_use]
pub(super) fn is_log(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    !hidden && path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Makes a directory and its parents; only the directories made are private.
///
/// # Errors
/// What the system said.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes files opened with these options readable by nobody else, refuses a planted link, and does
/// not hang on a planted FIFO.
pub(super) fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Tells what stands in the place of a log that could not be opened as [`private`] does.
pub(super) fn why_not_opened(log: &Path, source: io::Error) -> StoreError {
    match log.symlink_metadata() {
        Ok(found) if found.is_symlink() => {
            StoreError::NotALog { path: log.to_owned(), what: "it is a symbolic link" }
        }
        Ok(found) if !found.is_file() => {
            StoreError::NotALog { path: log.to_owned(), what: "it is a directory or a device" }
        }
        Ok(_) | Err(_) => StoreError::io("open", log)(source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> RepoKey {
        RepoKey::parse(text).unwrap()
    }

    fn store_with(names: &[&str]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        for name in names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        (folder, store)
    }

    // S-STORE-1
    #[test]
    fn only_logs_are_listed() {
        let (_folder, store) = store_with(&["b.jsonl", "a.jsonl", ".hidden.jsonl", "notes.txt"]);
        let names: Vec<RepoKey> =
            store.logs().unwrap().iter().map(|log| Store::repo_of(log)).collect();
        assert_eq!(names, [key("a"), key("b")]);
        assert!(Store::at("/nowhere/at/all").logs().unwrap().is_empty());
    }

    #[test]
    fn a_listing_that_breaks_off_is_an_error() {
        let broken = [Ok(PathBuf::from("a.jsonl")), Err(io::Error::other("bad sector"))];
        assert!(logs_among(broken.into_iter()).is_err());
    }

    #[test]
    fn a_short_name_finds_its_repository_when_it_is_unique() {
        let (_folder, store) =
            store_with(&["github.com+acme+api.jsonl", "github.com+acme+web.jsonl"]);
        let config = Config::default();
        assert_eq!(store.resolve(&key("api"), &config).unwrap(), key("github.com/acme/api"));
        assert_eq!(store.resolve(&key("new"), &config).unwrap(), key("new"));
    }

    // S-REPO-4
    #[test]
    fn a_short_name_of_several_is_refused_with_all_of_them() {
        let (_folder, store) = store_with(&["github.com+a+api.jsonl", "github.com+b+api.jsonl"]);
        let error = store.resolve(&key("api"), &Config::default()).unwrap_err().to_string();
        assert!(error.contains("github.com/a/api or github.com/b/api"), "{error}");
    }

    #[test]
    fn an_exact_name_wins_over_an_abbreviation() {
        let (_folder, store) = store_with(&["api.jsonl", "github.com+a+api.jsonl"]);
        assert_eq!(store.resolve(&key("api"), &Config::default()).unwrap(), key("api"));
    }

    #[cfg(unix)]
    // S-STORE-2
    #[test]
    fn the_store_is_private_and_keeps_its_locks_out_of_git() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        store.ensure().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(store.root()), 0o700);
        assert_eq!(mode(&store.root().join(LOCKS)), 0o700);
        assert_eq!(std::fs::read_to_string(store.root().join(".locks/.gitignore")).unwrap(), "*\n");
    }
}
