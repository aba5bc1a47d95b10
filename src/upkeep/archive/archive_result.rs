//! Whether anything moves, and what became of a log. Not here: archiving.

use std::path::PathBuf;

use store::{MovedLines, StoreError};

/// Whether to change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveMode {
    /// Move lines.
    Change,
    /// Only report which lines would move.
    DryRun,
}

/// The result for one log.
#[derive(Debug)]
pub struct ArchiveResult {
    /// The log.
    pub log: PathBuf,
    /// What was moved, or would be.
    pub moved: Result<MovedLines, StoreError>,
}
