//! Which memories are of branches that are not merged in one work tree. Git is asked once for each state of branches, and then about
//! new memories only, so that a search or a hook mostly finds the answer here. Not here: how git is asked (`search::staleness`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use event::{EventId, RepoKey, Timestamp};
use memory::FoldMark;
use place::{Place, WorkTree};
use search::snapshot::Snapshot;
use search::staleness::{CommitStamp, UnmergedMemories, UnmergedPolicy, unmerged_stamps};

use super::tree_print::tree_print;

/// How long an answer holds at most where git gave none in time, in seconds.
pub(super) const SILENCE_SECONDS: i64 = 60;

/// How long somebody waits for git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitPatience {
    /// A hook, which has 150 ms for everything.
    Hook,
    /// Somebody who asked.
    Asker,
    /// The thread that looks before anybody asks.
    Watcher,
}

impl From<UnmergedPolicy> for GitPatience {
    /// Hooks leave out what is not merged.
    fn from(policy: UnmergedPolicy) -> Self {
        match policy {
            UnmergedPolicy::LeftOut => Self::Hook,
            UnmergedPolicy::Marked => Self::Asker,
        }
    }
}

impl GitPatience {
    /// Returns the longest time for git.
    pub(super) fn time(self) -> Duration {
        Duration::from_millis(match self {
            Self::Hook => 60,
            Self::Asker => 1_000,
            Self::Watcher => 4_000,
        })
    }
}

/// What is known of one work tree.
#[derive(Debug, Default)]
pub(super) struct MergeState {
    /// The memories that were read.
    read: HashSet<EventId>,
    /// The memories that were written at a place in git.
    written_at: BTreeMap<CommitStamp, Vec<EventId>>,
    last: Option<MergeLook>,
}

#[derive(Debug)]
struct MergeLook {
    at: Timestamp,
    mark: FoldMark,
    /// The state of `HEAD` and the branches.
    tree_print: u64,
    unmerged: BTreeSet<CommitStamp>,
    found: Arc<UnmergedMemories>,
    /// Who waited in vain for git.
    silent_for: Option<GitPatience>,
}

impl MergeState {
    /// Returns the memories of a repository whose branches are not merged in a work tree of it.
    pub(super) fn look(
        &mut self,
        place: &Place,
        repo: &RepoKey,
        snapshot: &Snapshot,
        (now, patience): (Timestamp, GitPatience),
    ) -> Arc<UnmergedMemories> {
        let Some(git) = place.git() else { return Arc::default() };
        let tree_print = tree_print(place, &[]);
        let is_same =
            |last: &&MergeLook| last.tree_print == tree_print && last.holds(now, patience);
        if let Some(last) = self.last.as_ref().filter(is_same)
            && snapshot.is_marked(&last.mark)
        {
            return Arc::clone(&last.found);
        }
        let last = self.last.take().filter(|last| is_same(&last));
        let new = self.read_stamps(snapshot, repo);
        let (unmerged, silent_for, at) = match last {
            Some(last) => {
                let (more, silent_for) = ask(git, &new, patience);
                let unmerged = last.unmerged.into_iter().chain(more).collect();
                (unmerged, last.silent_for.or(silent_for), last.at)
            }
            None => {
                let (all, silent_for) =
                    ask(git, &self.written_at.keys().cloned().collect(), patience);
                (all, silent_for, now)
            }
        };
        let found = Arc::new(self.memories_at(&unmerged));
        let look = MergeLook {
            at,
            mark: snapshot.mark(),
            tree_print,
            unmerged,
            found: Arc::clone(&found),
            silent_for,
        };
        self.last = Some(look);
        found
    }

    /// Reads the memories of a repository that were not read before, and returns the places in git that are new among these.
    fn read_stamps(&mut self, snapshot: &Snapshot, repo: &RepoKey) -> BTreeSet<CommitStamp> {
        let keys = snapshot.keys_of(repo);
        let mut new = BTreeSet::new();
        for memory in snapshot.memories().iter() {
            if !keys.contains(&memory.repo) || self.read.contains(&memory.id) {
                continue;
            }
            self.read.insert(memory.id.clone());
            let Some(stamp) = CommitStamp::from_event(memory.event()) else { continue };
            let ids = self.written_at.entry(stamp.clone()).or_default();
            if ids.is_empty() {
                new.insert(stamp);
            }
            ids.push(memory.id.clone());
        }
        new
    }

    fn memories_at(&self, stamps: &BTreeSet<CommitStamp>) -> UnmergedMemories {
        let of_stamp = |stamp: &CommitStamp| {
            let branch = stamp.branch.clone();
            let ids = self.written_at.get(stamp).into_iter().flatten().cloned();
            ids.map(move |id| (id, branch.clone()))
        };
        stamps.iter().flat_map(of_stamp).collect()
    }
}

/// Asks git. Without an answer nothing is known.
fn ask(
    git: &WorkTree,
    stamps: &BTreeSet<CommitStamp>,
    patience: GitPatience,
) -> (BTreeSet<CommitStamp>, Option<GitPatience>) {
    match unmerged_stamps(git, stamps, patience.time()) {
        Ok(unmerged) => (unmerged, None),
        Err(_) => (BTreeSet::new(), Some(patience)),
    }
}

impl MergeLook {
    /// Whoever waits longer than the last one asks again.
    fn holds(&self, now: Timestamp, patience: GitPatience) -> bool {
        let age_seconds = now.as_second() - self.at.as_second();
        let is_recent = (0..SILENCE_SECONDS).contains(&age_seconds);
        self.silent_for.is_none_or(|silent_for| is_recent && patience <= silent_for)
    }
}
