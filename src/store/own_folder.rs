//! Our folders and files beside the logs: private to the user, and never a link planted by somebody else. Not
//! here: their contents.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::open_private;
use super::{StoreError, layout, make_private_dir, trusted};

/// Creates a folder if it is missing. Refuses a link, and a folder that others can write or replace.
///
/// # Errors
/// [`StoreError::Io`], [`StoreError::Untrusted`].
pub fn own_folder(path: &Path) -> Result<(), StoreError> {
    if !layout::is_own_folder(path)? {
        make_private_dir(path).map_err(StoreError::io("make the directory", path))?;
    }
    trusted(path)
}

/// Creates a new file for reading and writing. An existing file loses this name, but processes that have it
/// open keep its contents.
///
/// # Errors
/// [`StoreError::Io`].
pub fn make_own_file(path: &Path) -> Result<File, StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::io("remove", path)(error));
        }
        Ok(()) | Err(_) => {}
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    open_private(&mut options, path).map_err(StoreError::io("make", path))
}

/// Opens an existing file for reading and writing. Returns `None` if it does not exist.
///
/// # Errors
/// [`StoreError::NotALog`] if it is not a plain file, [`StoreError::Io`].
pub fn open_own_file(path: &Path) -> Result<Option<File>, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let file = match open_private(&mut options, path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(layout::open_error(path, error)),
    };
    let metadata = file.metadata().map_err(StoreError::io("inspect", path))?;
    if metadata.is_file() {
        return Ok(Some(file));
    }
    Err(StoreError::NotALog { path: path.to_owned(), what: layout::NO_PLAIN_FILE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_made_anew_leaves_the_old_one_to_its_readers() {
        use std::io::{Read, Write};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        make_own_file(&path).unwrap().write_all(b"old").unwrap();
        let mut reader = open_own_file(&path).unwrap().unwrap();
        make_own_file(&path).unwrap().write_all(b"new").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(
            (text.as_str(), std::fs::read_to_string(&path).unwrap().as_str()),
            ("old", "new")
        );
        assert!(open_own_file(&folder.path().join("b")).unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_refused_and_nothing_is_written_through_it() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::fs::write(&target, "kept").unwrap();
        symlink(&target, &link).unwrap();
        assert!(open_own_file(&link).is_err());
        let made = make_own_file(&link).unwrap();
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
        let (real, planted) = (folder.path().join("real"), folder.path().join("planted"));
        std::fs::create_dir(&real).unwrap();
        symlink(&real, &planted).unwrap();
        assert!(own_folder(&planted).is_err());
        let ours = folder.path().join("ours");
        own_folder(&ours).unwrap();
        assert_eq!(ours.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::set_permissions(&ours, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(own_folder(&ours).is_err());
    }
}
