//! A directory as the disk resolves it, also where it was removed. Not here: what is found in it (`locate`).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::foreign_path::{is_foreign, lexical, on_this_system};

/// A directory in which somebody stands or stood.
pub(crate) struct StandingDirectory {
    /// The directory, as far as the disk resolves it.
    pub(crate) directory: PathBuf,
    /// The nearest folder that exists.
    pub(crate) above: PathBuf,
}

impl StandingDirectory {
    /// Resolves a path. `None`: it is relative or of another system.
    pub(crate) fn resolved(path: &Path) -> Option<Self> {
        let here = on_this_system(path);
        if is_foreign(&here) || !here.is_absolute() {
            return None;
        }
        let real = match here.canonicalize() {
            // What may not be entered may be there all the same.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Some(lexical(&here)),
            found => found.ok(),
        };
        if let Some(real) = real {
            return Some(Self { directory: real.clone(), above: real });
        }
        let plain = lexical(&here);
        let (above, real) =
            plain.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
        let rest = plain.strip_prefix(above).unwrap_or_else(|_| Path::new(""));
        Some(Self { directory: real.join(rest), above: real })
    }

    /// Tells whether the directory is not there.
    pub(crate) fn is_gone(&self) -> bool {
        self.directory != self.above
    }
}
