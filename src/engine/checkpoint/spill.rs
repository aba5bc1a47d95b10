//! The spill file: takes records out of memory while no checkpoint holds them. The file is unlinked
//! as soon as it is made, so nothing of it remains however this process ends. Not here: which
//! records (`memory::texts`).

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Checkpoints;
use super::checked_file::CheckpointRecords;
use memory::Fold;
use memory::texts::RecordStore;
use store::{StoreError, make_own_file, own_folder};

/// Full blocks of records in memory, 16 MiB: little beside the indexes of that many memories.
const BLOCKS_MAX: usize = 64;

/// The file that takes records out of memory.
#[derive(Debug)]
pub struct SpillFile {
    /// `None` once writing has failed.
    folder: Option<PathBuf>,
    blocks_max: usize,
    bytes_max: u64,
    /// The file, and its length in bytes.
    open: Option<(Arc<CheckpointRecords>, u64)>,
}

impl Checkpoints {
    /// Names the folder of a spill file. The file is made once there are many records. Once it
    /// holds `bytes_max` bytes the rest stays in memory: it also holds the records of removed
    /// memories, so it would grow with the logs.
    #[must_use]
    pub fn spill_file(&self, bytes_max: u64) -> SpillFile {
        // On other systems an open file cannot be unlinked.
        let folder = cfg!(unix).then(|| self.folder.clone());
        SpillFile { folder, blocks_max: BLOCKS_MAX, bytes_max, open: None }
    }
}

impl SpillFile {
    /// Moves full blocks of a fold to the file, once there are many and while there is room. Where
    /// that fails they stay in memory.
    pub fn move_full_blocks(&mut self, fold: &mut Fold) {
        let has_room = self.open.as_ref().is_none_or(|(_, bytes)| *bytes < self.bytes_max);
        if let Some(folder) = self.folder.as_ref().filter(|_| has_room)
            && Self::append_blocks(&mut self.open, folder, fold, self.blocks_max).is_err()
        {
            self.folder = None;
        }
    }

    /// Drops the file, whose records are no longer needed.
    pub fn clear(&mut self) {
        self.open = None;
    }

    fn append_blocks(
        open: &mut Option<(Arc<CheckpointRecords>, u64)>,
        folder: &Path,
        fold: &mut Fold,
        blocks_max: usize,
    ) -> Result<(), StoreError> {
        for block in fold.take_full(blocks_max) {
            let Some(records) = block.bytes_in_memory() else { continue };
            let (file, length_bytes) = match open {
                Some(open) => open,
                None => open.insert((Arc::new(unlinked_file(folder)?), 0)),
            };
            (&file.0).write_all(&records).map_err(StoreError::io("write to", folder))?;
            block.move_to(Arc::clone(file) as Arc<dyn RecordStore>, *length_bytes);
            *length_bytes += u64::try_from(records.len()).unwrap_or(0);
        }
        Ok(())
    }

    /// Keeps fewer blocks in memory.
    #[cfg(test)]
    pub(crate) fn with_blocks_max(self, blocks_max: usize) -> Self {
        Self { blocks_max, ..self }
    }
}

fn unlinked_file(folder: &Path) -> Result<CheckpointRecords, StoreError> {
    own_folder(folder)?;
    let path = folder.join("unkept");
    let file = make_own_file(&path)?;
    let removed: io::Result<()> = std::fs::remove_file(&path);
    removed.map_err(StoreError::io("remove", &path))?;
    Ok(CheckpointRecords(file))
}
