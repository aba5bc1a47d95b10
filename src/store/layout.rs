//! Paths: one directory with one `.jsonl` file per repository, private to its user. Not here: what a file
//! contains.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::StoreError;
use super::folder_owner::{make_private_dir, open_private};
use super::remedy::access_remedy;
#[cfg(unix)]
use super::remedy::sharing_remedy;
#[cfg(unix)]
use super::shared_rights::{SharedRights, can_others_write, is_home_owner, user_number};
use event::RepoKey;
use place::Machine;

/// The folder of the lock files, inside the store.
pub(super) const LOCKS: &str = ".locks";

/// What is at a path that is neither a plain file nor a link.
pub(super) const NO_PLAIN_FILE: &str = "it is a directory or a device";

/// Keys of directories, each with the key that its repository has now.
pub type CertainJoins = BTreeMap<RepoKey, RepoKey>;

/// A directory of logs.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    machine: Arc<Machine>,
    joins: Arc<OnceLock<CertainJoins>>,
}

impl Store {
    /// Names a store. Nothing is opened or created.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), machine: Arc::default(), joins: Arc::default() }
    }

    /// Sets the machine whose directories are asked for their repositories.
    #[must_use]
    pub fn on(self, machine: Machine) -> Self {
        Self { machine: Arc::new(machine), ..self }
    }

    /// Returns the machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the joins that are certain, as they were when this process first asked.
    pub(super) fn known_joins(&self) -> &CertainJoins {
        self.joins.get_or_init(|| self.certain_joins())
    }

    /// Returns the log of a repository, whether or not it exists.
    #[must_use]
    pub fn log_of(&self, repo: &RepoKey) -> PathBuf {
        self.root.join(repo.file_name())
    }

    /// Lists the logs, sorted by name. A store that does not exist has none.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the directory exists but cannot be read, [`StoreError::Untrusted`] if others can
    /// write to it.
    pub fn logs(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match std::fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let other = StoreError::io("list", &self.root)(with_remedy(error, &self.root));
                return Err(self.file_in_its_place().unwrap_or(other));
            }
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

    /// Returns the error for a file in the place of the directory, or of one above it.
    fn file_in_its_place(&self) -> Option<StoreError> {
        let is_file = |path: &Path| path.metadata().is_ok_and(|found| !found.is_dir());
        let above = self.root.parent().filter(|above| is_file(above));
        let what = match above {
            _ if is_file(&self.root) => "it".to_owned(),
            Some(above) => above.display().to_string(),
            None => return None,
        };
        Some(StoreError::NotADirectory { path: self.root.clone(), what })
    }

    /// Creates the directory and its lock folder if they are missing, private to the user.
    ///
    /// # Errors
    /// [`StoreError::Io`] names what could not be created, [`StoreError::Untrusted`] says that others can write
    /// there, [`StoreError::NotADirectory`] that a file is in its place.
    pub fn ensure(&self) -> Result<(), StoreError> {
        if is_own_folder(&self.root.join(LOCKS))? {
            return trust(&self.root);
        }
        if let Some(error) = self.file_in_its_place() {
            return Err(error);
        }
        make_private_dir(&self.root).map_err(StoreError::io("make the directory", &self.root))?;
        trust(&self.root)?;
        self.ensure_folder(LOCKS).map(drop)
    }

    /// Creates one of our folders inside the store if it is missing, and returns it.
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

/// Adds what a user can do to the error that he may not read a directory.
fn with_remedy(error: io::Error, root: &Path) -> io::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let remedy = access_remedy(root, root);
            io::Error::new(error.kind(), format!("you may not read it; {remedy}"))
        }
        _ => error,
    }
}

/// Tells whether one of our folders exists. A link in its place would redirect our files.
pub(super) fn is_own_folder(folder: &Path) -> Result<bool, StoreError> {
    match folder.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(StoreError::Untrusted {
            path: folder.to_owned(),
            why: "is not a plain folder",
            remedy: format!("move it away: mv {0} {0}.away", folder.display()),
        }),
        Err(_) => Ok(false),
    }
}

/// Refuses a store that others can write to. They could feed text to our agents, or put links in place of our
/// files.
#[cfg(unix)]
pub(super) fn trust(root: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt;
    let found = root.metadata().map_err(StoreError::io("inspect", root))?;
    let user = user_number();
    let is_trusted_folder = SharedRights::of_process().has_folder(root);
    let is_owned = user == 0 || found.uid() == user || found.uid() == 0 || is_trusted_folder;
    let path = root.to_owned();
    if can_others_write(root, &found) {
        let remedy = sharing_remedy(root, &found).to_string();
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

/// Selects the logs. If the listing fails midway the whole call fails, because missing logs would look deleted.
fn logs_among(names: impl Iterator<Item = io::Result<OsString>>) -> io::Result<Vec<OsString>> {
    let mut logs: Vec<OsString> = names.collect::<io::Result<_>>()?;
    logs.retain(|name| is_log(Path::new(name)));
    // Sorts by bytes: comparing paths component by component took longer than reading the directory.
    logs.sort_unstable();
    Ok(logs)
}

/// Tells whether a path is named like a log.
#[must_use]
pub(super) fn is_log(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Refuses a directory that is a link, belongs to another user, or grants any access to others.
///
/// # Errors
/// [`StoreError::Untrusted`] with the reason, [`StoreError::Io`] if the directory does not exist.
pub fn is_private_dir(path: &Path) -> Result<(), StoreError> {
    let found = path.symlink_metadata().map_err(StoreError::io("inspect", path))?;
    let untrusted = |why, remedy| Err(StoreError::Untrusted { path: path.to_owned(), why, remedy });
    if !found.is_dir() {
        return untrusted(
            "is not a plain folder",
            format!("move it away: mv {0} {0}.away", path.display()),
        );
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if found.uid() != user_number() && !is_home_owner(found.uid()) {
            return untrusted(
                "belongs to another user",
                "set AGENT_KNOWLEDGE_RUNTIME to a folder of your own".to_owned(),
            );
        }
        if found.mode() & 0o077 != 0 {
            return untrusted(
                "is open to other users",
                format!("remove that permission: chmod 700 {}", path.display()),
            );
        }
    }
    Ok(())
}

/// The identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// Reads the identity of the file at a path; `None` if there is none.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let found = path.symlink_metadata().ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self(found.dev(), found.ino()))
        }
        #[cfg(not(unix))]
        {
            // Without inode numbers, the creation time distinguishes files.
            let since = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some(Self(0, u64::try_from(since.as_nanos()).unwrap_or(0)))
        }
    }
}

impl std::fmt::Display for FileId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}", self.0, self.1)
    }
}

/// Returns the text that distinguishes this user from others on the machine: a number, if the system has one.
#[must_use]
pub fn user() -> String {
    #[cfg(unix)]
    return user_number().to_string();
    #[cfg(not(unix))]
    "user".to_owned()
}

/// Creates or empties a file that nobody else can read, and writes it.
///
/// # Errors
/// The system's error, for example if the path is a link.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    open_private(&mut options, path)?.write_all(text.as_bytes())
}

/// Explains why a log could not be opened with [`open_private`].
pub(super) fn open_error(log: &Path, source: io::Error) -> StoreError {
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

/// Opens one of our files for reading. The file is private and not a link, and opening never blocks. Returns
/// `None` if it does not exist.
///
/// # Errors
/// [`StoreError::NotALog`] if it is not a plain file, [`StoreError::Io`].
pub(super) fn open_to_read(path: &Path) -> Result<Option<(File, Metadata)>, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true);
    let file = match open_private(&mut options, path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(open_error(path, error)),
    };
    let metadata = file.metadata().map_err(StoreError::io("inspect", path))?;
    if metadata.is_file() {
        return Ok(Some((file, metadata)));
    }
    Err(StoreError::NotALog { path: path.to_owned(), what: NO_PLAIN_FILE })
}

/// Returns what is at a path if it is the file with the given metadata. Other programs may have replaced it.
#[cfg(unix)]
pub(super) fn named(ours: &Metadata, path: &Path) -> Option<Metadata> {
    use std::os::unix::fs::MetadataExt;
    let named = path.symlink_metadata().ok()?;
    ((ours.dev(), ours.ino()) == (named.dev(), named.ino())).then_some(named)
}

#[cfg(not(unix))]
pub(super) fn named(_ours: &Metadata, path: &Path) -> Option<Metadata> {
    // Windows does not allow an open file to be replaced.
    path.symlink_metadata().ok()
}

/// Tells whether an open file still has its name.
pub(super) fn is_still_at(file: &File, path: &Path) -> bool {
    file.metadata().is_ok_and(|ours| named(&ours, path).is_some())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn key(text: &str) -> RepoKey {
        RepoKey::parse(text).unwrap()
    }

    pub(crate) fn store_with(names: &[&str]) -> (tempfile::TempDir, Store) {
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
                let message = error.to_string();
                let remedy = format!("chmod go-w {}", store.root().display());
                assert!(message.contains(&remedy), "{message}");
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
