//! Memories of branches that are not merged where somebody stands: what they say may be no fact there. Nothing is said where git
//! cannot tell: of a commit that it does not have, in a shallow clone, or where it does not answer in time. Not here: what follows from
//! it (ranking, replies).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use super::base_commits::{known_commits, lines};
use super::branch_tips::BranchTips;
use super::git_questions::{GitError, GitQuestions, is_commit_id};
use super::landed_work::{common_base, landed_commits};
use event::{Event, EventId};
use place::WorkTree;

/// The branches of memories that are not merged in a work tree, by the ids of the memories.
pub type UnmergedMemories = BTreeMap<EventId, String>;

/// What is done with memories of branches that are not merged where the caller is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum UnmergedPolicy {
    /// They are marked, and rank lower.
    #[default]
    Marked,
    /// They are left out. For hooks, whose answers nobody asked for.
    LeftOut,
}

/// Where in git a memory was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitStamp {
    /// The branch that was checked out.
    pub branch: String,
    /// The commit that was checked out, perhaps cut.
    pub commit: String,
}

impl CommitStamp {
    /// Reads it from an event; `None` where one of both is missing.
    #[must_use]
    pub fn from_event(event: Event) -> Option<Self> {
        let commit = event.commit.filter(|commit| is_commit_id(commit))?;
        Some(Self { branch: event.branch?, commit: commit.to_lowercase() })
    }
}

/// Most stamps of one question.
const STAMPS_MAX: usize = 5_000;

/// Most commits of the main line in which a branch may have begun.
const FIRST_PARENTS_MAX: &str = "--max-count=20000";

/// Returns the stamps whose branch is not merged in a work tree, within a time.
///
/// # Errors
/// [`GitError`] if git is not there or takes too long.
pub fn unmerged_stamps(
    at: &WorkTree,
    stamps: &BTreeSet<CommitStamp>,
    time: Duration,
) -> Result<BTreeSet<CommitStamp>, GitError> {
    let is_here = |stamp: &CommitStamp| {
        let is_commit = at.commit.as_ref().is_some_and(|commit| commit.starts_with(&stamp.commit));
        at.branch.as_ref() == Some(&stamp.branch) || is_commit && at.branch.is_none()
    };
    let asked: Vec<&CommitStamp> = stamps.iter().filter(|stamp| !is_here(stamp)).collect();
    if asked.is_empty() || at.common_dir.join("shallow").exists() {
        return Ok(BTreeSet::new());
    }
    let check = BranchCheck::new(&at.top, time)?;
    let asked = asked.into_iter().filter(|stamp| !check.tips.is_mainline(&stamp.branch));
    check.unmerged(asked.take(STAMPS_MAX).collect())
}

struct BranchCheck {
    git: GitQuestions,
    tips: BranchTips,
    /// What counts as merged: all that these lead to.
    ends: Vec<String>,
}

impl BranchCheck {
    fn new(top: &Path, time: Duration) -> Result<Self, GitError> {
        let git = GitQuestions::within(top, time);
        let tips = BranchTips::ask(&git)?;
        Ok(Self { ends: tips.merged_ends(), git, tips })
    }

    fn unmerged(&self, asked: Vec<&CommitStamp>) -> Result<BTreeSet<CommitStamp>, GitError> {
        let commits: BTreeSet<String> = asked.iter().map(|stamp| stamp.commit.clone()).collect();
        let known =
            if commits.is_empty() { BTreeMap::new() } else { known_commits(&self.git, &commits)? };
        let whole = known.values().cloned().collect();
        let unmerged = self.unmerged_commits(&whole)?;
        let (outside, merged): (Vec<&CommitStamp>, Vec<&CommitStamp>) =
            asked.into_iter().filter(|stamp| known.contains_key(&stamp.commit)).partition(
                |stamp| known.get(&stamp.commit).is_some_and(|commit| unmerged.contains(commit)),
            );
        let forked = self.forked_branches(&merged, &known)?;
        let before_work = merged.into_iter().filter(|stamp| {
            let fork = forked.get(&stamp.branch);
            fork.is_some_and(|fork| known.get(&stamp.commit) == Some(fork))
        });
        Ok(outside.into_iter().chain(before_work).cloned().collect())
    }

    /// Finds those commits that no merged end leads to, and whose work is nowhere in their history.
    fn unmerged_commits(&self, commits: &BTreeSet<String>) -> Result<BTreeSet<String>, GitError> {
        if commits.is_empty() {
            return Ok(BTreeSet::new());
        }
        let question = ["rev-list"].into_iter().chain(commits.iter().map(String::as_str));
        let question = question.chain(["--not"]).chain(self.ends.iter().map(String::as_str));
        let answer = self.git.ask(&question.chain(["--"]).collect::<Vec<_>>())?;
        let outside: BTreeSet<String> = lines(&answer).into_iter().collect();
        let outside: BTreeSet<String> = commits.intersection(&outside).cloned().collect();
        let landed = landed_commits(&self.git, &outside, &self.ends)?;
        Ok(outside.difference(&landed).cloned().collect())
    }

    /// Finds the branches that are not merged, each with the commit at which it left the main line: a memory may have been written there
    /// before the first commit of the branch.
    fn forked_branches(
        &self,
        merged: &[&CommitStamp],
        known: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, GitError> {
        let branches: BTreeSet<&str> = merged.iter().map(|stamp| stamp.branch.as_str()).collect();
        let mut tips: BTreeMap<&str, &String> = BTreeMap::new();
        for branch in branches {
            tips.extend(self.tips.of_branch(branch).next().map(|tip| (branch, tip)));
        }
        let unmerged = self.unmerged_commits(&tips.values().map(|tip| (*tip).clone()).collect())?;
        tips.retain(|_, tip| unmerged.contains(*tip));
        if tips.is_empty() {
            return Ok(BTreeMap::new());
        }
        let question = ["rev-list", "--first-parent", FIRST_PARENTS_MAX];
        let question = question.into_iter().chain(self.ends.iter().map(String::as_str));
        let answer = self.git.ask(&question.chain(["--"]).collect::<Vec<_>>())?;
        let own: BTreeSet<String> = lines(&answer).into_iter().collect();
        let mut forked = BTreeMap::new();
        for (branch, tip) in tips {
            let ends = self.ends.iter().map(String::as_str);
            let fork = common_base(&self.git, ends.chain([tip.as_str()]))?;
            // A commit that came with a merge is work of the branch that is merged.
            let fork =
                fork.filter(|fork| own.contains(fork) && known.values().any(|one| one == fork));
            forked.extend(fork.map(|fork| (branch.to_owned(), fork)));
        }
        Ok(forked)
    }
}
