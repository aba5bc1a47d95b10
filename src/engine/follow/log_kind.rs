//! The kinds of files that hold lines. Not here: reading them, which is the same for all.

use std::path::{Path, PathBuf};

use store::{Store, StoreError};

/// A kind of file with lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogKind {
    /// A write in the spool that waits for its log.
    Waiting,
    /// A log.
    Log,
    /// An archived segment of old lines.
    Segment,
    /// A mirror of another origin's lines.
    Mirror,
}

impl LogKind {
    pub(super) fn from_path(path: &Path) -> Self {
        if Store::is_waiting(path) {
            Self::Waiting
        } else if Store::is_segment(path) {
            Self::Segment
        } else if store::origin_of(path).is_some() {
            Self::Mirror
        } else {
            Self::Log
        }
    }

    /// All kinds, in the order in which lines move from one to the next. Listed and read in this
    /// order, no line is missed. Mirrors are apart.
    pub(super) const ALL: [Self; 4] = [Self::Waiting, Self::Log, Self::Segment, Self::Mirror];

    /// Lists the files of this kind.
    pub(super) fn list(self, store: &Store) -> Result<Vec<PathBuf>, StoreError> {
        match self {
            Self::Waiting => store.spooled(),
            Self::Log => store.logs(),
            Self::Segment => store.segments(),
            Self::Mirror => store.mirrors(),
        }
    }
}
