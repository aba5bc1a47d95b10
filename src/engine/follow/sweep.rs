//! Finds new lines: in the logs that the change queue reports, or by looking at every file. Not
//! here: applying a line (`follow`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::followed_file::FollowedFile;
use super::{Changes, Follower, LogKind, ReplacedLog};
use store::{FileChange, StoreError, Tail};

/// Files and folders that could not be read, with the reason.
pub(super) type Troubles = BTreeMap<PathBuf, String>;

/// Records the first trouble with a file.
fn failed(troubles: &mut Troubles, path: &Path, error: &StoreError) {
    troubles.entry(path.to_owned()).or_insert_with(|| error.to_string());
}

impl Follower {
    /// Returns what may have changed since the last look.
    pub(super) fn take_changes(&mut self) -> Changes {
        let root = self.store.root();
        let is_known = |log: &OsString| self.tails.contains_key(&root.join(log));
        match self.change_queue.as_mut().map(|change_queue| change_queue.drain(root)) {
            Some(Changes::Written(logs)) if self.is_complete && logs.iter().all(is_known) => {
                Changes::Written(logs)
            }
            Some(_) | None => Changes::Anything,
        }
    }

    /// Reads the new lines of these logs.
    pub(super) fn read_written(
        &mut self,
        logs: &BTreeSet<OsString>,
    ) -> Result<Troubles, ReplacedLog> {
        let mut troubles = Troubles::new();
        for log in logs {
            let path = self.store.root().join(log);
            self.read_new(&path, &mut troubles)?;
        }
        self.is_complete &= troubles.is_empty();
        Ok(troubles)
    }

    fn read_new(&mut self, path: &Path, troubles: &mut Troubles) -> Result<(), ReplacedLog> {
        match self.read(path) {
            Ok(FileChange::Replaced | FileChange::Gone) => return Err(ReplacedLog),
            Ok(FileChange::None | FileChange::Grown) => {}
            Err(error) => failed(troubles, path, &error),
        }
        Ok(())
    }

    /// Reads the spool, then the logs, then the segments: a line that leaves one meanwhile is in
    /// the next by then.
    pub(super) fn sweep(&mut self) -> Result<Troubles, ReplacedLog> {
        // If that fails, waiting writes are read from the spool.
        let _ = self.store.bring_in_spool();
        self.watch_folders();
        let mut troubles = Troubles::new();
        for kind in LogKind::ALL {
            // New lines are not archived.
            if kind == LogKind::Segment && self.window.is_some() {
                continue;
            }
            let listed = kind.list(&self.store);
            if kind == LogKind::Waiting {
                self.waiting = listed.as_ref().map_or(0, Vec::len);
            }
            match listed {
                Ok(paths) => self.follow_listed(kind, paths),
                Err(error) => failed(&mut troubles, self.store.root(), &error),
            }
            for path in self.changed(kind) {
                self.read_new(&path, &mut troubles)?;
            }
        }
        // A spool file that disappeared before it was read was read in its log. For any other file
        // nothing is lost.
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        let listed_len = self.tails.len();
        self.tails.retain(|path, FollowedFile { tail, .. }| tail.was_read() || is_there(path));
        if self.tails.len() < listed_len {
            self.listed = <_>::default();
        }
        self.is_complete = troubles.is_empty() && self.waiting == 0 && self.covers_all();
        Ok(troubles)
    }

    /// Watches the folders. To be called before files are listed, so that later changes are
    /// reported.
    fn watch_folders(&mut self) {
        if let Some(change_queue) = &mut self.change_queue {
            // The sweep reports why folders cannot be listed.
            change_queue.watch(self.store.root(), || self.store.folders().ok());
        }
    }

    fn covers_all(&self) -> bool {
        let files = self.tails.keys().map(PathBuf::as_path);
        self.change_queue.as_ref().is_some_and(|change_queue| change_queue.covers(files))
    }

    /// Follows the listed files. Nearly always the list is the same as before, which one comparison
    /// shows without looking up hundreds of names.
    fn follow_listed(&mut self, kind: LogKind, paths: Vec<PathBuf>) {
        let is_same = |before: &[PathBuf]| {
            let same = |(a, b): (&PathBuf, &PathBuf)| a.as_os_str() == b.as_os_str();
            before.len() == paths.len() && before.iter().zip(&paths).all(same)
        };
        if self.listed.get(kind as usize).is_some_and(|before| is_same(before)) {
            return;
        }
        let count = u64::try_from(paths.len()).unwrap_or(u64::MAX);
        paths.iter().for_each(|path| self.follow(path.clone(), count));
        if let Some(listed) = self.listed.get_mut(kind as usize) {
            *listed = paths;
        }
    }

    /// Returns the files of a kind that have changed or cannot be looked at.
    fn changed(&self, kind: LogKind) -> Vec<PathBuf> {
        let of_kind = self.tails.iter().filter(|(_, tailed)| tailed.kind == kind);
        let changed = of_kind
            .filter(|(_, tailed)| !matches!(tailed.tail.detect_change(), Ok(FileChange::None)));
        changed.map(|(path, _)| path.clone()).collect()
    }

    /// Follows one of `count` logs, unless it is followed already.
    fn follow(&mut self, path: PathBuf, count: u64) {
        let window = self.window.as_ref();
        let tail = |path: &Path| {
            window.map_or_else(|| Tail::from_beginning(path), |window| window.tail(path, count))
        };
        let followed = |path: &PathBuf| FollowedFile::from_tail(tail(path), &self.config);
        self.tails.entry(path).or_insert_with_key(followed);
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use memory::MemoryBound;
    use settings::Config;
    use store::Store;

    // S-READ-2
    #[test]
    fn an_empty_log_that_disappears_leaves_no_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, removed) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
        std::fs::write(&kept, "{\"lesson\":\"walrus\"}\n").unwrap();
        std::fs::write(&removed, "").unwrap();
        let store = Store::at(folder.path());
        let mut follower =
            Follower::new(store, Config::default(), MemoryBound::NONE, None).with_change_queue();
        follower.catch_up();
        if !follower.is_complete {
            // Temporary files are on a file system that is not local.
            assert!(std::env::var_os("CI").is_none(), "no changes are reported here");
            return;
        }
        std::fs::remove_file(&removed).unwrap();
        follower.catch_up();
        assert!(follower.is_complete);
        assert_eq!(follower.snapshot().health().logs, 1);
        // When it comes back it is read.
        std::fs::write(&removed, "{\"lesson\":\"otter\"}\n").unwrap();
        follower.catch_up();
        assert_eq!(follower.snapshot().memories().len(), 2);
    }
}
