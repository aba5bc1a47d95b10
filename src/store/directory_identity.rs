//! The identity of a directory on its file system: a move keeps it, and another directory in the same place has another one. Not here:
//! what the store remembers of directories (`place_record`).

use std::path::Path;
use std::time::UNIX_EPOCH;

use super::layout::FileId;

/// The identity of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirectoryIdentity {
    /// The numbers of the device and of the directory on it.
    pub(super) file: String,
    /// When it was made, in seconds, where the file system tells it.
    pub(super) born: Option<String>,
}

impl DirectoryIdentity {
    /// Reads the identity of what is at a path; `None` if nothing is there.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let file = FileId::from_path(path)?.to_string();
        let born = path.symlink_metadata().ok().and_then(|found| found.created().ok());
        let born = born.and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born = born.map(|born| format!("{}.{:09}", born.as_secs(), born.subsec_nanos()));
        Some(Self { file, born })
    }

    /// Tells whether both are one directory. File systems give the number of a removed directory to the next one, and the number of a
    /// device may change at each start of the machine, so the time of birth decides where both have one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.born, &other.born) {
            (Some(own), Some(born)) => own == born && self.number() == other.number(),
            _ => self.file == other.file,
        }
    }

    /// Tells whether both have a time of birth, so that their answer is no guess.
    pub(super) fn is_sure(&self, other: &Self) -> bool {
        self.born.is_some() && other.born.is_some()
    }

    /// Returns the number of the directory on its device.
    fn number(&self) -> &str {
        self.file.rsplit(':').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(file: &str, born: Option<&str>) -> DirectoryIdentity {
        DirectoryIdentity { file: file.to_owned(), born: born.map(str::to_owned) }
    }

    // S-REPO-9
    #[test]
    fn birth_decides_and_numbers_where_it_is_unknown() {
        let own = identity("1:7", Some("10.5"));
        for (other, expected) in [
            (identity("1:7", Some("10.5")), true),
            (identity("9:7", Some("10.5")), true),
            (identity("1:7", Some("11.0")), false),
            (identity("1:8", Some("10.5")), false),
            (identity("1:7", None), true),
            (identity("9:7", None), false),
        ] {
            assert_eq!(own.is_same(&other), expected, "{other:?}");
        }
        assert_eq!(DirectoryIdentity::read(Path::new("nowhere/at/all")), None);
    }

    #[test]
    fn a_move_keeps_the_identity_and_a_new_directory_has_another() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::create_dir(&old).unwrap();
        let before = DirectoryIdentity::read(&old).unwrap();
        std::fs::rename(&old, &new).unwrap();
        std::fs::write(new.join("file"), "x").unwrap();
        assert!(DirectoryIdentity::read(&new).unwrap().is_same(&before));
        std::fs::create_dir(&old).unwrap();
        assert!(!DirectoryIdentity::read(&old).unwrap().is_same(&before));
    }
}
