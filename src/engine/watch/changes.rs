//! The change queue: what the kernel reports just before an answer. On Linux, for local file
//! systems, a write has queued its event before it returns, so an empty queue proves that nothing
//! was written, and hundreds of logs need no look. Where that may not hold, the answer is "anything
//! may have changed". Not here: hints, which can be late or missing (`watch`), and looking at files
//! (`follow`).

mod change_set;
#[cfg(target_os = "linux")]
mod inotify;

pub use change_set::Changes;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use inotify::InotifyQueue;

/// Reports changes in the folders of a store.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
pub struct ChangeQueue {
    queue: Option<InotifyQueue>,
    /// Whether watching failed. Each try makes a queue, and closing one makes the kernel wait.
    has_failed: bool,
}

#[cfg(target_os = "linux")]
impl ChangeQueue {
    /// Watches `root` and the folders below it that hold files with lines, in addition to those
    /// watched already. `folders` lists them once `root` is watched, so that no new one is missed
    /// in between; it returns `None` where they cannot be listed. If one folder cannot be watched,
    /// none is until [`ChangeQueue::try_again`]. To be called before files are listed, each time
    /// anything may have changed.
    pub fn watch(&mut self, root: &Path, folders: impl FnOnce() -> Option<Vec<PathBuf>>) {
        if self.has_failed {
            return;
        }
        let current = self.queue.take().filter(|queue| queue.watches_root(root));
        let queue = current.map_or_else(|| InotifyQueue::open(root), Some);
        self.queue = queue.filter(|queue| queue.add_watches(root, folders));
        self.has_failed = self.queue.is_none();
    }

    /// Allows another try after a failure.
    pub fn try_again(&mut self) {
        self.has_failed = false;
    }

    /// Tells whether every write to these files is reported. Writes to a file with a second name,
    /// or mounted from elsewhere, are not.
    #[must_use]
    pub fn covers<'a>(&self, mut files: impl Iterator<Item = &'a Path>) -> bool {
        self.queue.as_ref().is_some_and(|queue| files.all(|file| queue.covers(file)))
    }

    /// Empties the queue, and returns what happened since the last call.
    pub fn drain(&mut self, root: &Path) -> Changes {
        self.queue.as_ref().map_or(Changes::Anything, |queue| queue.drain(root))
    }
}

/// Other systems have no such queue.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Default)]
pub struct ChangeQueue;

#[cfg(not(target_os = "linux"))]
impl ChangeQueue {
    /// Watches nothing.
    pub fn watch(&mut self, _root: &Path, _folders: impl FnOnce() -> Option<Vec<PathBuf>>) {}

    /// Does nothing.
    pub fn try_again(&mut self) {}

    /// Covers no file.
    #[must_use]
    pub fn covers<'a>(&self, _files: impl Iterator<Item = &'a Path>) -> bool {
        false
    }

    /// Cannot exclude any change.
    pub fn drain(&mut self, _root: &Path) -> Changes {
        Changes::Anything
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use std::fs::{self, File, OpenOptions};
    use std::io::Write;

    /// A change in a store, and its name.
    type NamedChange = (&'static str, fn(&Path));

    struct World {
        folder: tempfile::TempDir,
        root: PathBuf,
        queue: ChangeQueue,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("parent/logs");
            fs::create_dir_all(root.join("archive/a")).unwrap();
            fs::write(root.join("a.jsonl"), "").unwrap();
            let mut world = Self { folder, root, queue: ChangeQueue::default() };
            world.watch();
            world
        }

        fn watch(&mut self) {
            let folders = [self.root.join("archive"), self.root.join("archive/a")];
            self.queue.watch(&self.root, || Some(folders.to_vec()));
        }

        fn drain(&mut self) -> Changes {
            self.queue.drain(&self.root)
        }

        fn append(&self, name: &str) {
            let mut options = OpenOptions::new();
            let mut file = options.append(true).open(self.root.join(name)).unwrap();
            file.write_all(b"x\n").unwrap();
        }
    }

    fn written(names: &[&str]) -> Changes {
        Changes::Written(names.iter().map(OsString::from).collect())
    }

    /// Tells whether this machine's temporary files are on a local file system. Otherwise no
    /// changes are reported.
    fn is_local() -> bool {
        let is_local = World::new().drain() == written(&[]);
        assert!(is_local || std::env::var_os("CI").is_none(), "no changes are reported here");
        is_local
    }

    // S-READ-1
    #[test]
    fn every_finished_write_is_reported_and_nothing_else() {
        if !is_local() {
            return;
        }
        let mut world = World::new();
        for _ in 0..1_000 {
            assert_eq!(world.drain(), written(&[]));
            world.append("a.jsonl");
            assert_eq!(world.drain(), written(&["a.jsonl"]));
        }
        let file = OpenOptions::new().write(true).open(world.root.join("a.jsonl")).unwrap();
        file.set_len(1).unwrap();
        assert_eq!(world.drain(), written(&["a.jsonl"]), "shortened");
        fs::write(world.root.join("notes.txt"), "no log").unwrap();
        fs::write(world.root.join(".a.jsonl.swp"), "no log").unwrap();
        drop(file);
        assert_eq!(world.drain(), written(&["a.jsonl"]), "closed");
        assert_eq!(world.drain(), written(&[]));
    }

    // S-READ-2
    #[test]
    fn any_other_change_means_anything() {
        if !is_local() {
            return;
        }
        let changes: [NamedChange; 9] = [
            ("a new log", |root| drop(File::create(root.join("b.jsonl")).unwrap())),
            ("a log gone", |root| fs::remove_file(root.join("a.jsonl")).unwrap()),
            ("a log in its place", |root| {
                fs::write(root.join("other"), "y\n").unwrap();
                fs::rename(root.join("other"), root.join("a.jsonl")).unwrap();
            }),
            ("a log moved away", |root| {
                fs::rename(root.join("a.jsonl"), root.join("other")).unwrap();
            }),
            ("permissions", |root| {
                let permissions = fs::metadata(root.join("a.jsonl")).unwrap().permissions();
                fs::set_permissions(root.join("a.jsonl"), permissions).unwrap();
            }),
            ("a folder", |root| fs::create_dir(root.join(".spool")).unwrap()),
            ("a segment", |root| fs::write(root.join("archive/a/000001.jsonl.gz"), "").unwrap()),
            ("the folder moved away", |root| {
                fs::rename(root, root.with_extension("away")).unwrap();
            }),
            ("a folder above moved away, and another in its place", |root| {
                let above = root.parent().unwrap();
                fs::rename(above, above.with_extension("away")).unwrap();
                fs::create_dir_all(root).unwrap();
            }),
        ];
        for (what, happen) in changes {
            let mut world = World::new();
            assert_eq!(world.drain(), written(&[]), "before {what}");
            happen(&world.root);
            assert_eq!(world.drain(), Changes::Anything, "{what}");
        }
    }

    // S-READ-1
    #[test]
    fn a_replaced_directory_is_watched_instead() {
        if !is_local() {
            return;
        }
        let mut world = World::new();
        let away = world.root.with_extension("away");
        fs::rename(&world.root, &away).unwrap();
        fs::create_dir_all(world.root.join("archive/a")).unwrap();
        fs::write(world.root.join("a.jsonl"), "").unwrap();
        assert_eq!(world.drain(), Changes::Anything);
        world.watch();
        world.append("a.jsonl");
        assert_eq!(world.drain(), written(&["a.jsonl"]));
        fs::write(away.join("a.jsonl"), "old\n").unwrap();
        assert_eq!(world.drain(), written(&[]));
    }

    // S-READ-1
    #[test]
    fn a_file_with_a_second_name_is_not_covered() {
        if !is_local() {
            return;
        }
        let world = World::new();
        let log = world.root.join("a.jsonl");
        assert!(world.queue.covers([log.as_path()].into_iter()));
        fs::hard_link(&log, world.folder.path().join("second")).unwrap();
        assert!(!world.queue.covers([log.as_path()].into_iter()));
        assert!(!ChangeQueue::default().covers([].into_iter()));
    }

    // S-READ-1
    #[test]
    fn an_overflow_means_anything_and_then_reports_again() {
        let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
        let limit = limit.ok().and_then(|text| text.trim().parse::<usize>().ok());
        let Some(limit) = limit.filter(|limit| *limit <= 1 << 20 && is_local()) else { return };
        let mut world = World::new();
        fs::write(world.root.join("b.jsonl"), "").unwrap();
        assert_eq!(world.drain(), Changes::Anything);
        let open =
            |name: &str| OpenOptions::new().append(true).open(world.root.join(name)).unwrap();
        let mut files = [open("a.jsonl"), open("b.jsonl")];
        // Alternating: the kernel merges two equal events in a row.
        for number in 0..limit + 2 {
            files[number % 2].write_all(b"x\n").unwrap();
        }
        // Repeated calls must end the loss.
        let mut asked = 0;
        while world.drain() == Changes::Anything {
            asked += 1;
            assert!(asked < 100, "it never ends");
        }
        assert!(asked > 0, "the loss must show");
        world.append("a.jsonl");
        assert_eq!(world.drain(), written(&["a.jsonl"]));
    }

    // S-READ-1
    #[test]
    fn a_file_system_that_is_not_local_is_not_watched() {
        let mut queue = ChangeQueue::default();
        queue.watch(Path::new("/proc/self"), || Some(Vec::new()));
        assert_eq!(queue.drain(Path::new("/proc/self")), Changes::Anything);
        let world = World::new();
        for folders in [Some(vec![world.root.join("missing")]), None] {
            queue.try_again();
            queue.watch(&world.root, || folders);
            assert_eq!(queue.drain(&world.root), Changes::Anything);
        }
    }

    // S-READ-1
    #[test]
    fn after_a_failure_it_waits_for_try_again() {
        if !is_local() {
            return;
        }
        let mut world = World::new();
        let missing = world.root.join("missing");
        world.queue.watch(&world.root, || Some(vec![missing]));
        world.watch();
        assert_eq!(world.drain(), Changes::Anything);
        world.queue.try_again();
        world.watch();
        assert_eq!(world.drain(), written(&[]));
    }

    // S-READ-1
    #[test]
    fn a_folder_made_during_the_listing_is_reported() {
        if !is_local() {
            return;
        }
        let world = World::new();
        let mut queue = ChangeQueue::default();
        queue.watch(&world.root, || {
            fs::create_dir(world.root.join(".spool")).unwrap();
            Some(Vec::new())
        });
        assert!(queue.covers([].into_iter()));
        assert_eq!(queue.drain(&world.root), Changes::Anything);
    }
}
