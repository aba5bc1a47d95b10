//! Stores that their user may not write: the message, with the remedy. Not here: who else may write (`layout::trust`).

use std::io;
use std::path::Path;

use super::StoreError;

/// Says that nothing can be written into a store, and the remedy, where that is why a write failed.
pub(super) fn read_only_error(root: &Path, error: StoreError) -> StoreError {
    const ELSEWHERE: &str = "name another directory with --logs or AGENT_KNOWLEDGE_LOGS";
    let StoreError::Io { source, .. } = &error else { return error };
    let (why, remedy) = match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem => (source.to_string(), ELSEWHERE.to_owned()),
        io::ErrorKind::PermissionDenied if cannot_write(root) => (
            "you may not write there".to_owned(),
            format!("chmod u+wx {}, or {ELSEWHERE}", root.display()),
        ),
        _ => return error,
    };
    StoreError::ReadOnly { path: root.to_owned(), why, remedy }
}

/// Tells whether a directory's mode keeps its owner from writing.
#[cfg(unix)]
fn cannot_write(root: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    const WRITE_AND_ENTER: u32 = 0o300;
    root.metadata().is_ok_and(|found| found.mode() & WRITE_AND_ENTER != WRITE_AND_ENTER)
}

#[cfg(not(unix))]
fn cannot_write(_root: &Path) -> bool {
    false
}
