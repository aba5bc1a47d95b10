//! Stores the records of memories in blocks. A block is in memory until a checkpoint stores it;
//! then its records are read from the checkpoint's file by offset. A record is never returned
//! unless its checksum matches; a mismatch is reported to the follower. Not here: the encoding of a
//! record (`event_record`), the file (`engine::checkpoint`).

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// The size of a block, in bytes. Small blocks are freed soon after their memories are removed, and
/// a reader waits for the copying of one record only.
const BLOCK_BYTES: usize = 256 * 1024;

/// Released bytes are tolerated up to here: below it, compaction costs more than it frees.
const DEAD_BYTES_MIN: u64 = 1024 * 1024;

/// A store of records outside memory.
pub trait RecordStore: fmt::Debug + Send + Sync {
    /// Fills `to` with the bytes from `offset` on. False where that fails.
    fn read_at(&self, to: &mut [u8], offset: u64) -> bool;
}

/// Tells that a record could not be read. All texts of one fold share it.
#[derive(Debug, Clone, Default)]
pub struct DamageFlag(Arc<AtomicBool>);

impl DamageFlag {
    /// Tells whether a record could not be read.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn report(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Records, one after another.
#[derive(Debug)]
pub struct RecordBlock {
    held: RwLock<BlockBytes>,
    damage: DamageFlag,
}

#[derive(Debug)]
enum BlockBytes {
    InMemory(Vec<u8>),
    /// Stored from this offset on.
    Stored(Arc<dyn RecordStore>, u64),
}

/// One record.
#[derive(Debug, Clone)]
pub struct RecordText {
    block: Arc<RecordBlock>,
    offset: u64,
    length_bytes: u32,
    checksum: u32,
}

impl RecordBlock {
    /// Makes a block that is stored from an offset on.
    #[must_use]
    pub fn stored(by: Arc<dyn RecordStore>, offset: u64, damage: DamageFlag) -> Arc<Self> {
        Arc::new(Self { held: RwLock::new(BlockBytes::Stored(by, offset)), damage })
    }

    /// Returns a copy of its bytes, if they are in memory.
    #[must_use]
    pub fn bytes_in_memory(&self) -> Option<Vec<u8>> {
        match &*self.held.read().unwrap_or_else(PoisonError::into_inner) {
            BlockBytes::InMemory(bytes) => Some(bytes.clone()),
            BlockBytes::Stored(..) => None,
        }
    }

    /// Frees its bytes, which are stored from an offset on. Readers notice nothing.
    pub fn move_to(&self, by: Arc<dyn RecordStore>, offset: u64) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = BlockBytes::Stored(by, offset);
    }

    /// Returns its stored offset. `None` while it is in memory.
    #[must_use]
    pub fn stored_at(&self) -> Option<u64> {
        match &*self.held.read().unwrap_or_else(PoisonError::into_inner) {
            BlockBytes::InMemory(_) => None,
            BlockBytes::Stored(_, offset) => Some(*offset),
        }
    }

    fn copy(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        match &*self.held.read().unwrap_or_else(PoisonError::into_inner) {
            BlockBytes::InMemory(bytes) => {
                let start = usize::try_from(offset).ok()?;
                bytes.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
            }
            BlockBytes::Stored(store, base) => {
                let mut bytes = vec![0; length];
                store.read_at(&mut bytes, base.checked_add(offset)?).then_some(bytes)
            }
        }
    }

    /// Adds a record, unless the block is full or stored.
    fn push(&self, record: &[u8]) -> Option<u64> {
        let BlockBytes::InMemory(bytes) =
            &mut *self.held.write().unwrap_or_else(PoisonError::into_inner)
        else {
            return None;
        };
        let is_full = !bytes.is_empty() && bytes.len().saturating_add(record.len()) > BLOCK_BYTES;
        if is_full {
            return None;
        }
        let offset = u64::try_from(bytes.len()).ok()?;
        bytes.extend_from_slice(record);
        Some(offset)
    }
}

impl RecordText {
    /// Makes a stored record with its expected checksum.
    #[must_use]
    pub fn stored(block: &Arc<RecordBlock>, offset: u64, length_bytes: u32, checksum: u32) -> Self {
        Self { block: Arc::clone(block), offset, length_bytes, checksum }
    }

    /// Returns the record. `None` where its checksum does not match.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.length_bytes).ok();
        let copied = length.and_then(|length| self.block.copy(self.offset, length));
        let record = copied.filter(|record| crc32fast::hash(record) == self.checksum);
        if record.is_none() {
            self.report_damage();
        }
        record
    }

    /// Reports that the record is damaged.
    pub fn report_damage(&self) {
        self.block.damage.report();
    }

    /// Returns its stored offset, its length in bytes and its checksum. `None` while it is in
    /// memory.
    #[must_use]
    pub fn stored_at(&self) -> Option<(u64, u32, u32)> {
        let offset = self.block.stored_at()?.checked_add(self.offset)?;
        Some((offset, self.length_bytes, self.checksum))
    }

    /// Returns the same record at another place.
    #[must_use]
    pub fn moved(&self, block: &Arc<RecordBlock>, offset: u64) -> Self {
        Self { block: Arc::clone(block), offset, ..*self }
    }

    /// Returns its block, and its offset in it.
    #[must_use]
    pub fn place(&self) -> (&Arc<RecordBlock>, u64) {
        (&self.block, self.offset)
    }

    /// Returns its length in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.length_bytes.into()
    }

    /// Returns its checksum.
    #[must_use]
    pub fn checksum(&self) -> u32 {
        self.checksum
    }
}

/// The records of a fold; new ones are added here.
#[derive(Debug, Default)]
pub struct RecordTexts {
    open: Option<Arc<RecordBlock>>,
    /// The blocks that are or were in memory.
    blocks: Vec<Weak<RecordBlock>>,
    damage: DamageFlag,
    live_bytes: u64,
    /// Released bytes, in memory or stored.
    dead_bytes: u64,
}

impl RecordTexts {
    /// Adds a record.
    pub fn add(&mut self, record: &[u8]) -> RecordText {
        let length_bytes = u32::try_from(record.len()).unwrap_or(u32::MAX);
        let checksum = crc32fast::hash(record);
        self.live_bytes += u64::from(length_bytes);
        let open = self.open.take().and_then(|block| Some((block.push(record)?, block)));
        let (offset, block) = open.unwrap_or_else(|| (0, self.opened(record)));
        self.open = Some(Arc::clone(&block));
        RecordText { block, offset, length_bytes, checksum }
    }

    fn opened(&mut self, record: &[u8]) -> Arc<RecordBlock> {
        let held = RwLock::new(BlockBytes::InMemory(record.to_vec()));
        let block = Arc::new(RecordBlock { held, damage: self.damage.clone() });
        self.blocks.push(Arc::downgrade(&block));
        block
    }

    /// Counts the bytes of stored records.
    pub fn add_stored(&mut self, stored_bytes: u64) {
        self.live_bytes = self.live_bytes.saturating_add(stored_bytes);
    }

    /// Releases a record that no memory needs.
    pub fn release(&mut self, text: &RecordText) {
        self.live_bytes = self.live_bytes.saturating_sub(text.length_bytes());
        self.dead_bytes = self.dead_bytes.saturating_add(text.length_bytes());
    }

    /// Returns the blocks that are in memory, in the order in which they were begun, and adds no
    /// more records to them.
    pub fn seal(&mut self) -> Vec<Arc<RecordBlock>> {
        self.open = None;
        let blocks: Vec<Arc<RecordBlock>> = self.blocks.iter().filter_map(Weak::upgrade).collect();
        let here: Vec<Arc<RecordBlock>> =
            blocks.into_iter().filter(|block| block.stored_at().is_none()).collect();
        self.blocks = here.iter().map(Arc::downgrade).collect();
        here
    }

    /// Returns the full blocks, once there are more than `blocks_max`. [`RecordTexts::seal`] no
    /// longer returns them.
    pub fn take_full(&mut self, blocks_max: usize) -> Vec<Arc<RecordBlock>> {
        if self.blocks.len() <= blocks_max {
            return Vec::new();
        }
        // The open block is the last one.
        let open = self.open.as_ref().and_then(|_| self.blocks.pop());
        let full = std::mem::replace(&mut self.blocks, open.into_iter().collect());
        full.iter().filter_map(Weak::upgrade).collect()
    }

    /// Tells whether enough was released for the records in memory to be rewritten.
    #[must_use]
    pub fn needs_compaction(&self) -> bool {
        self.dead_bytes > DEAD_BYTES_MIN.max(self.live_bytes)
    }

    /// Begins a compaction: the caller then adds all records again.
    pub fn begin_compaction(&mut self) {
        self.open = None;
        self.dead_bytes = 0;
    }

    /// Adds a record again, if it is still in memory.
    pub fn add_again(&mut self, text: &RecordText) -> Option<RecordText> {
        if text.stored_at().is_some() {
            return None;
        }
        let record = text.bytes()?;
        self.live_bytes = self.live_bytes.saturating_sub(text.length_bytes());
        Some(self.add(&record))
    }

    /// Returns the damage flag that all its records share.
    #[must_use]
    pub fn damage_flag(&self) -> &DamageFlag {
        &self.damage
    }

    /// Returns the bytes of all records in use.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Debug, Default)]
    struct RecordFile(Mutex<Vec<u8>>);

    impl RecordStore for RecordFile {
        fn read_at(&self, to: &mut [u8], offset: u64) -> bool {
            let held = self.0.lock().unwrap();
            let start = usize::try_from(offset).unwrap();
            let found = held.get(start..start + to.len());
            found.is_some_and(|found| {
                to.copy_from_slice(found);
                true
            })
        }
    }

    fn record(number: usize) -> Vec<u8> {
        format!("record {number} ").repeat(1 + number % 50).into_bytes()
    }

    #[test]
    fn records_are_readable_before_and_after_storing() {
        let mut texts = RecordTexts::default();
        let held: Vec<RecordText> = (0..3_000).map(|number| texts.add(&record(number))).collect();
        let all_right =
            || held.iter().enumerate().all(|(number, text)| text.bytes() == Some(record(number)));
        assert!(all_right());
        let blocks = texts.seal();
        assert!(blocks.len() > 2);
        let record_file = Arc::new(RecordFile(Mutex::new(vec![7; 11])));
        for block in &blocks {
            let bytes = block.bytes_in_memory().unwrap();
            let offset = record_file.0.lock().unwrap().len();
            record_file.0.lock().unwrap().extend(bytes);
            block.move_to(
                Arc::clone(&record_file) as Arc<dyn RecordStore>,
                u64::try_from(offset).unwrap(),
            );
        }
        assert!(all_right() && texts.seal().is_empty());
        let (offset, length, _) = held[1].stored_at().unwrap();
        assert_eq!(offset, 11 + held[0].length_bytes());
        assert_eq!(u64::from(length), held[1].length_bytes());
        let later = texts.add(b"later");
        assert_eq!((later.bytes().unwrap(), later.stored_at()), (b"later".to_vec(), None));
        assert!(!texts.damage_flag().is_reported());
    }

    #[test]
    fn a_damaged_record_is_none_and_reported() {
        let mut texts = RecordTexts::default();
        let held = texts.add(b"one record");
        let record_file = Arc::new(RecordFile(Mutex::new(b"one recorb".to_vec())));
        texts.seal()[0].move_to(record_file, 0);
        assert_eq!(held.bytes(), None);
        assert!(texts.damage_flag().is_reported());
        let missing =
            RecordBlock::stored(Arc::new(RecordFile::default()), u64::MAX, DamageFlag::default());
        assert_eq!(RecordText::stored(&missing, 5, u32::MAX, 0).bytes(), None);
    }

    #[test]
    fn compaction_frees_released_records() {
        let mut texts = RecordTexts::default();
        let mut held: Vec<RecordText> = (0..9_000).map(|_| texts.add(&[1; 500])).collect();
        let mut number = 0;
        held.retain(|text| {
            number += 1;
            let stays = number % 5 == 0;
            if !stays {
                texts.release(text);
            }
            stays
        });
        assert!(texts.needs_compaction());
        texts.begin_compaction();
        held.iter_mut().for_each(|text| *text = texts.add_again(text).unwrap());
        assert!(!texts.needs_compaction());
        let bytes: usize =
            texts.seal().iter().map(|block| block.bytes_in_memory().unwrap().len()).sum();
        assert_eq!(bytes, 500 * held.len());
        assert_eq!(texts.live_bytes(), u64::try_from(bytes).unwrap());
        assert!(held.iter().all(|text| text.bytes().unwrap() == [1; 500]));
    }
}
