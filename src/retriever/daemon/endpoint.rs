//! Where a retriever and those who attach to it find each other: a folder private to the user, with a
//! lock, a socket and a file for last words for each set of settings. Not here: the bytes (`stream`).

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use store::{FileLock, StoreError, is_private_dir, make_private_dir};

/// Hexadecimal digits of the name: sixty-four bits tell any settings apart that one user has.
const NAME_DIGITS: usize = 16;

/// How long a retriever waits for the one before it to end, in milliseconds: that one lets calls under way
/// finish.
const SUCCESSION_MS: u64 = 3_000;

/// The place of one retriever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    folder: PathBuf,
    name: String,
}

impl Endpoint {
    /// Names the place of the retriever with these settings: everything that changes its answers, in a
    /// fixed order. Nothing is made yet.
    #[must_use]
    pub fn of(folder: PathBuf, settings: &[&str]) -> Self {
        let mut sum = Sha256::new();
        for setting in settings {
            sum.update(u64::try_from(setting.len()).unwrap_or(u64::MAX).to_le_bytes());
            sum.update(setting);
        }
        let mut name: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        name.truncate(NAME_DIGITS);
        Self { folder, name }
    }

    /// Names the place of another retriever in the same folder; `None` for what is no name of ours.
    #[must_use]
    pub fn beside(&self, name: &str) -> Option<Self> {
        let is_name = name.len() == NAME_DIGITS
            && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_name.then(|| Self { folder: self.folder.clone(), name: name.to_owned() })
    }

    /// Returns what tells these settings from others.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Makes the folder where it is missing.
    ///
    /// # Errors
    /// [`StoreError::Untrusted`] where others could put a retriever of theirs in the place of ours.
    pub fn ensure(&self) -> Result<(), StoreError> {
        make_private_dir(&self.folder)
            .map_err(StoreError::io("make the directory", &self.folder))?;
        is_private_dir(&self.folder)
    }

    /// Tells whether the folder is there and nobody else's.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        is_private_dir(&self.folder).is_ok()
    }

    /// Takes the lock that only one retriever holds, for its life. The kernel gives it back when its
    /// process ends, however it does.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another has it.
    pub fn elect(&self) -> Result<FileLock, StoreError> {
        FileLock::take(&self.path("lock"), SUCCESSION_MS)
    }

    /// Takes the lock only if nobody has it.
    ///
    /// # Errors
    /// As [`Endpoint::elect`].
    pub fn elect_now(&self) -> Result<FileLock, StoreError> {
        FileLock::take(&self.path("lock"), 0)
    }

    /// Tells whether a retriever's socket_file is up, so that others find it.
    #[cfg(test)]
    pub(super) fn has_socket_file(&self) -> bool {
        self.socket().exists() || self.port_file().exists()
    }

    /// The Unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path("sock")
    }

    /// The file that tells the loopback port and the token, where there is no Unix socket.
    #[must_use]
    pub fn port_file(&self) -> PathBuf {
        self.path("port")
    }

    /// Where a retriever's last words go.
    #[must_use]
    pub fn words(&self) -> PathBuf {
        self.path("log")
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }
}

/// Returns the folder for the meetings of a user: `named`, or one in the directory of the cache. Not the runtime
/// directory of the session, which clients often take out of the surroundings of what they start: they and a
/// terminal would meet in different places.
#[must_use]
pub fn runtime_folder(named: Option<PathBuf>, cache_dir: &Path) -> PathBuf {
    named.unwrap_or_else(|| cache_dir.join("run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_settings_meet_elsewhere() {
        let folder = Path::new("r").to_owned();
        let name = |settings: &[&str]| Endpoint::of(folder.clone(), settings).name;
        assert_eq!(name(&["a", "b"]), name(&["a", "b"]));
        assert_ne!(name(&["a", "b"]), name(&["ab", ""]));
        assert_ne!(name(&["a", "b"]), name(&["b", "a"]));
        assert_eq!(name(&[]).len(), NAME_DIGITS);
    }

    #[cfg(unix)]
    // S-SERVE-2
    #[test]
    fn a_folder_that_others_can_write_to_is_no_place_to_meet() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("run");
        let endpoint = Endpoint::of(place.clone(), &[]);
        assert!(!endpoint.is_trusted(), "it is not there yet");
        endpoint.ensure().unwrap();
        assert_eq!(std::fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(endpoint.is_trusted());
        for mode in [0o777, 0o770, 0o755] {
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(endpoint.ensure().is_err() && !endpoint.is_trusted(), "{mode:o}");
        }
        let link = folder.path().join("link");
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink(&place, &link).unwrap();
        assert!(Endpoint::of(link, &[]).ensure().is_err());
    }
}
