//! Lines as hashes, to find the same line elsewhere. Not here: what is done with it (`interrupted_archiving`, `doubled`).

use std::collections::HashMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::StoreError;
use super::super::lines::lines_of;

/// Half a SHA-256 of a line, so that different lines never match.
pub(super) type LineHash = [u8; 16];

pub(super) fn hash_of(line: &[u8]) -> LineHash {
    let mut hash = [0; 16];
    hash.iter_mut().zip(Sha256::digest(line)).for_each(|(to, from)| *to = from);
    hash
}

/// How often each line stands in a segment. A segment of ours has at most a million lines.
#[derive(Debug, Clone, Default)]
pub(super) struct LineCounts(HashMap<LineHash, u64>);

impl LineCounts {
    /// Counts the lines of a segment; none if it does not exist.
    pub fn count(segment: &Path) -> Result<Self, StoreError> {
        let mut counts = HashMap::new();
        lines_of(segment, |line| *counts.entry(hash_of(line.bytes)).or_insert(0) += 1)?;
        Ok(Self(counts))
    }

    /// Tells whether a line is counted.
    pub fn has(&self, line: &[u8]) -> bool {
        // A log that is read beside a missing segment needs no hashes.
        !self.0.is_empty() && self.0.contains_key(&hash_of(line))
    }

    /// Takes one copy of a line out, if there is one left.
    pub fn remove(&mut self, line: &[u8]) -> bool {
        let Some(left) = self.0.get_mut(&hash_of(line)) else { return false };
        let is_left = *left > 0;
        *left = left.saturating_sub(1);
        is_left
    }
}
