//! What to scrub, and what was found in a file. Not here: scrubbing.

use std::path::PathBuf;

use super::commit_history::CommitHistory;
use crate::secret_lines::{Recogniser, SecretSpot};
use crate::surfaces::OwnFolders;
use event::RepoKey;
use sessions::session_scrub::RowScrub;
use store::Store;

/// What to scrub.
pub struct ScrubRequest<'a> {
    /// The store.
    pub store: &'a Store,
    /// Only files of this repository's log.
    pub repo: Option<RepoKey>,
    /// Whether to change anything.
    pub how: ScrubMode,
    /// The recogniser of secrets.
    pub recogniser: &'a Recogniser<'a>,
    /// Where our other files are. They are scrubbed where no repository is named.
    pub places: OwnFolders<'a>,
}

/// Whether to change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrubMode {
    /// Remove the secrets.
    Change,
    /// Only report them.
    DryRun,
}

impl ScrubMode {
    pub(super) fn of_rows(self) -> RowScrub {
        match self {
            Self::Change => RowScrub::Change,
            Self::DryRun => RowScrub::DryRun,
        }
    }
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct ScrubbedFile {
    pub(super) file: PathBuf,
    /// Removed secrets: line, byte offset before the change, and secret.
    pub(super) removed: Vec<ScrubFindings>,
    /// Secrets that could not be removed without losing something else.
    pub(super) left: Vec<ScrubFindings>,
    /// Lines that were too long to check, and damaged parts of a segment.
    pub(super) too_long: usize,
    /// Commits of a git work tree with earlier versions of the file.
    pub(super) history: Option<CommitHistory>,
}

/// A secret in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScrubFindings {
    /// The line number, from 1.
    pub(super) line: usize,
    /// The byte offset of the line.
    pub(super) offset: u64,
    pub(super) spot: SecretSpot,
}
