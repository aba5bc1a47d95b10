//! The work trees that callers came from, and which memories each of them contradicts. Callers over HTTP have no directory
//! of their own, and listeners want to hear of a stale memory before anybody asks.
//!
//! In reading order: [`known_tree`] (one of them, and its last look), `tree_print` (whether it still is as it was then), `merge_state`
//! (which memories are of branches that are not merged in it), `moved_state` (what files and folders are called now),
//! [`stale_events`] (what listeners are told), [`watcher`] (the thread that looks). Not here: whether a memory is stale
//! (`search::staleness`), the answers (`local::look`).

pub mod known_tree;
pub mod merge_state;
pub mod moved_state;
pub mod stale_events;
mod tree_print;
pub mod watcher;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use event::RepoKey;
use place::Place;

use known_tree::KnownTree;

/// Most work trees that are known; of more, those that callers came from last. Each is looked at, and few people work in more.
const TREES_MAX: usize = 32;

/// The work trees that callers of this process came from, the last one first.
#[derive(Debug, Default)]
pub struct WorkTrees {
    trees: Mutex<Vec<Arc<KnownTree>>>,
    watcher: OnceLock<Thread>,
}

impl WorkTrees {
    /// Notes that a caller came from a place of this repository.
    pub fn record_tree(&self, place: &Place, repo: &RepoKey) {
        let top = &*place.top;
        if !top.is_absolute() {
            return;
        }
        let mut trees = self.lock();
        let known = trees.iter().position(|tree| tree.top() == top && tree.repo() == repo);
        let tree = match known {
            Some(0) => return,
            Some(at) => trees.remove(at),
            None => Arc::new(KnownTree::new(top.to_owned(), repo.clone())),
        };
        // Its remote may have changed, and with that its repository.
        trees.retain(|other| other.top() != top);
        trees.insert(0, tree);
        trees.truncate(TREES_MAX);
        drop(trees);
        self.wake();
    }

    /// Returns all, the last one first.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<KnownTree>> {
        self.lock().clone()
    }

    /// Returns the one with this top directory.
    #[must_use]
    pub fn at(&self, top: &Path) -> Option<Arc<KnownTree>> {
        self.lock().iter().find(|tree| tree.top() == top).cloned()
    }

    /// Forgets one, which is gone.
    pub fn forget(&self, gone: &KnownTree) {
        self.lock().retain(|tree| tree.top() != gone.top());
    }

    /// Wakes the thread that looks, if there is one.
    fn wake(&self) {
        if let Some(watcher) = self.watcher.get() {
            watcher.unpark();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<KnownTree>>> {
        // No code panics while holding the lock, so the state is valid.
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STALE-7
    #[test]
    fn the_trees_that_callers_came_from_last_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let trees = WorkTrees::default();
        let place = |number: usize| {
            let place = folder.path().join(number.to_string());
            std::fs::create_dir_all(&place).unwrap();
            place::place_by_files(&place, &place::Machine::default())
        };
        for number in 0..=TREES_MAX {
            let place = place(number);
            trees.record_tree(&place, place.repository.as_ref().unwrap());
            trees.record_tree(&place, place.repository.as_ref().unwrap());
        }
        assert_eq!(trees.all().len(), TREES_MAX);
        let (first, second) = (place(0), place(1));
        assert!(trees.at(&first.top).is_none() && trees.at(&second.top).is_some());
        trees.record_tree(&second, &RepoKey::parse("github.com/acme/api").unwrap());
        assert_eq!(trees.all()[0].top(), &second.top, "its repository has another name now");
        assert_eq!(trees.all().len(), TREES_MAX);
        trees.forget(&trees.at(&second.top).unwrap());
        assert!(trees.at(&second.top).is_none());
    }
}
