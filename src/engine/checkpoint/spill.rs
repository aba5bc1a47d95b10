//! Records that were just read and that no checkpoint has, out of memory: in a file without a name, of which nothing is left
//! however this process ends. Not here: which records (`projection::texts`).

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Checkpoints;
use super::checked_file::Records;
use memory::Fold;
use memory::texts::RecordStore;
use store::{StoreError, make_own_file, own_folder};

/// So many full blocks of records are in memory at most, 16 MiB: few beside the indexes of so many memories that
/// it matters.
const BLOCKS_MAX: usize = 64;

/// Where records go that are read from the logs.
#[derive(Debug)]
pub struct Spill {
    /// None once nothing more can be written there.
    folder: Option<PathBuf>,
    blocks_max: usize,
    bytes_max: u64,
    /// The file, and how long it is.
    open: Option<(Arc<Records>, u64)>,
}

impl Checkpoints {
    /// Names a place for records; nothing is made until there are many. Once it holds `bytes_max` bytes the rest stays
    /// in memory: records that were left out to stay within a bound are in it too, so it would grow as the logs do.
    #[must_use]
    pub fn spill(&self, bytes_max: u64) -> Spill {
        // Elsewhere a file that is open keeps its name.
        let folder = cfg!(unix).then(|| self.folder.clone());
        Spill { folder, blocks_max: BLOCKS_MAX, bytes_max, open: None }
    }
}

impl Spill {
    /// Takes records of a fold out of memory, once there are many and while there is room. Where that fails they stay.
    pub fn move_full_blocks(&mut self, fold: &mut Fold) {
        let has_room = self.open.as_ref().is_none_or(|(_, bytes)| *bytes < self.bytes_max);
        if let Some(folder) = self.folder.as_ref().filter(|_| has_room)
            && Self::take(&mut self.open, folder, fold, self.blocks_max).is_err()
        {
            self.folder = None;
        }
    }

    /// Begins with an empty file: what is in this one nobody needs any more.
    pub fn clear(&mut self) {
        self.open = None;
    }

    fn take(
        open: &mut Option<(Arc<Records>, u64)>,
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

    /// The same with fewer blocks in memory.
    #[cfg(test)]
    pub(crate) fn beyond(self, blocks_max: usize) -> Self {
        Self { blocks_max, ..self }
    }
}

fn unlinked_file(folder: &Path) -> Result<Records, StoreError> {
    own_folder(folder)?;
    let path = folder.join("unkept");
    let file = make_own_file(&path)?;
    let removed: io::Result<()> = std::fs::remove_file(&path);
    removed.map_err(StoreError::io("remove", &path))?;
    Ok(Records(file))
}
