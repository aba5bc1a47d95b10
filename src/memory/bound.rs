//! The memory bound, and the ages that decide which memories stay within it: the newest stay. Of the
//! others only the id and the time are kept. Not here: the decision (`ledger`), the size of a memory
//! (`size`).

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use event::{Event, EventId, Timestamp};

/// The number of bytes that memories and their indexes may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryBound {
    /// The total in bytes, as `size` estimates it.
    pub bytes_max: u64,
    /// Bytes of each memory's vector, where there is a model. Its lines do not determine it.
    pub vector_bytes: u64,
}

impl MemoryBound {
    /// Keeps everything.
    pub const NONE: Self = Self { bytes_max: u64::MAX, vector_bytes: 0 };
}

/// No bound.
impl Default for MemoryBound {
    fn default() -> Self {
        Self::NONE
    }
}

/// An id as the first sixteen bytes of its SHA-256. It takes a third of what a map of textual ids
/// takes, and nobody can construct two ids with the same key.
pub(super) type IdKey = [u8; 16];

/// Returns the key of an id.
pub(super) fn key(id: &EventId) -> IdKey {
    let digest: [u8; 32] = Sha256::digest(id.as_str()).into();
    digest.first_chunk().copied().unwrap_or_default()
}

/// When a memory was written. The outer `None` sorts before all times and means events about
/// an unknown memory; the inner `None` means a memory without a time.
pub(super) type WriteTime = Option<Option<Timestamp>>;

/// The age of a memory. The least age is left out first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MemoryAge {
    pub(super) when: WriteTime,
    pub(super) id: EventId,
}

/// The earliest time of each id over all lines.
#[derive(Debug, Default)]
pub struct Census {
    pub(super) earliest: HashMap<IdKey, Option<Timestamp>>,
}

impl Census {
    /// Adds one event.
    pub fn add(&mut self, event: &Event) {
        if event.memory_id.is_none() {
            let when = self.earliest.entry(key(&event.id)).or_insert(event.timestamp);
            *when = (*when).min(event.timestamp);
        }
    }
}

/// The memories that were left out, with their earliest known times. The table is split by the
/// first byte of the key, so that a change beside a frozen state copies a 256th of it.
#[derive(Debug, Clone, Default)]
pub(super) struct LeftOutMemories {
    /// Empty while nothing was left out, otherwise 256 parts.
    parts: Arc<Vec<Arc<Times>>>,
    len: usize,
}

impl LeftOutMemories {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn get(&self, key: &IdKey) -> WriteTime {
        self.parts.get(usize::from(*key.first()?))?.get(key).copied()
    }

    /// Iterates over all of them, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&IdKey, &Option<Timestamp>)> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// Inserts one and returns its earlier time, if it was already there.
    pub(super) fn insert(&mut self, key: IdKey, timestamp: Option<Timestamp>) -> WriteTime {
        let parts = Arc::make_mut(&mut self.parts);
        parts.resize_with(PARTS, Arc::default);
        let part = parts.get_mut(usize::from(*key.first()?))?;
        let was = Arc::make_mut(part).insert(key, timestamp);
        self.len += usize::from(was.is_none());
        was
    }
}

/// The times of ids.
type Times = HashMap<IdKey, Option<Timestamp>>;

/// One part for each value of a byte.
const PARTS: usize = 256;
