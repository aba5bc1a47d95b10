//! The place of a line, and its origin: the own store, or that of somebody in the team. Not here: reading lines
//! (`engine`), what another origin may do (`voices`, SPEC S-ORIGIN-4).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use event::{HOOK, IMPORTED, StoreOrigin};

/// The source of lines of other origins, whatever they say.
const TEAM: &str = "team";

/// Where a line is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinePlace {
    /// The file.
    pub log: Arc<LogFile>,
    /// The offset of the line in it, in bytes.
    pub offset: u64,
}

/// A file with lines, all of one origin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LogFile {
    /// Its path.
    pub path: PathBuf,
    /// The origin of its lines.
    pub origin: LineOrigin,
}

/// The origin of lines, and whether their actions on memories count.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineOrigin {
    /// The own store.
    Own,
    /// Another store, whose actions count like our own.
    Trusted(StoreOrigin),
    /// Another store, whose actions on the memories of others are reported and change nothing.
    Voice(StoreOrigin),
}

impl LogFile {
    /// Names a file of the own store.
    #[must_use]
    pub fn own(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), origin: LineOrigin::Own }
    }

    /// Returns its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl LinePlace {
    /// Names a line of a file of the own store.
    #[must_use]
    pub fn own(path: impl Into<PathBuf>, offset: u64) -> Self {
        Self { log: Arc::new(LogFile::own(path)), offset }
    }
}

impl LineOrigin {
    /// Returns the origin. `None` for the own store.
    #[must_use]
    pub fn other(&self) -> Option<&StoreOrigin> {
        match self {
            Self::Own => None,
            Self::Trusted(origin) | Self::Voice(origin) => Some(origin),
        }
    }

    /// Tells whether both are the same store.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.other() == other.other()
    }

    /// Returns who vouches for a line that names `source`: no line of another origin is of our own person or agent.
    #[must_use]
    pub fn source(&self, source: Option<&str>) -> Option<String> {
        match (self.other(), source) {
            (None, _) | (Some(_), Some(IMPORTED | HOOK)) => source.map(str::to_owned),
            (Some(_), _) => Some(TEAM.to_owned()),
        }
    }
}
