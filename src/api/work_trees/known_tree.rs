//! One work tree and the last look at it, which holds as long as nothing differs that it depends on. Not here: when it is
//! looked at (`watcher`).

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use event::{RepoKey, Timestamp};
use memory::{FoldMark, Memory};
use place::{Machine, Place, place_by_files};
use search::snapshot::Snapshot;
use search::staleness::{GitError, MovedPaths, StalenessCheck, StalenessReport, UnmergedMemories};

use super::merge_state::{GitPatience, MergeState};
use super::moved_state::{FollowedNames, MovedState};
use super::tree_print::tree_print;

/// Most memories of a repository that are checked, the newest.
const MEMORIES_MAX: usize = 20_000;

/// Most files of them that are compared to tell whether a look still holds. Where there are more, each question is a look.
const FILES_MAX: usize = 4_096;

/// How long a look holds at most, in seconds: nothing that is compared shows that git lost a commit which no branch has.
const SECONDS_MAX: i64 = 600;

/// How often it is checked whether another one is done with asking git.
const LOCK_POLL: Duration = Duration::from_millis(2);

/// A work tree that a caller came from.
#[derive(Debug)]
pub struct KnownTree {
    top: PathBuf,
    repo: RepoKey,
    last: Mutex<Option<Arc<TreeLook>>>,
    merge_state: Mutex<MergeState>,
    moved_state: Mutex<MovedState>,
}

/// What a look found.
#[derive(Debug)]
pub struct TreeLook {
    /// When.
    pub at: Timestamp,
    /// The place, as it was then.
    pub place: Place,
    /// The result.
    pub report: StalenessReport,
    /// The number of older memories that were not checked.
    pub older: usize,
    /// The files that its memories name, from the top of the work tree on, in order.
    pub files: Vec<String>,
    is_comparable: bool,
    /// The state of all memories, as long as none changes: then those of this repository need not be compared.
    mark: FoldMark,
    memories_sum: u64,
    tree_print: u64,
}

impl KnownTree {
    /// A work tree that was not looked at yet.
    #[must_use]
    pub fn new(top: PathBuf, repo: RepoKey) -> Self {
        let (last, merge_state, moved_state) = <_>::default();
        Self { top, repo, last, merge_state, moved_state }
    }

    /// Returns its top directory.
    #[must_use]
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns its repository.
    #[must_use]
    pub fn repo(&self) -> &RepoKey {
        &self.repo
    }

    /// Returns the name of its folder. Its whole path is nobody's business who only reads memories.
    #[must_use]
    pub fn name(&self) -> String {
        self.top.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Returns the memories of branches that are not merged in it. `place` is the work tree as it is now.
    #[must_use]
    pub fn unmerged(
        &self,
        place: &Place,
        snapshot: &Snapshot,
        (now, patience): (Timestamp, GitPatience),
    ) -> Arc<UnmergedMemories> {
        let until = Instant::now() + patience.time();
        loop {
            match self.merge_state.try_lock() {
                Ok(mut state) => return state.look(place, &self.repo, snapshot, (now, patience)),
                Err(TryLockError::Poisoned(poisoned)) => {
                    let mut state = poisoned.into_inner();
                    return state.look(place, &self.repo, snapshot, (now, patience));
                }
                // The watcher waits longer for git than anybody who asks.
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::park_timeout(LOCK_POLL);
                }
                Err(TryLockError::WouldBlock) => return Arc::default(),
            }
        }
    }

    /// Returns what names of a caller, and those of its memories, are called now. `place` is the work tree as it is now.
    #[must_use]
    pub fn moved(
        &self,
        place: &Place,
        snapshot: &Snapshot,
        names: (&[String], FollowedNames),
        (now, patience): (Timestamp, GitPatience),
    ) -> Arc<MovedPaths> {
        let mut state = match (self.moved_state.try_lock(), patience) {
            (Ok(state), _) => state,
            (Err(TryLockError::Poisoned(poisoned)), _) => poisoned.into_inner(),
            (Err(TryLockError::WouldBlock), GitPatience::Hook) => return Arc::default(),
            (Err(TryLockError::WouldBlock), _) => {
                self.moved_state.lock().unwrap_or_else(PoisonError::into_inner)
            }
        };
        state.look(place, (&self.repo, snapshot), names, (now, patience))
    }

    /// Tells whether a file that is gone is there under another name, as far as the last look knows.
    #[must_use]
    pub fn is_renamed(&self, file: &str) -> bool {
        // Nobody waits here for a look.
        let last = self.last.try_lock().ok().and_then(|last| last.clone());
        last.is_some_and(|look| look.report.renamed.contains_key(file))
    }

    /// Returns the last look if nothing has changed since then, else looks. Of several who ask at once one looks, and the
    /// others wait for it. `None` where the work tree is gone.
    #[must_use]
    pub fn look(&self, now: Timestamp, snapshot: &Snapshot) -> Option<Arc<TreeLook>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let place = place_by_files(&self.top, &Machine::default());
        let is_moved = place.work_tree.as_ref().is_some_and(|tree| tree.top != self.top);
        if !self.top.is_dir() || is_moved {
            return None;
        }
        let holds =
            |last: &&Arc<TreeLook>| snapshot.is_marked(&last.mark) && last.holds(&place, now);
        if let Some(last) = last.as_ref().filter(holds) {
            return Some(Arc::clone(last));
        }
        let (memories, older) = counted(snapshot, &self.repo, now);
        let memories_sum = sum(&memories);
        let holds =
            |last: &&Arc<TreeLook>| last.memories_sum == memories_sum && last.holds(&place, now);
        if let Some(last) = last.as_ref().filter(holds) {
            return Some(Arc::clone(last));
        }
        let to_check = StalenessCheck::prepare(&memories, &self.top);
        let mut named: BTreeSet<&str> = BTreeSet::new();
        // A file may be named by thousands of memories, and counts once.
        let is_comparable = to_check.files().all(|file| {
            named.insert(file);
            named.len() <= FILES_MAX
        });
        let files: Vec<String> = named.into_iter().map(str::to_owned).collect();
        // Before the look: what changes meanwhile must show afterwards.
        let tree_print = tree_print(&place, &files);
        let report = to_check.run(place.git());
        let look = TreeLook {
            at: now,
            report,
            older,
            files,
            is_comparable,
            mark: snapshot.mark(),
            memories_sum,
            tree_print,
            place,
        };
        let look = Arc::new(look);
        *last = Some(Arc::clone(&look));
        Some(look)
    }
}

impl TreeLook {
    /// Tells whether the look answers what was asked, and not only that git was slow or failed.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.report.git_error.is_none_or(|silence| silence == GitError::NoRepository)
    }

    /// A look that found this, for tests.
    #[cfg(test)]
    pub(super) fn for_tests(place: Place, at: Timestamp, report: StalenessReport) -> Self {
        Self {
            at,
            place,
            report,
            older: 0,
            files: Vec::new(),
            is_comparable: true,
            mark: memory::Fold::default().frozen().mark(),
            memories_sum: 0,
            tree_print: 0,
        }
    }

    fn holds(&self, place: &Place, now: Timestamp) -> bool {
        let age_seconds = now.as_second() - self.at.as_second();
        self.is_comparable
            && self.is_sure()
            && (0..SECONDS_MAX).contains(&age_seconds)
            && self.tree_print == tree_print(place, &self.files)
    }
}

/// Returns the memories of a repository that count now, the newest first, and how many older ones are left out.
fn counted(snapshot: &Snapshot, repo: &RepoKey, now: Timestamp) -> (Vec<Arc<Memory>>, usize) {
    let keys = snapshot.keys_of(repo);
    let counts = |memory: &&Arc<Memory>| keys.contains(&memory.repo) && !memory.is_inactive(now);
    let mut memories: Vec<Arc<Memory>> =
        snapshot.memories().iter().filter(counts).cloned().collect();
    memories.sort_by_cached_key(|memory| (memory.timestamp, memory.id.clone()));
    memories.reverse();
    let older = memories.len().saturating_sub(MEMORIES_MAX);
    memories.truncate(MEMORIES_MAX);
    (memories, older)
}

/// Tells one state of some memories from another: each event about a memory changes it.
fn sum(memories: &[Arc<Memory>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for memory in memories {
        memory.id.as_str().hash(&mut hasher);
        (memory.about().len(), memory.conflicts().len()).hash(&mut hasher);
        memory.lifecycle().is_pinned.hash(&mut hasher);
    }
    hasher.finish()
}
