//! The name of a memory in an engine: the same on every machine, however many stores hold a copy of it. Not here: what is
//! stored under it (`corpus_entry`).

use std::fmt;

use sha2::{Digest, Sha256};

use memory::{Memory, Version};

/// The name of a memory: a hash of its id and its content. Equal contents under one id are one memory, others are others
/// (S-ORIGIN-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryKey(pub [u8; 16]);

impl MemoryKey {
    /// Returns the key of a memory. Costs reading and hashing its record.
    #[must_use]
    pub fn from_memory(memory: &Memory) -> Self {
        Self::from_version(&memory.version())
    }

    /// Returns the key of a memory with this content.
    #[must_use]
    pub fn from_version(version: &Version) -> Self {
        let hash = Sha256::new_with_prefix(version.event.id.as_str())
            .chain_update([0])
            .chain_update(version.content_digest())
            .finalize();
        let mut key = [0; 16];
        key.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Self(key)
    }
}

/// In hexadecimal digits, grouped as those of a UUID.
impl fmt::Display for MemoryKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let dash = if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(out, "{dash}{byte:02x}")?;
        }
        Ok(())
    }
}
