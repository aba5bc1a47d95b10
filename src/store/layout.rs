//! Where things are: one directory with one `.jsonl` file per repository, private to its user.
//! Not here: what a file contains.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Config, StoreError};
use event::RepoKey;

/// The folder of the lock files, inside the store.
pub(super) const LOCKS: &str = ".locks";

/// What stands in the place of a file, when it is neither a file nor a link.
pub(super) const NO_PLAIN_FILE: &str = "it is a directory or a device";

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
    /// [`StoreError::Io`] when the directory is there but cannot be read, [`StoreError::Untrusted`]
    /// when others can write to it.
    pub fn logs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &self.root)(error)),
        };
        trust(&self.root)?;
        let names = entries.map(|entry| Ok(entry?.file_name()));
        let names = logs_among(names).map_err(StoreError::io("list", &self.root))?;
        Ok(names.into_iter().map(|name| self.root.join(name)).collect())
    }

    /// Tells whether a file is named like a log.
    #[must_use]
    pub fn is_log(path: &Path) -> bool {
        is_log(path)
    }

    /// Finds the repository that a typed key means: itself, where it has a log or nothing else
    /// fits; else the one whose key it abbreviates. Aliases are followed.
    ///
    /// # Errors
    /// [`StoreError::Ambiguous`] when it could mean several, [`StoreError::Io`] as [`Store::logs`].
    pub fn resolve(&self, typed: &RepoKey, config: &Config) -> Result<RepoKey, StoreError> {
        let current = config.current(typed);
        let log = self.log_of(typed);
        if Self::repo_of(&log) == *typed && log.symlink_metadata().is_ok() {
            // What has a log means itself, and the hundreds of others need not be listed for a save.
            trust(&self.root)?;
            return Ok(current);
        }
        let known: Vec<RepoKey> = self.logs()?.iter().map(|log| Self::repo_of(log)).collect();
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

    /// Makes the directory and its lock folder where they are missing, private to the user.
    ///
    /// # Errors
    /// [`StoreError::Io`] names what could not be made, [`StoreError::Untrusted`] says that others can
    /// write there.
    pub fn ensure(&self) -> Result<(), StoreError> {
        if is_own_folder(&self.root.join(LOCKS))? {
            return trust(&self.root);
        }
        make_private_dir(&self.root).map_err(StoreError::io("make the directory", &self.root))?;
        trust(&self.root)?;
        self.ensure_folder(LOCKS).map(drop)
    }

    /// Makes a folder of ours inside the store where it is missing, and returns it.
    pub(super) fn ensure_folder(&self, name: &str) -> Result<PathBuf, StoreError> {
        let folder = self.root.join(name);
        if !is_own_folder(&folder)? {
            make_private_dir(&folder).map_err(StoreError::io("make the directory", &folder))?;
            // A store inside a git work tree must not offer these files for commit.
            let ignore = folder.join(".gitignore");
            write_private(&ignore, "*\n").map_err(StoreError::io("write", &ignore))?;
        }
        Ok(folder)
    }
}

/// Tells whether a folder of ours is there. A link in its place would lead our files elsewhere.
pub(super) fn is_own_folder(folder: &Path) -> Result<bool, StoreError> {
    match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(StoreError::Untrusted {
            path: folder.to_owned(),
            why: "is no folder of its own",
            remedy: format!("move it away: mv {0} {0}.away", folder.display()),
        }),
        Err(_) => Ok(false),
    }
}

/// Refuses a store that others can write: they could put words into our agents' mouths, or links in
/// the place of our files.
#[cfg(unix)]
pub(super) fn trust(root: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt;
    let found = root.metadata().map_err(StoreError::io("inspect", root))?;
    let user = rustix::process::geteuid();
    let is_owned = user.is_root() || found.uid() == user.as_raw() || found.uid() == 0;
    // Where every user has a group of their own, of the same number, its members are the user alone.
    let is_own_group = !user.is_root() && found.gid() == user.as_raw();
    let (path, shown) = (root.to_owned(), root.display());
    if found.mode() & 0o002 != 0 || (found.mode() & 0o020 != 0 && !is_own_group) {
        let remedy = format!("take that away: chmod go-w {shown}");
        return Err(StoreError::Untrusted { path, why: "can be written by other users", remedy });
    }
    if is_owned {
        return Ok(());
    }
    let remedy = "name a directory of your own with --logs or AGENT_KNOWLEDGE_LOGS".to_owned();
    Err(StoreError::Untrusted { path, why: "belongs to another user", remedy })
}

#[cfg(not(unix))]
pub(super) fn trust(_root: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Picks the logs. A listing that breaks off is no listing: what is missing from it would look gone.
fn logs_among(names: impl Iterator<Item = io::Result<OsString>>) -> io::Result<Vec<OsString>> {
    let mut logs: Vec<OsString> = names.collect::<io::Result<_>>()?;
    logs.retain(|name| is_log(Path::new(name)));
    // By their bytes: comparing paths part by part took longer than reading the directory.
    logs.sort_unstable();
    Ok(logs)
}

/// Tells whether a path is named like a log.
#[must_use]
pub(super) fn is_log(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Refuses a directory that is a link, of another user, or open to others at all.
///
/// # Errors
/// [`StoreError::Untrusted`] with what is wrong, [`StoreError::Io`] where it is not there.
pub fn is_private_dir(path: &Path) -> Result<(), StoreError> {
    let found = path.symlink_metadata().map_err(StoreError::io("inspect", path))?;
    let untrusted = |why, remedy| Err(StoreError::Untrusted { path: path.to_owned(), why, remedy });
    if !found.is_dir() {
        return untrusted(
            "is no folder of its own",
            format!("move it away: mv {0} {0}.away", path.display()),
        );
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return untrusted(
                "belongs to another user",
                "set AGENT_KNOWLEDGE_RUNTIME to a folder of your own".to_owned(),
            );
        }
        if found.mode() & 0o077 != 0 {
            return untrusted(
                "is open to other users",
                format!("take that away: chmod 700 {}", path.display()),
            );
        }
    }
    Ok(())
}

/// Which file stands under a name, whatever is put in its place later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// Looks; `None` where nothing is there.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let found = path.symlink_metadata().ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self(found.dev(), found.ino()))
        }
        #[cfg(not(unix))]
        {
            // Without inode numbers the time of creation tells one file from another.
            let since = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some(Self(0, u64::try_from(since.as_nanos()).unwrap_or(0)))
        }
    }
}

/// Returns what tells this user from others of the machine: a number, where the system has them.
#[must_use]
pub fn user() -> String {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw().to_string();
    #[cfg(not(unix))]
    "user".to_owned()
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

/// Makes a file, or empties one, that nobody else can read, and writes it.
///
/// # Errors
/// What the system said, as for a link in its place.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    private(&mut options);
    options.open(path)?.write_all(text.as_bytes())
}

/// Makes files opened with these options readable by nobody else, refuses a planted link, and does
/// not hang on a planted FIFO.
pub fn private(options: &mut OpenOptions) {
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
            StoreError::NotALog { path: log.to_owned(), what: NO_PLAIN_FILE }
        }
        Ok(_) | Err(_) => StoreError::io("open", log)(source),
    }
}

/// Opens a file of ours for reading: private, no link, nothing that hangs. `None` where it is not there.
///
/// # Errors
/// [`StoreError::NotALog`] for what is no plain file, [`StoreError::Io`].
pub(super) fn open_to_read(path: &Path) -> Result<Option<(File, Metadata)>, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true);
    private(&mut options);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(why_not_opened(path, error)),
    };
    let metadata = file.metadata().map_err(StoreError::io("inspect", path))?;
    if metadata.is_file() {
        return Ok(Some((file, metadata)));
    }
    Err(StoreError::NotALog { path: path.to_owned(), what: NO_PLAIN_FILE })
}

/// Tells whether an open file still has its name. Others may put another file in its place.
#[cfg(unix)]
pub(super) fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(ours), Ok(named)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (ours.dev(), ours.ino()) == (named.dev(), named.ino())
}

#[cfg(not(unix))]
pub(super) fn is_still_at(_file: &File, path: &Path) -> bool {
    // Windows does not let an open file be replaced.
    path.exists()
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
        let broken = [Ok(OsString::from("a.jsonl")), Err(io::Error::other("bad sector"))];
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

    #[cfg(unix)]
    // S-STORE-2
    #[test]
    fn a_store_that_others_can_write_is_refused_with_the_remedy() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        store.ensure().unwrap();
        let set = |mode| {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(store.root(), permissions).unwrap();
        };
        for mode in [0o777, 0o707, 0o1777] {
            set(mode);
            let (writing, reading) = (store.ensure().unwrap_err(), store.logs().unwrap_err());
            for error in [writing, reading] {
                let told = error.to_string();
                let remedy = format!("chmod go-w {}", store.root().display());
                assert!(told.contains(&remedy), "{told}");
            }
        }
        for mode in [0o700, 0o755, 0o555] {
            set(mode);
            store.ensure().unwrap();
            store.logs().unwrap();
        }
        set(0o700);
    }

    #[cfg(unix)]
    // S-STORE-2
    #[test]
    fn a_link_in_the_place_of_our_folders_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        let store = Store::at(folder.path().join("logs"));
        for made in [&elsewhere, &store.root().to_owned()] {
            make_private_dir(made).unwrap();
        }
        std::os::unix::fs::symlink(&elsewhere, store.root().join(LOCKS)).unwrap();
        assert!(matches!(store.ensure(), Err(StoreError::Untrusted { .. })));
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
