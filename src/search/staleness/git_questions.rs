//! Asks the program `git` about a work tree, within a bounded time for one check. It runs only commands that read history. Commits
//! and paths of memories are data: commits are hexadecimal, paths stand after `--` and are literal. Not here: how the program
//! is run (the crate `git`), what the answers mean.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use event::Timestamp;
use git::{GitCall, GitFailure, GitProgram};

/// The longest time for all git commands of one check, in milliseconds.
const GIT_MS_MAX: u64 = 4_000;

/// Most bytes of one answer: fifty thousand commits with their times have three million.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Most paths of one question: with the longest paths there are, what a command line holds.
const PATHS_MAX: usize = 512;

/// Why git gave no answer, or not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitError {
    /// There is no git repository.
    NoRepository,
    /// There is no program of that name.
    NoProgram,
    /// It took too long.
    TooLong,
    /// It failed: no commit yet, or a repository that it does not trust.
    Failed,
}

impl fmt::Display for GitError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoRepository => "there is no git repository here",
            Self::NoProgram => "the program git is not there",
            Self::TooLong => "git took too long",
            Self::Failed => {
                "git could not answer: is there a commit, and does `git log` work here?"
            }
        })
    }
}

impl From<GitFailure> for GitError {
    fn from(failure: GitFailure) -> Self {
        match failure {
            GitFailure::NoProgram => Self::NoProgram,
            GitFailure::TooLong => Self::TooLong,
            GitFailure::TooMuch | GitFailure::NotRun => Self::Failed,
        }
    }
}

/// Which of some paths differ between two commits.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Differences {
    pub(super) gone: Vec<GoneFile>,
    pub(super) changed: Vec<String>,
}

/// A file that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GoneFile {
    pub(super) path: String,
    /// The id of its content in the earlier commit.
    pub(super) blob: String,
}

impl Differences {
    /// Lists those among some paths.
    pub(super) fn among(&self, paths: &[String]) -> Self {
        let gone = |path: &String| self.gone.iter().find(|gone| gone.path == *path).cloned();
        let changed = paths.iter().filter(|path| self.changed.contains(path));
        Self { gone: paths.iter().filter_map(gone).collect(), changed: changed.cloned().collect() }
    }

    /// Reads `--raw -z`: `:100644 000000 OLD NEW D` and a path in turn.
    fn read(answer: &[u8]) -> Self {
        let text = String::from_utf8_lossy(answer);
        let mut parts = text.split('\0');
        let mut found = Self::default();
        while let (Some(status), Some(path)) = (parts.next(), parts.next()) {
            let mut about = status.split(' ').skip(2);
            match (about.next(), about.nth(1)) {
                (Some(blob), Some("D")) => {
                    found.gone.push(GoneFile { path: path.to_owned(), blob: blob.to_owned() });
                }
                // A file that was added later has not changed.
                (_, Some("M" | "T")) => found.changed.push(path.to_owned()),
                _ => {}
            }
        }
        found
    }
}

/// Git at a work tree, for one check.
pub(super) struct GitQuestions {
    top: PathBuf,
    /// The remaining time for git.
    left: Cell<Duration>,
}

impl GitQuestions {
    pub(super) fn at(top: &Path) -> Self {
        Self::within(top, Duration::from_millis(GIT_MS_MAX))
    }

    /// Git for a check that may take so long.
    pub(super) fn within(top: &Path, time: Duration) -> Self {
        Self { top: top.to_owned(), left: Cell::new(time) }
    }

    /// Which of some paths differ between a commit and the one that is checked out.
    pub(super) fn differences(
        &self,
        commit: &str,
        paths: BTreeSet<&str>,
    ) -> Result<Differences, GitError> {
        let mut all = Differences::default();
        let paths: Vec<&str> = paths.into_iter().collect();
        for some in paths.chunks(PATHS_MAX) {
            let question = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames"];
            let question = question.into_iter().chain([commit, "HEAD", "--"]);
            let question: Vec<&str> = question.chain(some.iter().copied()).collect();
            let found = Differences::read(&self.ask(&question)?);
            all.gone.extend(found.gone);
            all.changed.extend(found.changed);
        }
        Ok(all)
    }

    /// Returns when a commit was made; `None` for a text that names no commit of this repository.
    pub(super) fn commit_time(&self, named: &str) -> Result<Option<Timestamp>, GitError> {
        // An option of git could do anything.
        if named.starts_with('-') || named.chars().any(char::is_control) {
            return Ok(None);
        }
        let commit = format!("{named}^{{commit}}");
        match self.ask(&["log", "-1", "--format=%ct", "--end-of-options", &commit, "--"]) {
            Ok(seconds) => {
                let seconds = String::from_utf8_lossy(&seconds).trim().parse().ok();
                Ok(seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()))
            }
            Err(GitError::Failed) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Asks git and returns what it printed.
    pub(super) fn ask<'a>(
        &self,
        question: impl IntoIterator<Item = &'a &'a str>,
    ) -> Result<Vec<u8>, GitError> {
        self.ask_with(question, String::new())
    }

    /// Asks git about what it reads from its input.
    pub(super) fn ask_with<'a>(
        &self,
        question: impl IntoIterator<Item = &'a &'a str>,
        input: String,
    ) -> Result<Vec<u8>, GitError> {
        let args: Vec<&str> = question.into_iter().copied().collect();
        let began = Instant::now();
        let input = input.into_bytes();
        let call =
            GitCall { args: &args, input, bytes_max: ANSWER_BYTES_MAX, ..GitCall::default() };
        let answer = GitProgram::for_directory(&self.top, self.left.get()).run(call);
        self.left.set(self.left.get().saturating_sub(began.elapsed()));
        let answer = answer?;
        if answer.is_success { Ok(answer.output) } else { Err(GitError::Failed) }
    }
}

/// Tells whether a text can be a commit, and nothing else: seven to 64 hexadecimal digits.
pub(super) fn is_commit_id(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STALE-5
    #[test]
    fn only_hexadecimal_ids_count_as_commits() {
        assert!(is_commit_id("1a2b3c4") && is_commit_id(&"F".repeat(40)));
        for other in ["", "1a2b3c", "--all-x", "HEAD~1", "main", "1a2b3c4 ", &"a".repeat(65)] {
            assert!(!is_commit_id(other), "{other}");
        }
    }

    // S-STALE-1
    #[test]
    fn later_files_count_as_unchanged() {
        let text = b":1 1 a b M\0src/a b.rs\0:1 0 c 0 D\0x\0:0 1 0 d A\0new\0:1 2 e f T\0link\0";
        let found = Differences::read(text);
        let gone = vec![GoneFile { path: "x".to_owned(), blob: "c".to_owned() }];
        let list = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let expected = Differences { gone: gone.clone(), changed: list(&["src/a b.rs", "link"]) };
        assert_eq!(found, expected);
        assert_eq!(found.among(&list(&["x", "y"])), Differences { gone, changed: vec![] });
    }

    // S-STALE-5
    #[test]
    fn a_check_has_one_time_for_all_its_questions() {
        let folder = tempfile::tempdir().unwrap();
        let git = GitQuestions { top: folder.path().to_owned(), left: Cell::default() };
        assert_eq!(git.ask(&["version"]), Err(GitError::TooLong));
        assert_eq!(
            GitQuestions::at(folder.path()).ask(&["rev-parse", "HEAD"]),
            Err(GitError::Failed)
        );
    }
}
