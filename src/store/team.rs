//! The files of a team in a store: our own origin, and the mirrors of other origins' lines, `team/<origin>/<log>`.
//! Not here: fetching them (crate `sync`), what a line of another origin may do (`memory`).

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use event::StoreOrigin;

use super::open_private;
use super::{Store, StoreError, layout};

/// The folder of the mirrors, inside the store. It is not hidden, because it contains memories like the logs.
pub(super) const FOLDER: &str = "team";

/// The file of our own origin, inside the store.
const ORIGIN_FILE: &str = ".origin";

/// Longest file of an origin that is read, in bytes.
const ORIGIN_BYTES_MAX: u64 = 256;

/// Returns the origin of the lines of a file: that of its folder for a mirror, `None` for a file of the own store.
#[must_use]
pub fn origin_of(path: &Path) -> Option<StoreOrigin> {
    let folder = path.parent()?;
    let is_mirror = folder.parent()?.file_name()? == FOLDER && layout::is_log(path);
    is_mirror.then(|| StoreOrigin::parse(folder.file_name()?.to_str()?))?
}

impl Store {
    /// Returns the origin of this store. `None` if none was made yet.
    ///
    /// # Errors
    /// [`StoreError::Io`]; [`StoreError::NotALog`] if the file is a link or holds something else.
    pub fn origin(&self) -> Result<Option<StoreOrigin>, StoreError> {
        let path = self.root().join(ORIGIN_FILE);
        let Some((file, _)) = layout::open_to_read(&path)? else { return Ok(None) };
        let mut text = String::new();
        io::Read::read_to_string(&mut io::Read::take(file, ORIGIN_BYTES_MAX), &mut text)
            .map_err(StoreError::io("read", &path))?;
        let origin = StoreOrigin::parse(text.trim());
        origin.map(Some).ok_or(StoreError::NotALog { path, what: "it holds no origin" })
    }

    /// Returns the origin of this store, which is made if there is none. Of several processes that make one at once,
    /// all return the same.
    ///
    /// # Errors
    /// Those of [`Store::origin`] and [`Store::ensure`].
    pub fn ensure_origin(&self, host: &str, random: u64) -> Result<StoreOrigin, StoreError> {
        if let Some(known) = self.origin()? {
            return Ok(known);
        }
        self.ensure()?;
        self.write_origin(&StoreOrigin::mint(host, random), random, ExistingOrigin::Kept)?;
        let path = self.root().join(ORIGIN_FILE);
        self.origin()?.ok_or(StoreError::NotALog { path, what: "it was removed again" })
    }

    /// Gives this store another origin, because a copy of it has the old one. What was shared stays under the old one.
    ///
    /// # Errors
    /// Those of [`Store::ensure`].
    pub fn renew_origin(&self, host: &str, random: u64) -> Result<StoreOrigin, StoreError> {
        self.ensure()?;
        let origin = StoreOrigin::mint(host, random);
        self.write_origin(&origin, random, ExistingOrigin::Replaced)?;
        Ok(origin)
    }

    /// Writes the file beside its place and moves it there, so that nobody reads half of it.
    fn write_origin(
        &self,
        origin: &StoreOrigin,
        random: u64,
        replace: ExistingOrigin,
    ) -> Result<(), StoreError> {
        let path = self.root().join(ORIGIN_FILE);
        let new = self.root().join(format!("{ORIGIN_FILE}.{random:016x}"));
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        let written = open_private(&mut options, &new).and_then(|mut file| {
            writeln!(file, "{}", origin.as_str()).and_then(|()| file.sync_all())
        });
        let moved = written.and_then(|()| match replace {
            ExistingOrigin::Replaced => std::fs::rename(&new, &path),
            // Unlike a rename this fails if another process was first, and then its origin counts.
            ExistingOrigin::Kept => match std::fs::hard_link(&new, &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                linked => linked,
            },
        });
        let _ = std::fs::remove_file(&new);
        moved.map_err(StoreError::io("write", &path))
    }

    /// Returns the mirror of another origin's log, whether or not it exists.
    #[must_use]
    pub fn mirror_of(&self, origin: &StoreOrigin, log_name: &str) -> PathBuf {
        self.root().join(FOLDER).join(origin.as_str()).join(log_name)
    }

    /// Lists the mirrors of other origins, sorted by origin and log. Folders that are no origin are left out, and so is
    /// that of our own origin, whose lines are in our own logs.
    ///
    /// # Errors
    /// [`StoreError::Io`] if a folder exists but cannot be read; [`StoreError::Untrusted`] if a link is in its place.
    pub fn mirrors(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut mirrors = Vec::new();
        for folder in self.team_folders()? {
            let names = entries(&folder)?.into_iter().map(|name| folder.join(name));
            mirrors.extend(names.filter(|path| layout::is_log(path)));
        }
        Ok(mirrors)
    }

    /// Lists the folders in which mirrors appear.
    pub(super) fn mirror_folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        let team = self.root().join(FOLDER);
        let mut folders = self.team_folders()?;
        if layout::is_own_folder(&team)? {
            folders.push(team);
        }
        Ok(folders)
    }

    /// Lists the folders that hold mirrors, sorted.
    ///
    /// # Errors
    /// Those of [`Store::mirrors`].
    pub fn team_folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        let team = self.root().join(FOLDER);
        if !layout::is_own_folder(&team)? {
            return Ok(Vec::new());
        }
        let own = self.origin().ok().flatten();
        let is_other = |name: &str| {
            StoreOrigin::parse(name).is_some_and(|origin| own.as_ref() != Some(&origin))
        };
        let names = entries(&team)?.into_iter().filter(|name| is_other(name));
        let mut folders: Vec<PathBuf> = names.map(|name| team.join(name)).collect();
        folders.retain(|folder| layout::is_own_folder(folder).is_ok_and(|is_folder| is_folder));
        Ok(folders)
    }
}

/// What happens to an existing origin.
#[derive(Clone, Copy)]
enum ExistingOrigin {
    Kept,
    Replaced,
}

/// Lists the names in a folder that are UTF-8, sorted.
fn entries(folder: &Path) -> Result<Vec<String>, StoreError> {
    let listed = std::fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()
    });
    let mut names: Vec<String> = listed
        .map_err(StoreError::io("list", folder))?
        .into_iter()
        .filter_map(|name| name.into_string().ok())
        .collect();
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path().join("logs"));
        (folder, store)
    }

    // S-ORIGIN-1
    #[test]
    fn an_origin_is_made_once_and_kept() {
        let (_folder, store) = store();
        assert_eq!(store.origin().unwrap(), None);
        let first = store.ensure_origin("laptop", 1).unwrap();
        assert_eq!(store.ensure_origin("other", 2).unwrap(), first);
        assert_eq!(store.origin().unwrap(), Some(first.clone()));
        let renewed = store.renew_origin("laptop", 3).unwrap();
        assert_ne!(renewed, first);
        assert_eq!(store.origin().unwrap(), Some(renewed));
        let names = entries(store.root()).unwrap();
        assert_eq!(names, [".locks", ".origin"]);
    }

    // S-ORIGIN-1
    #[test]
    fn threads_that_make_an_origin_at_once_agree() {
        let (_folder, store) = store();
        store.ensure().unwrap();
        let made: std::collections::BTreeSet<StoreOrigin> = std::thread::scope(|scope| {
            let made = (0..16).map(|random| {
                let store = store.clone();
                scope.spawn(move || store.ensure_origin("laptop", random).unwrap())
            });
            made.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made.len(), 1);
    }

    // S-ORIGIN-1
    #[test]
    fn a_damaged_origin_is_an_error_and_not_a_new_one() {
        let (_folder, store) = store();
        store.ensure().unwrap();
        std::fs::write(store.root().join(ORIGIN_FILE), "who knows\n").unwrap();
        assert!(store.origin().is_err());
        assert!(store.ensure_origin("laptop", 1).is_err());
    }

    // S-ORIGIN-2
    #[test]
    fn mirrors_of_other_origins_are_listed() {
        let (_folder, store) = store();
        assert!(store.mirrors().unwrap().is_empty());
        let own = store.ensure_origin("me", 1).unwrap();
        let other = StoreOrigin::mint("you", 2);
        for (origin, name) in [
            (other.as_str(), "b.jsonl"),
            (other.as_str(), "a.jsonl"),
            (other.as_str(), ".hidden.jsonl"),
            (other.as_str(), "notes.txt"),
            (own.as_str(), "a.jsonl"),
            ("no-origin", "a.jsonl"),
        ] {
            let folder = store.root().join(FOLDER).join(origin);
            crate::make_private_dir(&folder).unwrap();
            std::fs::write(folder.join(name), "").unwrap();
        }
        let mirrors = store.mirrors().unwrap();
        assert_eq!(
            mirrors,
            [store.mirror_of(&other, "a.jsonl"), store.mirror_of(&other, "b.jsonl")]
        );
        assert!(mirrors.iter().all(|path| origin_of(path).as_ref() == Some(&other)));
        assert_eq!(origin_of(&store.root().join("a.jsonl")), None);
        assert!(store.logs().unwrap().is_empty());
    }
}
