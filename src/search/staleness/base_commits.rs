//! The commit that a memory is compared with: the one it was written at, or the newest one before somebody
//! confirmed it. Not here: what changed since.

use std::collections::{BTreeMap, BTreeSet};

use super::checked_memory::{CheckedMemory, ComparisonBase, last_held};
use super::git_questions::{GitError, GitQuestions};
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
    /// The full ids of the commits that no branch or tag contains.
    unreachable: BTreeSet<String>,
    /// Commits of memories that git does not have.
    missing: BTreeSet<String>,
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
        // In a shallow clone the history is unknown.
        if !at.common_dir.join("shallow").exists() {
            bases.missing = commits.into_iter().filter(|c| !bases.known.contains_key(c)).collect();
        }
        let by_time = asked.iter().filter(|checked| bases.full_commit(&checked.base).is_none());
        if let Some(oldest) = by_time.filter_map(|checked| checked.base.time()).min() {
            bases.history = history(git, oldest)?;
        }
        Ok(bases)
    }

    /// Finds out which commits git has, and which of them are in no history.
    fn find(&mut self, git: &GitQuestions, commits: &BTreeSet<String>) -> Result<(), GitError> {
        let list = commits.iter().map(String::as_str);
        let question = ["rev-list", "--no-walk", "--ignore-missing"].into_iter().chain(list);
        let question: Vec<&str> = question.chain(["--"]).collect();
        let commits_found = lines(&git.ask(&question)?);
        for commit in commits {
            if let Some(whole) =
                commits_found.iter().find(|whole| whole.starts_with(commit.as_str()))
            {
                self.known.insert(commit.clone(), whole.clone());
            }
        }
        let known = self.known.values().map(String::as_str);
        let question: Vec<&str> =
            ["rev-list"].into_iter().chain(known).chain(["--not", "--all", "--"]).collect();
        if !self.known.is_empty() {
            self.unreachable = lines(&git.ask(&question)?).into_iter().collect();
        }
        Ok(())
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

    /// Tells whether a commit is in no branch and no tag any more.
    pub(super) fn is_gone(&self, commit: &str) -> bool {
        let commit = commit.to_lowercase();
        let is_unreachable = |whole: &String| self.unreachable.contains(whole);
        self.missing.contains(&commit) || self.known.get(&commit).is_some_and(is_unreachable)
    }
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

fn lines(answer: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(answer).lines().map(str::to_owned).collect()
}
