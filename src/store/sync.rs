//! Group commit: when several writers wait for the same disk, one syncs for all. Not here: its callers
//! (`append`).
//!
//! A file beside the log's lock holds four numbers: how many syncs began, how many of them ended well, and
//! which file the last one was of. A writer notes the first number after its write. Any sync with a higher
//! number began after that, so once such a sync has ended well, the writer's lines are on disk too. The last
//! two numbers also say that the file's name is on disk, so directories are synced once per log and not for
//! each event. If the numbers cannot be read, or the wait takes too long, each writer syncs alone.

use std::fs::File;
use std::io;
use std::path::Path;

use super::StoreError;

/// What a writer knows about other syncs at the end of its write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    /// The last sync that had begun by then; `None` if syncs cannot be shared.
    #[cfg(unix)]
    begun: Option<u64>,
}

/// Reads the count of syncs. Call it between the write and [`commit`].
pub(super) fn ticket(log: &Path) -> Ticket {
    shared::ticket(log)
}

/// Returns once what was written to `file` before its ticket is on disk, together with the file's name. Waits
/// at most `wait_ms` milliseconds for another writer's sync, and then syncs itself.
///
/// # Errors
/// [`StoreError::NotSynced`]. A failed sync is not repeated, because a second one could report success wrongly.
pub(super) fn commit(
    file: &File,
    log: &Path,
    ticket: Ticket,
    wait_ms: u64,
) -> Result<(), StoreError> {
    shared::commit(file, log, (ticket, wait_ms), |names| {
        file.sync_data().map_err(not_synced(log))?;
        match names {
            #[cfg(unix)]
            Names::OnDisk => Ok(()),
            Names::Unknown => names_of(log),
        }
    })
}

/// Syncs a file and its name without considering other writers.
pub(super) fn sync_alone(file: &File, log: &Path) -> Result<(), StoreError> {
    file.sync_data().map_err(not_synced(log))?;
    names_of(log)
}

/// Whether the directory entries that lead to a file are known to be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    #[cfg(unix)]
    OnDisk,
    Unknown,
}

/// Syncs every directory entry that leads to a file, because without them the file does not survive a power
/// loss. It is unknown who created which directory and when, so all are synced. Syncing a directory without
/// changes costs almost nothing.
#[cfg(unix)]
pub(super) fn names_of(path: &Path) -> Result<(), StoreError> {
    let here = Path::new(".");
    let folders = path.ancestors().skip(1);
    for (place, folder) in folders.enumerate() {
        let folder = if folder.as_os_str().is_empty() { here } else { folder };
        match File::open(folder).and_then(|directory| directory.sync_all()) {
            Ok(()) => {}
            // Directories above the store may be inaccessible, and then we did not create them.
            Err(error) if place > 0 && is_not_ours(&error) => {}
            Err(error) => return Err(not_synced(folder)(error)),
        }
    }
    Ok(())
}

/// Does nothing: only Unix systems can sync directories.
#[cfg(not(unix))]
pub(super) fn names_of(_path: &Path) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(unix)]
fn is_not_ours(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::Unsupported
    )
}

fn not_synced(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::NotSynced { path, source }
}

#[cfg(unix)]
mod shared {
    use std::fs::File;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::path::{Path, PathBuf};
    use std::time::UNIX_EPOCH;

    use super::{Names, Ticket};
    use crate::StoreError;
    use crate::lock::{self, FileLock};

    /// The four numbers.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    struct SyncCounts {
        begun: u64,
        ended: u64,
        of: SyncedFile,
    }

    /// The identity of a file: its inode, and its creation time in nanoseconds, because inode numbers are
    /// reused.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    struct SyncedFile {
        inode: u64,
        made: u64,
    }

    impl SyncedFile {
        /// Returns `None` if the file system does not provide a creation time.
        fn from_file(file: &File) -> Option<Self> {
            let metadata = file.metadata().ok()?;
            let made = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some(Self { inode: metadata.ino(), made: u64::try_from(made.as_nanos()).ok()? })
        }
    }

    const PROGRESS_BYTES: usize = 32;

    impl SyncCounts {
        fn read(file: &File) -> Option<Self> {
            let mut bytes = [0; PROGRESS_BYTES];
            file.read_exact_at(&mut bytes, 0).ok()?;
            let mut numbers = bytes.as_chunks::<8>().0.iter().map(|part| u64::from_le_bytes(*part));
            let (begun, ended) = (numbers.next()?, numbers.next()?);
            let of = SyncedFile { inode: numbers.next()?, made: numbers.next()? };
            (ended <= begun).then_some(Self { begun, ended, of })
        }

        fn write(self, file: &File) -> Option<()> {
            let Self { begun, ended, of: SyncedFile { inode, made } } = self;
            let bytes = [begun, ended, inode, made].map(u64::to_le_bytes);
            file.write_all_at(bytes.as_flattened(), 0).ok()
        }
    }

    fn place(log: &Path) -> PathBuf {
        lock::path_of(log).with_extension("sync")
    }

    pub(super) fn ticket(log: &Path) -> Ticket {
        Ticket { begun: begun(log) }
    }

    fn begun(log: &Path) -> Option<u64> {
        match File::open(place(log)) {
            Ok(file) => SyncCounts::read(&file).map(|progress| progress.begun),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(0),
            Err(_) => None,
        }
    }

    pub(super) fn commit(
        file: &File,
        log: &Path,
        (ticket, wait_ms): (Ticket, u64),
        alone: impl FnOnce(Names) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (Some(begun), Some(of)) = (ticket.begun, SyncedFile::from_file(file)) else {
            return alone(Names::Unknown);
        };
        let Ok(turn) = FileLock::acquire(&place(log), wait_ms) else {
            return alone(Names::Unknown);
        };
        let progress = SyncCounts::read(turn.file()).unwrap_or_default();
        if progress.ended > begun && progress.of == of {
            return Ok(());
        }
        let this = SyncCounts { begun: progress.begun.max(begun) + 1, ..progress };
        let is_told = this.write(turn.file()).is_some();
        let is_known = progress.ended > 0 && progress.of == of;
        alone(if is_known { Names::OnDisk } else { Names::Unknown })?;
        if is_told {
            // A writer that misses this number syncs once more.
            let _ = SyncCounts { ended: this.begun, of, ..this }.write(turn.file());
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        struct SyncFixture {
            folder: tempfile::TempDir,
            file: File,
        }

        impl SyncFixture {
            fn new() -> Self {
                let folder = tempfile::tempdir().unwrap();
                std::fs::create_dir(folder.path().join(".locks")).unwrap();
                let file = File::create(folder.path().join("a.jsonl")).unwrap();
                Self { folder, file }
            }

            fn log(&self) -> PathBuf {
                self.folder.path().join("a.jsonl")
            }

            /// Commits, and returns what was synced.
            fn commit(&self, file: &File, ticket: Ticket) -> Option<Names> {
                let mut synced = None;
                let alone = |names| {
                    synced = Some(names);
                    Ok(())
                };
                commit(file, &self.log(), (ticket, lock::WAIT_MS_MAX), alone).unwrap();
                synced
            }
        }

        const FIRST: Ticket = Ticket { begun: Some(0) };

        // S-STORE-4
        #[test]
        fn only_a_sync_that_began_after_the_write_counts() {
            let world = SyncFixture::new();
            let ticket = || super::super::ticket(&world.log());
            let (first, second) = (ticket(), ticket());
            assert_eq!(world.commit(&world.file, first), Some(Names::Unknown));
            assert_eq!(world.commit(&world.file, second), None, "both wrote before it began");
            let third = ticket();
            assert_eq!(
                world.commit(&world.file, third),
                Some(Names::OnDisk),
                "written after it began"
            );
        }

        // S-STORE-4
        #[test]
        fn a_sync_that_failed_or_was_of_another_file_serves_nobody() {
            let world = SyncFixture::new();
            let failed =
                |_| Err(StoreError::io("sync", &world.log())(std::io::Error::other("disk")));
            commit(&world.file, &world.log(), (FIRST, 0), failed).unwrap_err();
            assert_eq!(world.commit(&world.file, FIRST), Some(Names::Unknown));
            let other = File::create(world.folder.path().join("b")).unwrap();
            assert_eq!(world.commit(&other, FIRST), Some(Names::Unknown));
        }

        // S-STORE-4
        #[test]
        fn numbers_that_cannot_be_right_are_not_believed() {
            let world = SyncFixture::new();
            let SyncedFile { inode, made } = SyncedFile::from_file(&world.file).unwrap();
            let wrong = [7, 8, inode, made].map(u64::to_le_bytes);
            std::fs::write(place(&world.log()), wrong.as_flattened()).unwrap();
            assert_eq!(begun(&world.log()), None);
            assert_eq!(world.commit(&world.file, FIRST), Some(Names::Unknown));
        }
    }
}

#[cfg(not(unix))]
mod shared {
    use std::fs::File;
    use std::path::Path;

    use super::{Names, Ticket};
    use crate::StoreError;

    pub(super) fn ticket(_log: &Path) -> Ticket {
        Ticket {}
    }

    pub(super) fn commit(
        _file: &File,
        _log: &Path,
        _ticket: (Ticket, u64),
        alone: impl FnOnce(Names) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        alone(Names::Unknown)
    }
}
