//! The inotify queue, read without waiting. Not here: systems without it (`changes`).

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags};
use rustix::io::Errno;

use super::change_set::Changes;
use store::Store;

/// File systems whose every change goes through this kernel, by their `statfs` number: ext2 to 4,
/// XFS, Btrfs, tmpfs, F2FS, overlayfs, ZFS, bcachefs. On all others another machine may write
/// unreported.
const LOCAL: [i128; 8] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0x0102_1994,
    0xF2F5_2010,
    0x794C_7630,
    0x2FC1_2FC1,
    0xCA45_1A4E,
];

/// Room for some hundred events.
const BUFFER_BYTES: usize = 8 * 1024;

/// Events taken out at a time. A writer that is faster than that makes the engine look at every
/// file.
const EVENTS_MAX: usize = 20_000;

/// An event queue, and the directory it watches.
#[derive(Debug)]
pub(super) struct InotifyQueue {
    events: OwnedFd,
    /// The watch descriptor of the log directory.
    root_watch: i32,
    /// Device, inode and mount of the log directory.
    root: WatchedPath,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WatchedPath {
    device: (u32, u32),
    inode: u64,
    mount: u64,
}

impl WatchedPath {
    fn from_statx(found: &Statx) -> Self {
        let device = (found.stx_dev_major, found.stx_dev_minor);
        Self { device, inode: found.stx_ino, mount: found.stx_mnt_id }
    }
}

fn inspect(path: &Path, flags: AtFlags) -> Option<Statx> {
    let wanted = StatxFlags::INO | StatxFlags::NLINK | StatxFlags::MNT_ID;
    rustix::fs::statx(CWD, path, flags, wanted).ok()
}

fn is_local(folder: &Path) -> bool {
    rustix::fs::statfs(folder).is_ok_and(|found| LOCAL.contains(&i128::from(found.f_type)))
}

fn watch(events: &OwnedFd, folder: &Path) -> Option<i32> {
    let what = WatchFlags::MODIFY
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::ATTRIB
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR;
    is_local(folder).then(|| inotify::add_watch(events, folder, what).ok())?
}

impl InotifyQueue {
    pub(super) fn open(root: &Path) -> Option<Self> {
        // This comes before any queue is made, since closing one makes the kernel wait.
        if !is_local(root) {
            return None;
        }
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        // Inspected first: if another directory takes its place meanwhile, `is_of` will be false.
        let place = WatchedPath::from_statx(&inspect(root, AtFlags::empty())?);
        let root_watch = watch(&events, root)?;
        Some(Self { events, root_watch, root: place })
    }

    /// Tells whether it watches the directory that has this name now.
    pub(super) fn watches_root(&self, root: &Path) -> bool {
        inspect(root, AtFlags::empty())
            .is_some_and(|found| WatchedPath::from_statx(&found) == self.root)
    }

    /// Watches the log directory, and only then lists `folders` and watches them, including those
    /// watched already, since another folder may have taken the place of one. False where it
    /// cannot.
    pub(super) fn add_watches(
        &self,
        root: &Path,
        folders: impl FnOnce() -> Option<Vec<PathBuf>>,
    ) -> bool {
        let is_watched = |folder: &PathBuf| watch(&self.events, folder).is_some();
        watch(&self.events, root) == Some(self.root_watch)
            && folders().is_some_and(|folders| folders.iter().all(is_watched))
    }

    pub(super) fn covers(&self, file: &Path) -> bool {
        let found = inspect(file, AtFlags::SYMLINK_NOFOLLOW);
        found.is_some_and(|found| found.stx_nlink == 1 && found.stx_mnt_id == self.root.mount)
    }

    pub(super) fn drain(&self, root: &Path) -> Changes {
        let (mut written, mut is_plain) = (BTreeSet::new(), true);
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut queue = Reader::new(&self.events, &mut buffer);
        for _ in 0..EVENTS_MAX {
            match queue.next() {
                // All events are taken out, even after one that requires a look at every file:
                // otherwise it would require that again.
                Ok(event) => is_plain &= self.is_plain_write(&event, &mut written),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if is_plain && self.watches_root(root) => {
                    return Changes::Written(written);
                }
                Err(_) => return Changes::Anything,
            }
        }
        Changes::Anything
    }

    /// Adds the log that an event is about. False where the event may mean anything else.
    fn is_plain_write(&self, event: &inotify::Event<'_>, written: &mut BTreeSet<OsString>) -> bool {
        let (Some(name), true) = (event.file_name(), event.wd() == self.root_watch) else {
            return false;
        };
        let name = OsStr::from_bytes(name.to_bytes());
        if event.events().contains(ReadFlags::ISDIR) {
            return false;
        }
        if !Store::is_log(Path::new(name)) {
            return true;
        }
        let is_write = (ReadFlags::MODIFY | ReadFlags::CLOSE_WRITE).contains(event.events());
        if is_write && !written.contains(name) {
            written.insert(name.to_owned());
        }
        is_write
    }
}
