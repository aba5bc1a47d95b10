//! Getting a log onto the disk, together: of several writers that wait for the same disk, one syncs
//! for all. Not here: who asks for it (`append`).
//!
//! Beside the log's lock stands a file with three numbers: how many syncs were begun, how many of them
//! ended well, and of which file the last one was. A writer notes the first number after its write.
//! Any sync with a higher number began after that, so when such a one has ended well, the writer's
//! lines are on the disk too. The numbers prove nothing by being wrong: where they cannot be read, or
//! the waiting takes too long, everybody syncs alone.

use std::fs::File;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;

use super::StoreError;
#[cfg(unix)]
use super::layout;

/// What a writer knows of others' syncs at the end of its write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    /// The last sync that had begun by then; `None` where nothing can be shared.
    begun: Option<u64>,
}

/// Notes where the others are. To be called between the write and [`commit`].
pub(super) fn ticket(log: &Path) -> Ticket {
    Ticket { begun: shared::begun(log) }
}

/// Returns when what was written to `file` before its ticket is on the disk.
///
/// # Errors
/// [`StoreError::NotSynced`]. A failed sync is not tried again: the second could lie.
pub(super) fn commit(file: &File, log: &Path, ticket: Ticket) -> Result<(), StoreError> {
    let alone = || file.sync_data().map_err(not_synced(log));
    match ticket.begun {
        Some(begun) => shared::commit(file, log, begun, alone),
        None => alone(),
    }
}

/// Returns when the entry of a file in its directory is on the disk: without it a file does not
/// survive a power loss.
#[cfg(unix)]
pub(super) fn directory(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|directory| directory.sync_all()).map_err(not_synced(folder))
}

#[cfg(not(unix))]
pub(super) fn directory(_folder: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Returns when the entries that lead to the store are on the disk: those of every folder above it that one
/// of us may have made, and left unsynced since it was not asked for more, or was killed. Done once; a
/// file among the locks tells.
///
/// # Errors
/// [`StoreError::NotSynced`].
#[cfg(unix)]
pub(super) fn way_to(root: &Path) -> Result<(), StoreError> {
    let done = root.join(layout::LOCKS).join("way-synced");
    if done.exists() {
        return Ok(());
    }
    for folder in folders_above(root).map_err(not_synced(root))? {
        match directory(&folder) {
            // What we may not read we have not made.
            Err(StoreError::NotSynced { source, .. })
                if source.kind() == std::io::ErrorKind::PermissionDenied => {}
            other => other?,
        }
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    layout::private(&mut options);
    // Where it cannot be told, it is done again.
    let _ = options.open(done);
    Ok(())
}

/// Lists the folders above the store, the nearest first, as far as its own file system reaches: we make
/// none beyond it, and not every other kind can be synced.
#[cfg(unix)]
fn folders_above(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    use std::os::unix::fs::MetadataExt;
    let root = root.canonicalize()?;
    let device = root.metadata()?.dev();
    let is_near = |folder: &&Path| folder.metadata().is_ok_and(|found| found.dev() == device);
    Ok(root.ancestors().skip(1).take_while(is_near).map(Path::to_owned).collect())
}

#[cfg(not(unix))]
pub(super) fn way_to(_root: &Path) -> Result<(), StoreError> {
    Ok(())
}

fn not_synced(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::NotSynced { path, source }
}

#[cfg(unix)]
mod shared {
    use std::fs::File;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::path::{Path, PathBuf};

    use crate::store::StoreError;
    use crate::store::lock::{self, FileLock};

    /// The three numbers.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    struct Progress {
        begun: u64,
        ended: u64,
        inode: u64,
    }

    const PROGRESS_BYTES: usize = 24;

    impl Progress {
        fn read(file: &File) -> Option<Self> {
            let mut bytes = [0; PROGRESS_BYTES];
            file.read_exact_at(&mut bytes, 0).ok()?;
            let mut numbers = bytes.as_chunks::<8>().0.iter().map(|part| u64::from_le_bytes(*part));
            let (begun, ended, inode) = (numbers.next()?, numbers.next()?, numbers.next()?);
            (ended <= begun).then_some(Self { begun, ended, inode })
        }

        fn write(self, file: &File) -> Option<()> {
            let bytes = [self.begun, self.ended, self.inode].map(u64::to_le_bytes);
            file.write_all_at(bytes.as_flattened(), 0).ok()
        }
    }

    fn place(log: &Path) -> PathBuf {
        lock::path_of(log).with_extension("sync")
    }

    pub(super) fn begun(log: &Path) -> Option<u64> {
        match File::open(place(log)) {
            Ok(file) => Progress::read(&file).map(|progress| progress.begun),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(0),
            Err(_) => None,
        }
    }

    pub(super) fn commit(
        file: &File,
        log: &Path,
        begun: u64,
        alone: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Ok(turn) = FileLock::take(&place(log), lock::WAIT_MS_MAX) else { return alone() };
        let Ok(inode) = file.metadata().map(|metadata| metadata.ino()) else { return alone() };
        let progress = Progress::read(turn.file()).unwrap_or_default();
        if progress.ended > begun && progress.inode == inode {
            return Ok(());
        }
        let this = Progress { begun: progress.begun.max(begun) + 1, ..progress };
        let is_told = this.write(turn.file()).is_some();
        alone()?;
        if is_told {
            // Who does not learn of it syncs once more.
            let _ = Progress { ended: this.begun, inode, ..this }.write(turn.file());
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        struct World {
            folder: tempfile::TempDir,
            file: File,
        }

        impl World {
            fn new() -> Self {
                let folder = tempfile::tempdir().unwrap();
                std::fs::create_dir(folder.path().join(".locks")).unwrap();
                let file = File::create(folder.path().join("a.jsonl")).unwrap();
                Self { folder, file }
            }

            fn log(&self) -> PathBuf {
                self.folder.path().join("a.jsonl")
            }

            /// Commits, and tells whether that took a sync of its own.
            fn commit(&self, file: &File, begun: u64) -> bool {
                let mut synced = false;
                let alone = || {
                    synced = true;
                    Ok(())
                };
                commit(file, &self.log(), begun, alone).unwrap();
                synced
            }
        }

        // S-STORE-4
        #[test]
        fn a_sync_that_began_after_the_write_serves_and_an_earlier_one_does_not() {
            let world = World::new();
            let (first, second) = (begun(&world.log()).unwrap(), begun(&world.log()).unwrap());
            assert!(world.commit(&world.file, first));
            assert!(!world.commit(&world.file, second), "both wrote before that sync began");
            let third = begun(&world.log()).unwrap();
            assert!(world.commit(&world.file, third), "written after that sync began");
        }

        // S-STORE-4
        #[test]
        fn a_sync_that_failed_or_was_of_another_file_serves_nobody() {
            let world = World::new();
            let failed =
                || Err(StoreError::io("sync", &world.log())(std::io::Error::other("disk")));
            commit(&world.file, &world.log(), 0, failed).unwrap_err();
            assert!(world.commit(&world.file, 0));
            let other = File::create(world.folder.path().join("b")).unwrap();
            assert!(world.commit(&other, 0));
        }

        // S-STORE-4
        #[test]
        fn numbers_that_cannot_be_right_are_not_believed() {
            let world = World::new();
            let wrong = [7_u64, 8, world.file.metadata().unwrap().ino()].map(u64::to_le_bytes);
            std::fs::write(place(&world.log()), wrong.as_flattened()).unwrap();
            assert_eq!(begun(&world.log()), None);
            assert!(world.commit(&world.file, 0));
        }
    }
}

#[cfg(not(unix))]
mod shared {
    use std::fs::File;
    use std::path::Path;

    use crate::store::StoreError;

    pub(super) fn begun(_log: &Path) -> Option<u64> {
        None
    }

    pub(super) fn commit(
        _file: &File,
        _log: &Path,
        _begun: u64,
        alone: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        alone()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    // S-STORE-4
    #[test]
    fn the_way_to_the_store_is_every_folder_above_it_and_is_synced_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("new").join("logs");
        std::fs::create_dir_all(root.join(layout::LOCKS)).unwrap();
        let above = folders_above(&root).unwrap();
        let nearest = [folder.path().join("new"), folder.path().to_owned()];
        let nearest = nearest.map(|folder| folder.canonicalize().unwrap());
        assert!(above.starts_with(&nearest), "{above:?}");
        way_to(&root).unwrap();
        assert!(root.join(".locks/way-synced").exists());
        way_to(&root).unwrap();
        way_to(&folder.path().join("nowhere")).unwrap_err();
    }
}
