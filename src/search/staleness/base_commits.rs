//! The commit that a memory is compared with: the one it was written at, or the newest one before somebody
//! confirmed it. Not here: what changed since.

use std::collections::{BTreeMap, BTreeSet};

use super::branch_tips::BranchTips;
use super::checked_memory::{CheckedMemory, ComparisonBase, last_held};
use super::git_questions::{GitError, GitQuestions};
use super::landed_work::landed_commits;
use event::Timestamp;
use memory::Memory;
use place::WorkTree;

/// Most commits in one question to git: the first in the order of their ids.
const COMMITS_MAX: usize = 1_000;

impl ComparisonBase {
    pub(super) fn for_memory(memory: &Memory, commit: Option<&str>) -> Self {
        let held = last_held(memory);
        // Times have whole seconds, so a confirmation covers the files of its second.
        let is_renewed = memory.verdicts().last_good.is_some_and(|good| Some(good) == held);
        match commit.filter(|_| !is_renewed) {
            Some(commit) => Self::Commit(commit.to_lowercase(), held),
            None => Self::Time(held),
        }
    }

    fn time(&self) -> Option<Timestamp> {
        match self {
            Self::Commit(_, at) | Self::Time(at) => *at,
        }
    }
}

/// The commits of a history that memories name.
#[derive(Debug, Default)]
pub(super) struct BaseCommits {
    /// Commits of memories that git has, as they name them, and in full.
    known: BTreeMap<String, String>,
    /// The full ids of the commits that no branch or tag contains, and whose work has not landed.
    unreachable: BTreeSet<String>,
    /// Commits of the history with their times in seconds, in git's order, back to the oldest time asked for.
    history: Vec<(i64, String)>,
}

impl BaseCommits {
    pub(super) fn resolve(
        git: &GitQuestions,
        asked: &[CheckedMemory<'_>],
        at: &WorkTree,
    ) -> Result<Self, GitError> {
        let mut bases = Self::default();
        let commits =
            asked.iter().filter_map(|checked| checked.commit.as_deref()).map(str::to_lowercase);
        let commits: BTreeSet<String> = commits.take(COMMITS_MAX).collect();
        if !commits.is_empty() {
            bases.find(git, &commits)?;
        }
        bases.keep_dropped(git, at);
        let by_time = asked.iter().filter(|checked| bases.full_commit(&checked.base).is_none());
        if let Some(oldest) = by_time.filter_map(|checked| checked.base.time()).min() {
            bases.history = history(git, oldest)?;
        }
        Ok(bases)
    }

    /// Finds out which commits git has, and which of them are in no history.
    fn find(&mut self, git: &GitQuestions, commits: &BTreeSet<String>) -> Result<(), GitError> {
        self.known = known_commits(git, commits)?;
        let known = self.known.values().map(String::as_str);
        let question: Vec<&str> =
            ["rev-list"].into_iter().chain(known).chain(["--not", "--all", "--"]).collect();
        if !self.known.is_empty() {
            self.unreachable = lines(&git.ask(&question)?).into_iter().collect();
        }
        Ok(())
    }

    /// Keeps of the unreachable commits those whose work is nowhere in the history. Where git cannot tell, none is: a shallow clone
    /// has left out history, and squashes are usual.
    fn keep_dropped(&mut self, git: &GitQuestions, at: &WorkTree) {
        let named: BTreeSet<String> = self
            .known
            .values()
            .filter(|commit| self.unreachable.contains(*commit))
            .cloned()
            .collect();
        self.unreachable.clear();
        if named.is_empty() || at.common_dir.join("shallow").exists() {
            return;
        }
        let tips = BranchTips::ask(git).map(|tips| tips.merged_ends());
        if let Ok(landed) = tips.and_then(|tips| landed_commits(git, &named, &tips)) {
            self.unreachable = named.difference(&landed).cloned().collect();
        }
    }

    fn full_commit(&self, base: &ComparisonBase) -> Option<&str> {
        let ComparisonBase::Commit(commit, _) = base else { return None };
        self.known.get(commit).map(String::as_str)
    }

    /// Returns the commit that a memory is compared with; `None` where the history is too short.
    pub(super) fn commit(&self, base: &ComparisonBase) -> Option<&str> {
        self.full_commit(base).or_else(|| {
            let at = base.time()?.as_second();
            self.history.iter().find(|(time, _)| *time <= at).map(|(_, commit)| commit.as_str())
        })
    }

    /// Tells whether a commit is in no branch and no tag any more, and its work nowhere in the history. Of a commit that git does not
    /// have only others know.
    pub(super) fn is_gone(&self, commit: &str) -> bool {
        let whole = self.known.get(&commit.to_lowercase());
        whole.is_some_and(|whole| self.unreachable.contains(whole))
    }
}

/// Finds the commits that git has, in full, by their ids as they are named. An id that several begin with names none.
pub(super) fn known_commits(
    git: &GitQuestions,
    commits: &BTreeSet<String>,
) -> Result<BTreeMap<String, String>, GitError> {
    let list = commits.iter().map(String::as_str);
    let question = ["rev-list", "--no-walk", "--ignore-missing"].into_iter().chain(list);
    let found: BTreeSet<String> =
        lines(&git.ask(&question.chain(["--"]).collect::<Vec<_>>())?).into_iter().collect();
    let whole = |commit: &String| {
        let first = found.range(commit.clone()..).next()?;
        first.starts_with(commit.as_str()).then(|| (commit.clone(), first.clone()))
    };
    Ok(commits.iter().filter_map(whole).collect())
}

/// The commits from a time on, newest first, and the one before them.
fn history(git: &GitQuestions, oldest: Timestamp) -> Result<Vec<(i64, String)>, GitError> {
    // Git does not parse a time before its first second.
    let oldest = oldest.as_second().max(0);
    let since = format!("--max-age={oldest}");
    let until = format!("--min-age={oldest}");
    let mut history = commit_times(&git.ask(&["rev-list", "--timestamp", &since, "HEAD", "--"])?);
    history.extend(commit_times(&git.ask(&[
        "rev-list",
        "--timestamp",
        "-1",
        &until,
        "HEAD",
        "--",
    ])?));
    Ok(history)
}

fn commit_times(answer: &[u8]) -> Vec<(i64, String)> {
    let lines = lines(answer).into_iter();
    let commit = |line: String| {
        let (time, commit) = line.split_once(' ')?;
        Some((time.parse().ok()?, commit.to_owned()))
    };
    lines.filter_map(commit).collect()
}

pub(super) fn lines(answer: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(answer).lines().map(str::to_owned).collect()
}
