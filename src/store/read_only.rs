//! Stores that their user may not write: the message, with the remedy. Not here: who else may write (`layout::trust`), the remedies
//! (`remedy`).

use std::io;
use std::path::Path;

use super::StoreError;
use super::remedy::{IN_A_SANDBOX, access_remedy};

/// Turns the error of a failed write into one with the remedy, if the store cannot be written.
pub(super) fn read_only_error(root: &Path, error: StoreError) -> StoreError {
    let StoreError::Io { source, path, .. } = &error else { return error };
    let (why, remedy) = match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem => {
            ("its file system is read-only".to_owned(), IN_A_SANDBOX.to_owned())
        }
        io::ErrorKind::PermissionDenied if path == root => {
            ("you may not write there".to_owned(), access_remedy(path, root).to_string())
        }
        io::ErrorKind::PermissionDenied => {
            (format!("you may not write {}", path.display()), access_remedy(path, root).to_string())
        }
        _ => return error,
    };
    StoreError::ReadOnly { path: root.to_owned(), why, remedy }
}

/// Tells whether an error says that this user may not write a file.
pub(super) fn is_denied(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
}
