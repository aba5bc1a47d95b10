//! Runs git once, within a bounded time, and ends it with all that it started where it takes longer. Not here: what git must not do
//! (`hardening`), which commands.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use crate::hardening::{SshCommand, hardened};

/// The longest time of one call that reaches another machine, in milliseconds. A slow line fetches megabytes in it; beyond, nobody
/// would wait.
pub const CALL_MS_MAX: u64 = 60_000;

/// How often the end of git is polled, in milliseconds.
const LOOK_MS: u64 = 2;

/// Most bytes of what git says about a failure.
const WORDS_BYTES_MAX: u64 = 16 * 1024;

/// What is passed to git, and how much may come back.
#[derive(Default)]
pub struct GitCall<'a> {
    /// The command and its arguments.
    pub args: &'a [&'a str],
    /// What it reads.
    pub input: Vec<u8>,
    /// More variables.
    pub variables: Vec<(&'static str, String)>,
    /// Most bytes that it may print. With more it is ended.
    pub bytes_max: u64,
}

/// What came of a call.
#[derive(Debug)]
pub struct GitAnswer {
    /// What it printed.
    pub output: Vec<u8>,
    /// What it said.
    pub words: String,
    /// Whether it ended with success.
    pub is_success: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GitFailure {
    /// There is no program of that name.
    #[error("the program git is not there")]
    NoProgram,
    /// It took too long, and was ended.
    #[error("git took too long")]
    TooLong,
    /// It printed too much, and was ended.
    #[error("git printed too much")]
    TooMuch,
    /// It could not be started or read.
    #[error("git could not be started")]
    NotRun,
}

/// Git at one directory.
pub struct GitProgram {
    /// Where it works.
    pub directory: PathBuf,
    /// Which repository it works on.
    pub repository: Repository,
    /// How ssh is started.
    pub ssh: SshCommand,
    /// The longest time of one call.
    pub patience: Duration,
}

/// Which repository git works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repository {
    /// The one that the directory belongs to.
    Around,
    /// The directory itself, bare.
    Itself,
}

impl GitProgram {
    /// Git on whatever repository a directory belongs to. Only for questions.
    #[must_use]
    pub fn for_directory(directory: &Path, patience: Duration) -> Self {
        let directory = directory.to_owned();
        Self { directory, repository: Repository::Around, ssh: SshCommand::OfUser, patience }
    }

    /// Runs git.
    ///
    /// # Errors
    /// [`GitFailure`]. A command that fails is an answer.
    pub fn run(&self, call: GitCall<'_>) -> Result<GitAnswer, GitFailure> {
        if self.patience.is_zero() {
            return Err(GitFailure::TooLong);
        }
        let mut child = self.command(&call).spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => GitFailure::NoProgram,
            _ => GitFailure::NotRun,
        })?;
        let answer = self.answer_of(&mut child, call);
        if answer.is_err() {
            end_with_children(&mut child);
        }
        answer
    }

    fn command(&self, call: &GitCall<'_>) -> Command {
        let mut git = hardened(&self.directory, self.ssh);
        if self.repository == Repository::Itself {
            git.env("GIT_DIR", &self.directory);
        }
        git.args(call.args).envs(call.variables.iter().map(|(name, value)| (name, value)));
        let input = if call.input.is_empty() { Stdio::null() } else { Stdio::piped() };
        git.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut git, 0);
        git
    }

    fn answer_of(&self, child: &mut Child, call: GitCall<'_>) -> Result<GitAnswer, GitFailure> {
        let deadline = Instant::now() + self.patience;
        if let Some(mut input) = child.stdin.take() {
            let bytes = call.input;
            // Git may end before it has read everything.
            in_thread(move || drop(input.write_all(&bytes)))?;
        }
        let output = listened(child.stdout.take(), call.bytes_max.saturating_add(1))?;
        let words = listened(child.stderr.take(), WORDS_BYTES_MAX)?;
        let left = || deadline.saturating_duration_since(Instant::now());
        let output = output.recv_timeout(left()).map_err(|_| GitFailure::TooLong)?;
        if u64::try_from(output.len()).unwrap_or(u64::MAX) > call.bytes_max {
            return Err(GitFailure::TooMuch);
        }
        let status = end_of(child, deadline)?;
        // A child of git may keep it open.
        let words = words.recv_timeout(left()).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        Ok(GitAnswer { output, words, is_success: status.success() })
    }
}

/// Ends git, and what it started: ssh may hang without it. They may have ended by themselves.
fn end_with_children(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads in a thread, at most `bytes_max`.
fn listened(
    from: Option<impl Read + Send + 'static>,
    bytes_max: u64,
) -> Result<Receiver<Vec<u8>>, GitFailure> {
    let (sender, receiver) = mpsc::channel();
    let mut from = from.ok_or(GitFailure::NotRun)?.take(bytes_max);
    in_thread(move || {
        let mut bytes = Vec::new();
        // What came before a failure is of use; nobody receives it after the time is over.
        let _ = from.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    })?;
    Ok(receiver)
}

fn in_thread(work: impl FnOnce() + Send + 'static) -> Result<(), GitFailure> {
    let started = std::thread::Builder::new().name("git".to_owned()).spawn(work);
    started.map(drop).map_err(|_| GitFailure::NotRun)
}

fn end_of(child: &mut Child, deadline: Instant) -> Result<ExitStatus, GitFailure> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() >= deadline => return Err(GitFailure::TooLong),
            Ok(None) => std::thread::park_timeout(Duration::from_millis(LOOK_MS)),
            Err(_) => return Err(GitFailure::NotRun),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(patience_ms: u64) -> (tempfile::TempDir, GitProgram) {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().to_owned();
        let patience = Duration::from_millis(patience_ms);
        let (repository, ssh) = (Repository::Itself, SshCommand::Silent);
        (folder, GitProgram { directory, repository, ssh, patience })
    }

    fn call<'a>(args: &'a [&'a str], bytes_max: u64) -> GitCall<'a> {
        GitCall { args, bytes_max, ..GitCall::default() }
    }

    // S-SYNC-5
    #[test]
    fn a_git_that_does_not_end_is_ended() {
        let (folder, program) = program(300);
        // The other side of this address never answers: it listens, and nobody accepts.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("git://{}/x", listener.local_addr().unwrap());
        let began = Instant::now();
        let answer = program.run(call(&["ls-remote", &url], 99));
        assert_eq!(answer.unwrap_err(), GitFailure::TooLong);
        assert!(began.elapsed() < Duration::from_secs(30));
        drop(folder);
    }

    // S-SYNC-5
    #[test]
    fn more_than_was_asked_for_is_not_read() {
        let (_folder, program) = program(CALL_MS_MAX);
        assert_eq!(program.run(call(&["help", "-a"], 10)).unwrap_err(), GitFailure::TooMuch);
        assert!(program.run(call(&["version"], 999)).unwrap().is_success);
    }

    // S-SYNC-5
    #[test]
    fn an_address_that_starts_a_program_is_refused_by_git_too() {
        let (folder, program) = program(CALL_MS_MAX);
        let mark = folder.path().join("mark");
        let url = format!("ext::touch {}", mark.display());
        let answer = program.run(call(&["ls-remote", &url], 999)).unwrap();
        assert!(!answer.is_success && !mark.exists(), "{}", answer.words);
    }
}
