//! Runs the program `git` once, within a bounded time, with nothing that could start another program but what reaches the
//! remote: ssh, and the helpers for passwords that the user has set up. Not here: which commands (`git_repository`).

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// The longest time of one call. A slow line fetches megabytes in it; beyond, nobody would wait.
pub(crate) const CALL_MS_MAX: u64 = 60_000;

/// How often the end of git is polled, in milliseconds.
const LOOK_MS: u64 = 2;

/// Most bytes of what git says about a failure.
const WORDS_BYTES_MAX: u64 = 16 * 1024;

/// Variables that would lead git to another repository, or have it do more than it is asked.
const LEADING_ELSEWHERE: [&str; 16] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_TEMPLATE_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_PUSH_OPTION_COUNT",
];

/// What the settings of the user or the system must not change. Hooks, watchers and housekeeping are programs; tags and
/// submodules are not ours.
const SETTINGS: [&str; 17] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.logAllRefUpdates=false",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "push.negotiate=false",
    "fetch.recurseSubmodules=false",
    "fetch.fsckObjects=true",
    "fetch.writeCommitGraph=false",
    "fetch.prune=false",
    "fetch.showForcedUpdates=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.pushUpdateRejected=false",
];

/// What is passed to git, and how much may come back.
pub(crate) struct GitCall<'a> {
    /// The command and its arguments.
    pub(crate) args: &'a [&'a str],
    /// What it reads.
    pub(crate) input: Vec<u8>,
    /// More variables.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Most bytes that it may print. With more it is ended.
    pub(crate) bytes_max: u64,
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct GitAnswer {
    /// What it printed.
    pub(crate) output: Vec<u8>,
    /// What it said.
    pub(crate) words: String,
    /// Whether it ended with success.
    pub(crate) is_success: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// There is no program of that name.
    NoProgram,
    /// It took too long, and was ended.
    TooLong,
    /// It printed too much, and was ended.
    TooMuch,
    /// It could not be started or read.
    Failed,
}

/// Git on one repository.
pub(crate) struct GitProgram {
    /// The repository.
    pub(crate) directory: PathBuf,
    /// Whether it is known that ssh must not ask. Otherwise the user has set how ssh is started, which is kept.
    pub(crate) ssh: SshCommand,
    /// The longest time of one call.
    pub(crate) patience: Duration,
}

/// How ssh is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SshCommand {
    /// As the user has set it.
    OfUser,
    /// The usual one, told not to ask.
    Silent,
}

impl GitProgram {
    /// Runs git on the repository.
    pub(crate) fn run(&self, call: GitCall<'_>) -> Result<GitAnswer, NoAnswer> {
        let mut git = command(&self.directory, self.ssh);
        git.env("GIT_DIR", &self.directory);
        self.run_as(git, call)
    }

    /// Runs git on whatever repository the directory belongs to. Only for a question.
    pub(crate) fn run_here(&self, call: GitCall<'_>) -> Result<GitAnswer, NoAnswer> {
        self.run_as(command(&self.directory, self.ssh), call)
    }

    fn run_as(&self, mut git: Command, call: GitCall<'_>) -> Result<GitAnswer, NoAnswer> {
        git.args(call.args.iter().map(OsStr::new));
        for (name, value) in &call.variables {
            git.env(name, value);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut git, 0);
        let mut child = git.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => NoAnswer::NoProgram,
            _ => NoAnswer::Failed,
        })?;
        let answer = self.answer_of(&mut child, call);
        if answer.is_err() {
            end_with_children(&mut child);
        }
        answer
    }

    fn answer_of(&self, child: &mut Child, call: GitCall<'_>) -> Result<GitAnswer, NoAnswer> {
        let deadline = Instant::now() + self.patience;
        if let Some(mut input) = child.stdin.take() {
            let bytes = call.input;
            // Git may end before it has read everything.
            in_thread(move || drop(input.write_all(&bytes)))?;
        }
        let output = listened(child.stdout.take(), call.bytes_max.saturating_add(1))?;
        let words = listened(child.stderr.take(), WORDS_BYTES_MAX)?;
        let left = || deadline.saturating_duration_since(Instant::now());
        let output = output.recv_timeout(left()).map_err(|_| NoAnswer::TooLong)?;
        if u64::try_from(output.len()).unwrap_or(u64::MAX) > call.bytes_max {
            return Err(NoAnswer::TooMuch);
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

/// Returns git with nothing that could surprise. It works in `directory`.
fn command(directory: &Path, ssh: SshCommand) -> Command {
    let mut git = Command::new("git");
    git.current_dir(directory).args(["--no-pager", "--literal-pathspecs"]);
    for setting in SETTINGS {
        git.args(["-c", setting]);
    }
    for name in LEADING_ELSEWHERE {
        git.env_remove(name);
    }
    for (name, value) in [
        ("LC_ALL", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", ""),
        ("SSH_ASKPASS_REQUIRE", "never"),
        ("GCM_INTERACTIVE", "never"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
    ] {
        git.env(name, value);
    }
    if ssh == SshCommand::Silent {
        git.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
    }
    git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    git
}

/// Reads in a thread, at most `bytes_max`.
fn listened(
    from: Option<impl Read + Send + 'static>,
    bytes_max: u64,
) -> Result<Receiver<Vec<u8>>, NoAnswer> {
    let (sender, receiver) = mpsc::channel();
    let mut from = from.ok_or(NoAnswer::Failed)?.take(bytes_max);
    in_thread(move || {
        let mut bytes = Vec::new();
        // What came before a failure is of use; nobody receives it after the time is over.
        let _ = from.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    })?;
    Ok(receiver)
}

fn in_thread(work: impl FnOnce() + Send + 'static) -> Result<(), NoAnswer> {
    let started = std::thread::Builder::new().name("git".to_owned()).spawn(work);
    started.map(drop).map_err(|_| NoAnswer::Failed)
}

fn end_of(child: &mut Child, deadline: Instant) -> Result<ExitStatus, NoAnswer> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() >= deadline => return Err(NoAnswer::TooLong),
            Ok(None) => std::thread::park_timeout(Duration::from_millis(LOOK_MS)),
            Err(_) => return Err(NoAnswer::Failed),
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
        (folder, GitProgram { directory, ssh: SshCommand::Silent, patience })
    }

    fn call<'a>(args: &'a [&'a str], bytes_max: u64) -> GitCall<'a> {
        GitCall { args, input: Vec::new(), variables: Vec::new(), bytes_max }
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
        assert_eq!(answer.unwrap_err(), NoAnswer::TooLong);
        assert!(began.elapsed() < Duration::from_secs(30));
        drop(folder);
    }

    // S-SYNC-5
    #[test]
    fn more_than_was_asked_for_is_not_read() {
        let (_folder, program) = program(CALL_MS_MAX);
        assert_eq!(program.run(call(&["help", "-a"], 10)).unwrap_err(), NoAnswer::TooMuch);
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
