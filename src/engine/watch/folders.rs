//! Hints about many folders by one watcher: the system allows a user few watchers, but many folders each. Not here: a
//! single folder (`watch`), what a hint leads to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::{WatchMode, matters};

/// A hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderHint {
    /// Something happened to this file or folder.
    At(PathBuf),
    /// Anything may have happened.
    Anything,
}

/// Watches a set of folders, without those below them.
#[derive(Debug)]
pub struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
}

impl FolderWatch {
    /// Begins without any folder. When the system cannot watch, there are no hints.
    pub fn start(watching: WatchMode, hint: impl Fn(FolderHint) + Send + 'static) -> Self {
        let on_event = move |event: notify::Result<Event>| match event {
            Ok(event) if event.need_rescan() => hint(FolderHint::Anything),
            Ok(event) if matters(event.kind) => {
                event.paths.into_iter().for_each(|path| hint(FolderHint::At(path)));
            }
            Ok(_) => {}
            // Events may have been dropped.
            Err(_) => hint(FolderHint::Anything),
        };
        let watcher = match watching {
            WatchMode::System => notify::recommended_watcher(on_event).ok(),
            WatchMode::PollOnly => None,
        };
        Self { watcher, folders: BTreeSet::new() }
    }

    /// Watches these folders and no others, as far as the system allows. Returns whether one was added: what happened to it
    /// before is not reported.
    pub fn watch_exactly(&mut self, folders: &BTreeSet<PathBuf>) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        for gone in self.folders.difference(folders) {
            // It may have been removed; then the system has forgotten it.
            let _ = watcher.unwatch(gone);
        }
        self.folders.retain(|folder| folders.contains(folder));
        let before = self.folders.len();
        for new in folders.difference(&self.folders.clone()) {
            if watcher.watch(new, RecursiveMode::NonRecursive).is_ok() {
                self.folders.insert(new.clone());
            }
        }
        self.folders.len() > before
    }

    /// Tells whether all of these folders are watched.
    #[must_use]
    pub fn watches_all(&self, folders: &BTreeSet<PathBuf>) -> bool {
        folders.is_subset(&self.folders)
    }

    /// Notes that something happened to a path. If it is a watched folder, that may be another one now, which is watched
    /// anew by the next [`FolderWatch::watch_exactly`].
    pub fn record_change(&mut self, path: &Path) {
        if self.folders.remove(path)
            && let Some(watcher) = &mut self.watcher
        {
            let _ = watcher.unwatch(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;

    /// Longest that a hint may take on a busy machine.
    const STEP: Duration = Duration::from_secs(30);

    fn started() -> (FolderWatch, Receiver<FolderHint>) {
        let (sender, hints) = channel();
        let watch = FolderWatch::start(WatchMode::System, move |hint| drop(sender.send(hint)));
        (watch, hints)
    }

    /// Waits for a hint, and returns those before it.
    fn until(hints: &Receiver<FolderHint>, path: &Path) -> Vec<FolderHint> {
        let next = || hints.recv_timeout(STEP).expect("a hint");
        std::iter::from_fn(|| Some(next()).filter(|it| *it != FolderHint::At(path.to_owned())))
            .collect()
    }

    // S-STALE-7
    #[test]
    fn each_folder_is_watched_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let names = ["a", "b", "c"].map(|name| top.join(name));
        names.iter().for_each(|name| std::fs::create_dir(name).unwrap());
        let (mut watch, hints) = started();
        let set = |folders: &[&PathBuf]| folders.iter().map(|it| (*it).clone()).collect();
        assert!(watch.watch_exactly(&set(&[&names[0], &names[1]])));
        assert!(watch.watch_exactly(&set(&[&names[1], &names[2]])));
        assert!(!watch.watch_exactly(&set(&[&names[1], &names[2]])), "nothing was added");
        for name in &names {
            std::fs::write(name.join("file"), "x").unwrap();
        }
        let before = until(&hints, &names[2].join("file"));
        assert!(before.contains(&FolderHint::At(names[1].join("file"))), "{before:?}");
        assert!(!before.contains(&FolderHint::At(names[0].join("file"))), "{before:?}");
        let with_missing = set(&[&names[0], &top.join("missing")]);
        assert!(watch.watch_exactly(&with_missing) && !watch.watches_all(&with_missing));
    }

    // S-STALE-7
    #[test]
    fn a_folder_that_was_replaced_is_watched_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap().join("src");
        std::fs::create_dir(&place).unwrap();
        let folders = BTreeSet::from([place.clone()]);
        let (mut watch, hints) = started();
        assert!(watch.watch_exactly(&folders));
        std::fs::remove_dir(&place).unwrap();
        until(&hints, &place);
        watch.record_change(&place);
        assert!(!watch.watch_exactly(&folders), "it is not there");
        std::fs::create_dir(&place).unwrap();
        assert!(watch.watch_exactly(&folders));
        std::fs::write(place.join("file"), "x").unwrap();
        until(&hints, &place.join("file"));
    }

    // S-STALE-7
    #[test]
    fn without_a_watcher_nothing_is_watched() {
        let mut watch = FolderWatch::start(WatchMode::PollOnly, |_| {});
        let folders = BTreeSet::from([PathBuf::from("/")]);
        assert!(!watch.watch_exactly(&folders) && !watch.watches_all(&folders));
    }
}
