//! The endpoint where clients find a retriever: a folder private to the user, with a lock file, a
//! socket and a message file for each set of settings. Not here: the bytes (`stream`).

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use store::{FileLock, StoreError, is_private_dir, make_private_dir, write_private};

/// Hexadecimal digits of the name. Sixty-four bits are enough for the settings of one user.
const NAME_DIGITS: usize = 16;

/// How long a retriever waits for its predecessor to end, in milliseconds. That one lets calls
/// under way finish.
const SUCCESSION_MS: u64 = 3_000;

/// The endpoint of one retriever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    folder: PathBuf,
    /// The name of the files in that folder, made of the settings.
    pub name: String,
}

impl Endpoint {
    /// Names the endpoint of these settings: everything that changes an answer, in a fixed order.
    /// Nothing is created.
    #[must_use]
    pub fn for_settings(folder: PathBuf, settings: &[&str]) -> Self {
        let mut sum = Sha256::new();
        for setting in settings {
            sum.update(u64::try_from(setting.len()).unwrap_or(u64::MAX).to_le_bytes());
            sum.update(setting);
        }
        let mut name: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        name.truncate(NAME_DIGITS);
        Self { folder, name }
    }

    /// Names the endpoint of another retriever in the same folder. `None` for an invalid name.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Option<Self> {
        let is_name = name.len() == NAME_DIGITS
            && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_name.then(|| Self { folder: self.folder.clone(), name: name.to_owned() })
    }

    /// Returns the name, a hash of the settings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates the folder where it is missing.
    ///
    /// # Errors
    /// [`StoreError::Untrusted`] where other users could put their own retriever there.
    pub fn create_folder(&self) -> Result<(), StoreError> {
        make_private_dir(&self.folder)
            .map_err(StoreError::io("make the directory", &self.folder))?;
        is_private_dir(&self.folder)
    }

    /// Tells whether the folder exists and belongs to the user alone.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        is_private_dir(&self.folder).is_ok()
    }

    /// Takes the lock of the only retriever. The kernel releases it when the process ends, however
    /// it ends.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another process holds it.
    pub fn elect(&self) -> Result<FileLock, StoreError> {
        FileLock::acquire(&self.path("lock"), SUCCESSION_MS)
    }

    /// Takes the lock only if it is free now.
    ///
    /// # Errors
    /// Those of [`Endpoint::elect`].
    pub fn elect_now(&self) -> Result<FileLock, StoreError> {
        FileLock::acquire(&self.path("lock"), 0)
    }

    /// Tells whether a socket or a port file exists.
    #[cfg(test)]
    pub fn has_socket_file(&self) -> bool {
        self.socket().exists() || self.port_file().exists()
    }

    /// The Unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path("sock")
    }

    /// The file with the loopback port and the token, where there is no Unix socket.
    #[must_use]
    pub fn port_file(&self) -> PathBuf {
        self.path("port")
    }

    /// The file for a retriever's error messages.
    #[must_use]
    pub fn message_log(&self) -> PathBuf {
        self.path("log")
    }

    /// Writes which process holds the lock. Its number is only told to people.
    pub fn write_holder(&self) {
        // Without it people look the process up themselves.
        let _ = write_private(&self.path("pid"), &std::process::id().to_string());
    }

    /// Returns the process that took the lock last.
    #[must_use]
    pub fn holder(&self) -> Option<u32> {
        std::fs::read_to_string(self.path("pid")).ok()?.trim().parse().ok()
    }

    /// Notes that all retrievers that were started until now are to end.
    pub fn request_stop(&self) {
        // A folder that does not exist has no retriever either.
        let _ = write_private(&self.path("stop"), "");
    }

    /// Tells whether [`Self::forbid`] was called after this time.
    #[must_use]
    pub fn is_stop_requested_since(&self, started: SystemTime) -> bool {
        let noted = self.path("stop").metadata().and_then(|found| found.modified());
        noted.is_ok_and(|noted| noted > started)
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }
}

/// Returns the folder of a user's endpoints: `named`, or one in the cache directory. The session's
/// runtime directory is not used: clients often remove its variable from the environment of what
/// they start, so they and a terminal would use different endpoints.
#[must_use]
pub fn runtime_folder(named: Option<PathBuf>, cache_dir: &Path) -> PathBuf {
    named.unwrap_or_else(|| cache_dir.join("run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_settings_have_another_endpoint() {
        let folder = Path::new("r").to_owned();
        let name = |settings: &[&str]| Endpoint::for_settings(folder.clone(), settings).name;
        assert_eq!(name(&["a", "b"]), name(&["a", "b"]));
        assert_ne!(name(&["a", "b"]), name(&["ab", ""]));
        assert_ne!(name(&["a", "b"]), name(&["b", "a"]));
        assert_eq!(name(&[]).len(), NAME_DIGITS);
    }

    #[cfg(unix)]
    // S-SERVE-2
    #[test]
    fn a_folder_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("run");
        let endpoint = Endpoint::for_settings(place.clone(), &[]);
        assert!(!endpoint.is_trusted(), "it is not there yet");
        endpoint.create_folder().unwrap();
        assert_eq!(std::fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(endpoint.is_trusted());
        for mode in [0o777, 0o770, 0o755] {
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(endpoint.create_folder().is_err() && !endpoint.is_trusted(), "{mode:o}");
        }
        let link = folder.path().join("link");
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink(&place, &link).unwrap();
        assert!(Endpoint::for_settings(link, &[]).create_folder().is_err());
    }
}
