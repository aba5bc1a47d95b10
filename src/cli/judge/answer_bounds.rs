//! How long an answer of the model may take, and how long it may be. Not here: asking.

/// How long one answer may take, in seconds: a large model on a small machine is slow.
pub(super) const ANSWER_SECONDS_MAX: u64 = 60;

/// The longest answer, in bytes: a decision is a few lines.
pub(super) const ANSWER_BYTES_MAX: usize = 256 * 1024;
