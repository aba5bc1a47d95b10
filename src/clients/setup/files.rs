//! Client files on disk: read as a whole, replaced as a whole, never through a broken link. The only file of this
//! crate that writes client files. Not here: their content.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::SetupError;
use super::desired_state::FileKind;

/// Longest file that is changed, in bytes. Some clients keep their whole history in one file.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The end of the name of a new text, before it takes the place of the old one.
const LEFTOVER: &str = ".tmp";

/// The users that may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadAccess {
    /// Only the user: files in the home directory, and copies.
    User,
    /// Whoever the system allows: files of a project.
    SystemDefault,
}

/// Returns the file that a path leads to through links. A path without a file leads to itself.
pub(super) fn link_target(path: &Path) -> Result<PathBuf, SetupError> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(|_| SetupError::Dangling { path: path.to_owned() })
}

/// Reads a text file; `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<String>, SetupError> {
    let found = match path.metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SetupError::io("read", path)(error)),
    };
    // Reading a device or a pipe could block.
    if !found.is_file() || found.len() > FILE_BYTES_MAX {
        return Err(SetupError::NoText { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(SetupError::io("read", path))?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(SetupError::io("read", path))?;
    let text =
        String::from_utf8(bytes).map_err(|_| SetupError::NoText { path: path.to_owned() })?;
    Ok(Some(text))
}

/// What a file must contain when it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedContent<'a> {
    /// Anything: the file is ours.
    Anything,
    /// The file must not exist.
    Nothing,
    /// Exactly this text.
    Text(&'a str),
}

/// Refuses a file that another program wrote since it was read. A write after this check goes unnoticed: no system
/// can replace a file only if it holds a given text.
pub(super) fn refuse_changed(path: &Path, expected: ExpectedContent<'_>) -> Result<(), SetupError> {
    let wanted = match expected {
        ExpectedContent::Anything => return Ok(()),
        ExpectedContent::Nothing => None,
        ExpectedContent::Text(text) => Some(text),
    };
    if read(path)?.as_deref() == wanted {
        return Ok(());
    }
    Err(SetupError::Changed { path: path.to_owned() })
}

/// Replaces a file with a text, completely or not at all. The file keeps its mode. A file with several names is written
/// in place, so that they stay names of one file; a copy of its text was kept before.
pub(super) fn write(
    path: &Path,
    text: &str,
    kind: FileKind,
    readers: ReadAccess,
    expected: ExpectedContent<'_>,
) -> Result<(), SetupError> {
    let fail = SetupError::io("write", path);
    let fresh = temporary_path(path);
    let written = write_new(&fresh, text, kind, readers)
        .and_then(|()| match path.metadata() {
            Ok(found) => std::fs::set_permissions(&fresh, found.permissions()),
            Err(_) => Ok(()),
        })
        .map_err(SetupError::io("write", path))
        .and_then(|()| refuse_changed(path, expected))
        .and_then(|()| replace_file(&fresh, path, text).map_err(fail));
    written.inspect_err(|_| {
        // A leftover temporary file does no harm.
        let _ = std::fs::remove_file(&fresh);
    })
}

fn replace_file(fresh: &Path, path: &Path, text: &str) -> io::Result<()> {
    if !path.metadata().is_ok_and(|found| has_other_names(&found)) {
        return std::fs::rename(fresh, path);
    }
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::remove_file(fresh)
}

#[cfg(unix)]
fn has_other_names(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(found) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// Returns the path of a new text for this file, before it takes the file's place.
pub(super) fn temporary_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}{LEFTOVER}", std::process::id()));
    path.with_file_name(name)
}

/// Removes the new texts that killed runs left in a folder, of the files that `is_meant` accepts by their names. Only one
/// run at a time may write these files.
pub(super) fn remove_leftovers(folder: &Path, is_meant: impl Fn(&str) -> bool) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        let parts = found.to_str().and_then(|name| name.strip_suffix(LEFTOVER)?.rsplit_once('.'));
        let is_leftover = parts.is_some_and(|(name, process)| {
            !process.is_empty()
                && process.bytes().all(|byte| byte.is_ascii_digit())
                && is_meant(name)
        });
        if is_leftover {
            // A file that cannot be removed does no harm.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn write_new(path: &Path, text: &str, kind: FileKind, readers: ReadAccess) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        let mode = match (kind, readers) {
            (FileKind::Program, ReadAccess::User) => 0o700,
            (FileKind::Program, ReadAccess::SystemDefault) => 0o777,
            (FileKind::Data, ReadAccess::User) => 0o600,
            (FileKind::Data, ReadAccess::SystemDefault) => 0o666,
        };
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    #[cfg(not(unix))]
    let _ = (kind, readers);
    let mut file = options.open(path)?;
    store::give_to_folder_owner(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Makes the folders above a file, and returns the new ones, outermost first.
pub(super) fn make_folders(file: &Path, readers: ReadAccess) -> Result<Vec<PathBuf>, SetupError> {
    let missing = file.ancestors().skip(1).take_while(|folder| !folder.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.retain(|folder| !folder.as_os_str().is_empty());
    missing.reverse();
    let builder = match readers {
        ReadAccess::User => store::private_dirs(),
        ReadAccess::SystemDefault => std::fs::DirBuilder::new(),
    };
    for folder in &missing {
        let made = builder.create(folder).and_then(|()| store::give_to_folder_owner(folder));
        made.map_err(SetupError::io("make the folder", folder))?;
    }
    Ok(missing)
}

/// Removes a file. A file that is already gone is fine.
pub(super) fn remove(path: &Path) -> Result<(), SetupError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SetupError::io("remove", path)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes empty folders, innermost first.
pub(super) fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // A folder that is not empty stays.
        let _ = std::fs::remove_dir(folder);
    }
}

/// Returns the hash of a text.
pub(super) fn fingerprint(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    // S-SETUP-5
    #[test]
    fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        let meant = link_target(&link).unwrap();
        write(&meant, "new", FileKind::Data, ReadAccess::User, ExpectedContent::Text("old"))
            .unwrap();
        assert_eq!(read(&link).unwrap().as_deref(), Some("new"));
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(mode(&file), 0o640);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    // S-SETUP-5
    #[test]
    fn a_file_with_two_names_stays_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        std::fs::write(&file, "old and longer").unwrap();
        std::fs::hard_link(&file, &other).unwrap();
        write(&file, "new", FileKind::Data, ReadAccess::User, ExpectedContent::Anything).unwrap();
        assert_eq!(read(&other).unwrap().as_deref(), Some("new"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    // S-SETUP-5
    #[test]
    fn what_a_killed_run_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["a.json", "a.json.7.tmp", "a.json.x.tmp", "a.json..tmp", "b.json.7.tmp"];
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), "x").unwrap());
        remove_leftovers(folder.path(), |name| name == "a.json");
        let is_left = |name: &&str| folder.path().join(name).exists();
        let left: Vec<&str> = names.into_iter().filter(is_left).collect();
        assert_eq!(left, ["a.json", "a.json.x.tmp", "a.json..tmp", "b.json.7.tmp"]);
    }

    // S-SETUP-5
    #[test]
    fn everything_but_text_files_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(matches!(link_target(&link), Err(SetupError::Dangling { .. })));
        assert!(matches!(read(folder.path()), Err(SetupError::NoText { .. })));
        std::fs::write(folder.path().join("bytes"), b"\xFF\xFE{\0").unwrap();
        assert!(matches!(read(&folder.path().join("bytes")), Err(SetupError::NoText { .. })));
        assert_eq!(read(&folder.path().join("none")).unwrap(), None);
    }

    #[test]
    fn new_files_and_folders_are_private_and_removable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/file");
        let new_folders = make_folders(&file, ReadAccess::User).unwrap();
        assert_eq!(new_folders, [folder.path().join("a"), folder.path().join("a/b")]);
        write(&file, "x", FileKind::Program, ReadAccess::User, ExpectedContent::Nothing).unwrap();
        assert_eq!((mode(&file), mode(&new_folders[0])), (0o700, 0o700));
        remove(&file).unwrap();
        remove(&file).unwrap();
        remove_folders(&new_folders);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    // S-SETUP-5
    #[test]
    fn files_written_by_another_program_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "theirs").unwrap();
        for expected in [ExpectedContent::Nothing, ExpectedContent::Text("old")] {
            let refused = write(&file, "ours", FileKind::Data, ReadAccess::User, expected);
            assert!(matches!(refused, Err(SetupError::Changed { .. })), "{refused:?}");
        }
        assert_eq!(read(&file).unwrap().as_deref(), Some("theirs"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        write(&file, "ours", FileKind::Data, ReadAccess::User, ExpectedContent::Anything).unwrap();
    }
}
