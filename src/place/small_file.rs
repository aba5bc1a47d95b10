//! Small files of git, SSH and others: read whole within a bound, or not at all. Not here: what they mean.

use std::path::{Path, PathBuf};

/// Longest file that is read, in bytes. Configurations are small, and these may come from anybody.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads a small file. A pipe or device is not opened, because that could wait for ever.
pub(crate) fn small_text(path: &Path) -> Option<String> {
    small_bytes(path).map(|bytes| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Reads a file that holds one path, which need not be UTF-8.
pub(crate) fn small_path(path: &Path) -> Option<PathBuf> {
    let bytes = small_bytes(path)?;
    let text = bytes.trim_ascii();
    (!text.is_empty()).then(|| path_of_bytes(text))
}

fn small_bytes(path: &Path) -> Option<Vec<u8>> {
    let metadata = path.metadata().ok()?;
    let is_small_file = metadata.is_file() && metadata.len() <= FILE_BYTES_MAX;
    is_small_file.then(|| std::fs::read(path).ok())?
}

/// Takes bytes as the path that they are on this system.
#[cfg(unix)]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Takes bytes as the path that they are on this system.
#[cfg(not(unix))]
pub(crate) fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Writes a path as a text from which no two paths give the same: one that is not UTF-8 has its bytes escaped.
#[must_use]
pub(crate) fn distinct_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => {
            let bytes = path.as_os_str().as_encoded_bytes();
            percent_encoding::percent_encode(bytes, percent_encoding::NON_ALPHANUMERIC).to_string()
        }
    }
}

/// Returns the last part of a path as text.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
