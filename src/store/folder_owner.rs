//! Who owns what an administrator makes: the owner of the folder in which it is made. A program that is run once as root in another
//! user's home, as in a container, must not lock that user out. Not here: whose files are read (`trust`).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use super::shared_rights::user_number;

/// Opens a file of ours, which nobody else can read if this makes it: not through a planted link, and not waiting for a planted
/// pipe. All our files are made through this.
///
/// # Errors
/// The system's error, or that the file could not be given to the owner of its folder.
pub fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    private(options);
    let file = options.open(path)?;
    give_file(&file, path)?;
    Ok(file)
}

/// Creates a directory and its parents. Only directories that this call creates are private.
///
/// # Errors
/// The system's error.
pub fn make_private_dir(path: &Path) -> io::Result<()> {
    let builder = private_dirs();
    let mut missing: Vec<PathBuf> = Vec::new();
    for folder in path.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
        if folder.is_dir() {
            break;
        }
        missing.push(folder.to_owned());
    }
    for folder in missing.iter().rev() {
        match builder.create(folder) {
            // Another process may have been faster.
            Err(_) if folder.is_dir() => {}
            made => made.and_then(|()| give_to_folder_owner(folder))?,
        }
    }
    Ok(())
}

/// Returns a builder of folders that only this user can read. It refuses an existing folder.
#[cfg(unix)]
#[must_use]
pub fn private_dirs() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Returns a builder of folders. Other systems keep the files of users apart by themselves.
#[cfg(not(unix))]
#[must_use]
pub fn private_dirs() -> DirBuilder {
    DirBuilder::new()
}

/// Makes files opened with these options unreadable for others, refuses a planted link, and does not block on a
/// planted FIFO.
fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    #[cfg(not(unix))]
    let _ = options;
}

/// Gives what this process has just made to the owner of the folder around it, if this process is the administrator and that owner
/// is not.
///
/// # Errors
/// That it could not be given away: its owner could not read it then.
#[cfg(unix)]
pub fn give_to_folder_owner(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, lchown};
    let Some(owner) = folder_owner(path) else { return Ok(()) };
    let found = path.symlink_metadata()?;
    if found.uid() != 0 || found.is_symlink() {
        return Ok(());
    }
    lchown(path, Some(owner.user), Some(owner.group)).map_err(|error| owner.refusal(&error))
}

/// As [`give_to_folder_owner`], for an open file. One with a second name may be somebody else's.
#[cfg(unix)]
fn give_file(file: &File, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let Some(owner) = folder_owner(path) else { return Ok(()) };
    let found = file.metadata()?;
    if found.uid() != 0 || !found.is_file() || found.nlink() != 1 {
        return Ok(());
    }
    fchown(file, Some(owner.user), Some(owner.group)).map_err(|error| owner.refusal(&error))
}

/// Gives a folder and all that is in it, which another program made for us, to the owner of the folder around it.
#[cfg(unix)]
pub fn give_tree(path: &Path) {
    if folder_owner(path).is_none() || give_to_folder_owner(path).is_err() {
        return;
    }
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let entries = is_folder.then(|| std::fs::read_dir(path).ok()).flatten();
    entries.into_iter().flatten().flatten().for_each(|entry| give_tree(&entry.path()));
}

/// An owner that is not the administrator.
#[cfg(unix)]
struct FolderOwner {
    user: u32,
    group: u32,
}

#[cfg(unix)]
impl FolderOwner {
    fn refusal(&self, error: &io::Error) -> io::Error {
        let Self { user, .. } = self;
        io::Error::new(
            error.kind(),
            format!(
                "it would belong to root in a folder of user {user}, who could not read it ({error}); run this as that user"
            ),
        )
    }
}

/// Returns the owner of the folder around a path, if this process is the administrator and that owner is not.
#[cfg(unix)]
fn folder_owner(path: &Path) -> Option<FolderOwner> {
    use std::os::unix::fs::MetadataExt;
    if user_number() != 0 {
        return None;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let found = folder.unwrap_or(Path::new(".")).metadata().ok()?;
    (found.uid() != 0).then(|| FolderOwner { user: found.uid(), group: found.gid() })
}

/// Other systems give files an owner by themselves.
#[cfg(not(unix))]
pub fn give_to_folder_owner(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn give_file(_file: &File, _path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub fn give_tree(_path: &Path) {}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{MetadataExt, chown};

    use super::*;
    use crate::{FileLock, make_own_file, write_private};

    fn owner(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().uid()
    }

    /// A home directory of another user, if this process may make one.
    fn home_of_another() -> Option<tempfile::TempDir> {
        let home = tempfile::tempdir().unwrap();
        if chown(home.path(), Some(65_534), Some(65_534)).is_err() {
            eprintln!("SKIPPED: only root can give a folder away");
            return None;
        }
        Some(home)
    }

    // S-STORE-8
    #[test]
    fn what_root_makes_belongs_to_the_owner_of_the_home() {
        let Some(home) = home_of_another() else { return };
        let folder = home.path().join(".local/share/logs");
        make_private_dir(&folder).unwrap();
        let [own, text, lock] = ["own", "text", "lock"].map(|name| folder.join(name));
        make_own_file(&own).unwrap();
        write_private(&text, "x").unwrap();
        drop(FileLock::acquire(&lock, 0).unwrap());
        for made in [&own, &text, &lock].into_iter().flat_map(|file| file.ancestors()) {
            assert_eq!(owner(made), 65_534, "{}", made.display());
            if made == home.path() {
                break;
            }
        }
        let by_others = folder.join("git/objects");
        std::fs::create_dir_all(&by_others).unwrap();
        give_tree(&folder.join("git"));
        assert_eq!(owner(&by_others), 65_534);
    }

    // S-STORE-8
    #[test]
    fn what_others_made_is_not_given_away() {
        let Some(home) = home_of_another() else { return };
        let secret = tempfile::NamedTempFile::new().unwrap();
        let [link, second] = ["link", "second"].map(|name| home.path().join(name));
        std::os::unix::fs::symlink(secret.path(), &link).unwrap();
        give_to_folder_owner(&link).unwrap();
        std::fs::hard_link(secret.path(), &second).unwrap();
        open_private(OpenOptions::new().read(true), &second).unwrap();
        assert_eq!(owner(secret.path()), 0);
    }
}
