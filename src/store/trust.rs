//! Whether another user could have written a file, or put it there. Asked before a library is loaded or a setting is
//! followed. Not here: folders of our own, which are private (`own_folder`, `layout`).

use std::path::Path;

use super::StoreError;
#[cfg(unix)]
use super::remedy;
#[cfg(unix)]
use super::shared_rights::{SharedRights, can_others_write, is_home_owner, user_number};

/// Refuses a path that another user owns, can write or can replace. The path itself and all folders above it are checked, as
/// they are named and as links lead to them. A missing path is fine. In a folder in which everybody may write but only owners
/// may remove, such as `/tmp`, only files of the user are trusted.
///
/// # Errors
/// [`StoreError::Untrusted`] with the remedy, [`StoreError::Io`].
#[cfg(unix)]
pub fn trusted(path: &Path) -> Result<(), StoreError> {
    let named = std::path::absolute(path).map_err(StoreError::io("inspect", path))?;
    let real = named.canonicalize().ok().filter(|real| *real != named);
    for whole in [Some(&named), real.as_ref()].into_iter().flatten() {
        for place in whole.ancestors() {
            check(place, place == whole)?;
        }
    }
    Ok(())
}

/// Other systems keep the files of a user apart by themselves.
#[cfg(not(unix))]
pub fn trusted(_path: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// The bit of a folder in which only owners may remove.
#[cfg(unix)]
const STICKY: u32 = 0o1000;

#[cfg(unix)]
fn check(place: &Path, is_whole: bool) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt;
    let Ok(found) = place.symlink_metadata() else { return Ok(()) };
    let shown = place.display();
    let untrusted =
        |why, remedy| Err(StoreError::Untrusted { path: place.to_owned(), why, remedy });
    if !is_trusted_owner(found.uid()) && !SharedRights::of_process().has_folder(place) {
        return untrusted(
            "belongs to another user, whose code could run",
            format!("take it over: sudo chown \"$USER\" {shown}"),
        );
    }
    if found.is_symlink() || found.is_dir() && !is_whole && found.mode() & STICKY != 0 {
        return Ok(());
    }
    if can_others_write(place, &found) {
        return untrusted(
            "can be written by other users, whose code could run",
            remedy::sharing_remedy(place, &found).to_string(),
        );
    }
    Ok(())
}

/// Trusts the user, the administrator, and for the administrator also the owner of the home directory.
#[cfg(unix)]
fn is_trusted_owner(owner: u32) -> bool {
    owner == 0 || owner == user_number() || is_home_owner(owner)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    // S-STORE-7
    #[test]
    fn a_path_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (above, file) = (folder.path().join("above"), folder.path().join("above/in/file"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "x").unwrap();
        trusted(&file).unwrap();
        trusted(&above.join("missing")).unwrap();
        for place in [&file, &above.join("in"), &above] {
            set(place, 0o777);
            let message = trusted(&file).unwrap_err().to_string();
            assert!(message.contains(&format!("chmod go-w {}", place.display())), "{message}");
            set(place, 0o755);
        }
        set(&above, 0o1777);
        trusted(&file).unwrap();
        assert!(trusted(&above).is_err(), "others could add files to it");
    }

    // S-STORE-7
    #[test]
    fn a_link_is_as_trusted_as_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (open, link) = (folder.path().join("open"), folder.path().join("link"));
        std::fs::create_dir(&open).unwrap();
        std::fs::write(open.join("file"), "x").unwrap();
        symlink(open.join("file"), &link).unwrap();
        trusted(&link).unwrap();
        set(&open, 0o777);
        assert!(trusted(&link).is_err());
    }

    // S-STORE-7
    #[test]
    fn the_file_of_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        if std::os::unix::fs::chown(&file, Some(65_534), None).is_err() {
            eprintln!("SKIPPED: only root can give a file away");
            return;
        }
        assert!(trusted(&file).unwrap_err().to_string().contains("another user"));
    }
}
