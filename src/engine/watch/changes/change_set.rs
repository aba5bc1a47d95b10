//! What may have changed since the last look. Not here: the queue of the kernel.

use std::collections::BTreeSet;
use std::ffi::OsString;

/// What may have changed since the last call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// Only these logs were written. An empty set means that nothing happened.
    Written(BTreeSet<OsString>),
    /// Anything may have changed.
    Anything,
}
