//! Which lines move, and how the chain of a log names the segment they move to. Not here: moving them.

use std::path::Path;

use super::super::chain::RewriteReason;
use crate::LogLine;

/// Decides for each line of a log, in order from the first, whether it moves.
pub type MoveRule<'a> = Box<dyn FnMut(&LogLine<'_>) -> bool + 'a>;

/// Names the segment for the chain of the log.
pub(super) fn reason_of(segment: &Path) -> RewriteReason {
    RewriteReason::Archive(segment.file_name().unwrap_or_default().to_string_lossy().into_owned())
}
