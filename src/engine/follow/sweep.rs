//! Looking for what is new: at the logs that the system said were written to, or at every file. Not here: what
//! is done with a line (`follow`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Changes, Follower, LogKind, Stale, Tailed};
use store::{FileChange, StoreError, Tail};

/// Files and folders that could not be read, and why.
pub(super) type Troubles = BTreeMap<PathBuf, String>;

/// The first trouble with a file is the one that is told.
fn failed(troubles: &mut Troubles, path: &Path, error: &StoreError) {
    troubles.entry(path.to_owned()).or_insert_with(|| error.to_string());
}

impl Follower {
    /// Tells what may have changed since the last look.
    pub(super) fn heard(&mut self) -> Changes {
        let root = self.store.root();
        let is_known = |log: &OsString| self.tails.contains_key(&root.join(log));
        match self.listener.as_mut().map(|listener| listener.heard(root)) {
            Some(Changes::Written(logs)) if self.is_sure && logs.iter().all(is_known) => {
                Changes::Written(logs)
            }
            Some(_) | None => Changes::Anything,
        }
    }

    /// Reads what is new in logs that were written to.
    pub(super) fn read_written(&mut self, logs: &BTreeSet<OsString>) -> Result<Troubles, Stale> {
        let mut troubles = Troubles::new();
        for log in logs {
            let path = self.store.root().join(log);
            self.read_new(&path, &mut troubles)?;
        }
        self.is_sure &= troubles.is_empty();
        Ok(troubles)
    }

    fn read_new(&mut self, path: &Path, troubles: &mut Troubles) -> Result<(), Stale> {
        match self.read(path) {
            Ok(FileChange::Replaced | FileChange::Gone) => return Err(Stale),
            Ok(FileChange::None | FileChange::Grown) => {}
            Err(error) => failed(troubles, path, &error),
        }
        Ok(())
    }

    /// Reads the spool, then the logs, then the segments: what leaves one meanwhile is in the next by then.
    pub(super) fn sweep(&mut self) -> Result<Troubles, Stale> {
        // Where that fails, what waits is read where it is.
        let _ = self.store.bring_in_what_waits();
        self.listen();
        let mut troubles = Troubles::new();
        for kind in LogKind::ALL {
            // What is new is not archived.
            if kind == LogKind::Segment && self.window.is_some() {
                continue;
            }
            let listed = kind.listed(&self.store);
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
        // What left the spool before it was read was read in its log; with any other nothing is lost.
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        let listed_len = self.tails.len();
        self.tails.retain(|path, Tailed { tail, .. }| tail.was_read() || is_there(path));
        if self.tails.len() < listed_len {
            self.listed = <_>::default();
        }
        self.is_sure = troubles.is_empty() && self.waiting == 0 && self.hears_all();
        Ok(troubles)
    }

    /// Before files are listed: what comes afterwards is heard of.
    fn listen(&mut self) {
        if let Some(listener) = &mut self.listener {
            // Why folders cannot be listed is told by the sweep.
            listener.listen(self.store.root(), || self.store.folders().ok());
        }
    }

    fn hears_all(&self) -> bool {
        let files = self.tails.keys().map(PathBuf::as_path);
        self.listener.as_ref().is_some_and(|listener| listener.hears(files))
    }

    /// Begins to follow what is listed. Nearly always that is what was listed before, which is known without
    /// looking for each of hundreds of names.
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

    /// Returns the files of a kind that are no longer what was read, or cannot be looked at.
    fn changed(&self, kind: LogKind) -> Vec<PathBuf> {
        let of_kind = self.tails.iter().filter(|(_, tailed)| tailed.kind == kind);
        let changed =
            of_kind.filter(|(_, tailed)| !matches!(tailed.tail.look(), Ok(FileChange::None)));
        changed.map(|(path, _)| path.clone()).collect()
    }

    /// Begins to follow one of `count` logs, unless it is followed already.
    fn follow(&mut self, path: PathBuf, count: u64) {
        let window = self.window.as_ref();
        let tail =
            |path: &Path| window.map_or_else(|| Tail::of(path), |window| window.tail(path, count));
        self.tails.entry(path).or_insert_with_key(|path| Tailed::of(tail(path)));
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use memory::Bound;
    use store::{Config, Store};

    // S-READ-2
    #[test]
    fn a_log_that_went_before_anything_stood_in_it_leaves_no_doubt_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, gone) = (folder.path().join("a.jsonl"), folder.path().join("b.jsonl"));
        std::fs::write(&kept, "{\"lesson\":\"walrus\"}\n").unwrap();
        std::fs::write(&gone, "").unwrap();
        let store = Store::at(folder.path());
        let mut follower = Follower::new(store, Config::default(), Bound::NONE, None).listening();
        follower.catch_up();
        if !follower.is_sure {
            // Temporary files are where somebody else may write.
            assert!(std::env::var_os("CI").is_none(), "nothing is heard here");
            return;
        }
        std::fs::remove_file(&gone).unwrap();
        follower.catch_up();
        assert!(follower.is_sure);
        assert_eq!(follower.snapshot().health().logs, 1);
        // And when it comes back it is read.
        std::fs::write(&gone, "{\"lesson\":\"otter\"}\n").unwrap();
        follower.catch_up();
        assert_eq!(follower.snapshot().memories().len(), 2);
    }
}
