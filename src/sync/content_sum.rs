//! Names contents by their SHA-256. Not here: the names that git gives (`git_remote`).

use sha2::{Digest as _, Sha256};

/// Returns 64 hexadecimal digits that stand for contents.
pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the first digits of the sum, where the whole one would be too long for a name.
pub(crate) fn short_sum(bytes: &[u8], digits: usize) -> String {
    sum(bytes).chars().take(digits).collect()
}
