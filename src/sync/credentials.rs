//! The file with the key of a member of a big team (`.creds`). Whoever reads it can publish as that member, so it must be
//! private. Not here: what is done with it (`team_stream`).

use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;

use crate::SyncError;

/// The longest file, in bytes. One has about a thousand.
const BYTES_MAX: u64 = 64 * 1024;

/// Reads the file.
///
/// # Errors
/// [`SyncError::Setup`] if it cannot be read, or others can read it.
pub(crate) fn read(path: &Path) -> Result<String, SyncError> {
    let wrong =
        |why: String| SyncError::Setup(format!("sync.credentials: {}: {why}", path.display()));
    if !path.is_absolute() {
        return Err(wrong("the path must be absolute".to_owned()));
    }
    let mut options = OpenOptions::new();
    options.read(true);
    let file = store::open_private(&mut options, path).map_err(|error| wrong(error.to_string()))?;
    let found = file.metadata().map_err(|error| wrong(error.to_string()))?;
    if !found.is_file() {
        return Err(wrong("it is no plain file".to_owned()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if found.permissions().mode() & 0o077 != 0 {
            return Err(wrong("others may read it; run chmod 600 on it".to_owned()));
        }
    }
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-NATS-2
    #[cfg(unix)]
    #[test]
    fn a_key_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ana.creds");
        std::fs::write(&path, "key").unwrap();
        let mode = |mode| {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            read(&path).map_err(|error| error.to_string())
        };
        assert_eq!(mode(0o600).unwrap(), "key");
        assert!(mode(0o640).unwrap_err().contains("chmod 600"));
        assert!(read(Path::new("ana.creds")).unwrap_err().to_string().contains("absolute"));
        assert!(read(folder.path()).is_err());
    }
}
