//! Paths of settings that begin in the home directory. Not here: the settings (`config`).

use std::path::PathBuf;

/// Expands a leading `~/` to the home directory, as a shell would.
pub(super) fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
