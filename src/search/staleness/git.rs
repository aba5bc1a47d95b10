//! Asks the program `git` about a work tree, within a bounded time. It runs only commands that read history,
//! fetches nothing, and disables everything that a repository's settings could run. Commits and paths of memories
//! are data: commits are hexadecimal, paths stand after `--` and are literal. Not here: what the answers mean.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use event::Timestamp;

/// The longest time for all git commands of one check, in milliseconds.
const GIT_MS_MAX: u64 = 4_000;

/// How often the end of git is polled, in milliseconds.
const LOOK_MS: u64 = 2;

/// Most bytes of one answer: fifty thousand commits with their times have three million.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Most paths of one question: with the longest paths there are, what a command line holds.
const PATHS_MAX: usize = 512;

/// Variables that would lead git elsewhere, or have it start another program.
const LEADING_ELSEWHERE: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_PARAMETERS",
];

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

/// Which of some paths differ between two commits.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Differences {
    pub(super) gone: Vec<String>,
    pub(super) changed: Vec<String>,
}

impl Differences {
    /// Lists those among some paths.
    pub(super) fn among(&self, paths: &[String]) -> Self {
        let both =
            |list: &[String]| paths.iter().filter(|path| list.contains(path)).cloned().collect();
        Self { gone: both(&self.gone), changed: both(&self.changed) }
    }

    /// Reads `--name-status -z`: a letter and a path in turn.
    fn read(answer: &[u8]) -> Self {
        let text = String::from_utf8_lossy(answer);
        let mut parts = text.split('\0');
        let mut found = Self::default();
        while let (Some(status), Some(path)) = (parts.next(), parts.next()) {
            match status {
                "D" => found.gone.push(path.to_owned()),
                // A file that was added later has not changed.
                "M" | "T" => found.changed.push(path.to_owned()),
                _ => {}
            }
        }
        found
    }
}

/// Git at a work tree, for one check.
pub(super) struct Git {
    top: PathBuf,
    /// The remaining time for git.
    left: Cell<Duration>,
}

impl Git {
    pub(super) fn at(top: &Path) -> Self {
        Self { top: top.to_owned(), left: Cell::new(Duration::from_millis(GIT_MS_MAX)) }
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
            let question =
                ["diff-tree", "-r", "-z", "--name-status", "--no-renames", commit, "HEAD", "--"];
            let found = Differences::read(&self.ask(question.iter().chain(some))?);
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
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.top).args(["--no-pager", "--literal-pathspecs"]);
        git.args(["-c", "core.fsmonitor=false", "-c", "log.showSignature=false"]);
        git.args(question.into_iter().map(OsStr::new));
        for name in LEADING_ELSEWHERE {
            git.env_remove(name);
        }
        for (name, value) in
            [("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")]
        {
            git.env(name, value);
        }
        git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = git.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => GitError::NoProgram,
            _ => GitError::Failed,
        })?;
        self.answer_of(&mut child)
    }

    /// Reads the output to its end, or until the time is over; then git is killed.
    fn answer_of(&self, child: &mut Child) -> Result<Vec<u8>, GitError> {
        let began = Instant::now();
        let answer = Self::read_output(child, began + self.left.get());
        self.left.set(self.left.get().saturating_sub(began.elapsed()));
        if answer.is_err() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        answer
    }

    fn read_output(child: &mut Child, deadline: Instant) -> Result<Vec<u8>, GitError> {
        let mut output = child.stdout.take().ok_or(GitError::Failed)?.take(ANSWER_BYTES_MAX);
        let (sender, receiver) = mpsc::channel();
        let listen = move || {
            let mut answer = Vec::new();
            // Nobody receives it after the time is over.
            let _ = sender.send(output.read_to_end(&mut answer).map(|_| answer));
        };
        let listening = std::thread::Builder::new().name("git".to_owned()).spawn(listen);
        drop(listening.map_err(|_| GitError::Failed)?);
        let status = end_of(child, deadline)?;
        // A child of git may keep the pipe open.
        let left = deadline.saturating_duration_since(Instant::now());
        let answer = receiver.recv_timeout(left).map_err(|_| GitError::TooLong)?;
        let answer = answer.map_err(|_| GitError::Failed)?;
        let is_whole = u64::try_from(answer.len()).is_ok_and(|bytes| bytes < ANSWER_BYTES_MAX);
        if status.success() && is_whole { Ok(answer) } else { Err(GitError::Failed) }
    }
}

fn end_of(child: &mut Child, deadline: Instant) -> Result<ExitStatus, GitError> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() >= deadline => return Err(GitError::TooLong),
            Ok(None) => std::thread::park_timeout(Duration::from_millis(LOOK_MS)),
            Err(_) => return Err(GitError::Failed),
        }
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
        let found = Differences::read(b"M\0src/a b.rs\0D\0x\0A\0new\0T\0link\0");
        let list = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let expected = Differences { gone: list(&["x"]), changed: list(&["src/a b.rs", "link"]) };
        assert_eq!(found, expected);
        assert_eq!(
            found.among(&list(&["x", "y"])),
            Differences { gone: list(&["x"]), changed: vec![] }
        );
    }

    // S-STALE-5
    #[test]
    fn nobody_waits_for_a_slow_or_missing_git() {
        let folder = tempfile::tempdir().unwrap();
        let git = Git { top: folder.path().to_owned(), left: Cell::default() };
        // It waits for the end of what is never sent.
        let mut waiting = Command::new("git");
        waiting.args(["hash-object", "--stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut waiting = waiting.spawn().unwrap();
        let stdin = waiting.stdin.take();
        assert_eq!(git.answer_of(&mut waiting), Err(GitError::TooLong));
        assert!(waiting.try_wait().unwrap().is_some_and(|status| !status.success()), "it is ended");
        drop(stdin);
        assert_eq!(Git::at(folder.path()).ask(&["rev-parse", "HEAD"]), Err(GitError::Failed));
    }
}
