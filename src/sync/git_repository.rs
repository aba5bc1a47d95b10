//! The bare repository in the cache, which is ours alone, and the commands of git that we use on it: only those that read and
//! write objects and references. There is no work tree, no branch, no hook and no index that anybody else could see. Not here:
//! what is done with them (`git_remote`), how the program is run (the crate `git`).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git::{CALL_MS_MAX, GitAnswer, GitCall, GitFailure, GitProgram, Repository, SshCommand};
use guard::secrets::redacted;
use guard::text::{Layout, neutralise};

use crate::{RemoteAddress, SyncError};

/// Where the references of the origins are, here and on the remote.
pub(crate) const REFS: &str = "refs/agent-knowledge/v1/";

/// Most bytes of a list: of references, or of the files of a tree.
pub(crate) const LIST_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Most files among the packs, and most objects in one of the 256 folders of single ones. With more the repository is made
/// anew, which costs one fetch: housekeeping would cost more.
const PACK_FILES_MAX: usize = 1_000;

/// Most bytes of them: twice what one round takes.
const PACK_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const SINGLE_OBJECTS_MAX: usize = 40;

/// The longest setting that is read, in bytes.
const SETTING_BYTES_MAX: u64 = 4 * 1024;

/// The file with the signers that git accepts: none.
const NO_SIGNERS: &str = "ak.signers";

/// The message of git that follows a message of ssh.
const OF_SSH: &str = "Could not read from remote repository.";

/// How many characters of a message of git are shown.
const WORDS_CHARS_MAX: usize = 300;

/// The repository.
pub(crate) struct GitRepository {
    program: GitProgram,
    url: String,
    shown: String,
}

impl Drop for GitRepository {
    fn drop(&mut self) {
        // Git made its files as the administrator.
        store::give_tree(&self.program.directory);
    }
}

impl GitRepository {
    /// Opens the repository for a remote, and makes it if it is missing.
    pub(crate) fn open(
        directory: PathBuf,
        url: &str,
        remote: &RemoteAddress,
        lookup: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, SyncError> {
        let is_set = |name: &&str| lookup(name).is_some_and(|value| !value.is_empty());
        let ssh = match ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(is_set) {
            true => SshCommand::OfUser,
            false => SshCommand::Silent,
        };
        let patience = Duration::from_millis(CALL_MS_MAX);
        let program = GitProgram { directory, repository: Repository::Itself, ssh, patience };
        let mut opened = Self { program, url: url.to_owned(), shown: remote.shown().to_owned() };
        if opened.is_too_big() {
            opened.remove()?;
        }
        opened.make()?;
        // A setting of the user's counts like the variable.
        if opened.run(&["config", "--get", "core.sshCommand"], Vec::new())?.is_success {
            opened.program.ssh = SshCommand::OfUser;
        }
        Ok(opened)
    }

    /// Returns a setting of the repository that a directory belongs to, and changes nothing.
    pub(crate) fn setting_of(directory: &Path, name: &str) -> Option<String> {
        let program = GitProgram::for_directory(directory, Duration::from_millis(CALL_MS_MAX));
        let args = ["config", "--get", name];
        let bytes_max = SETTING_BYTES_MAX;
        let answer = program.run(GitCall { args: &args, bytes_max, ..GitCall::default() });
        let answer = answer.ok().filter(|answer| answer.is_success)?;
        Some(String::from_utf8(answer.output).ok()?.trim().to_owned())
    }

    /// Makes the repository, and removes what a killed git left locked. The caller holds the lock of the repository.
    pub(crate) fn make(&self) -> Result<(), SyncError> {
        let directory = &self.program.directory;
        store::own_folder(directory)?;
        for folder in [directory.clone(), directory.join(REFS)] {
            for path in
                entries(&folder).filter(|path| path.extension().is_some_and(|e| e == "lock"))
            {
                let _ = std::fs::remove_file(path);
            }
        }
        let is_left = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tmp_"))
        };
        for path in entries(&directory.join("objects/pack")).filter(is_left) {
            let _ = std::fs::remove_file(path);
        }
        let init = ["init", "--quiet", "--bare", "--template=", "--object-format=sha1"];
        self.ask(&init, Vec::new()).map(drop)
    }

    /// Removes the repository.
    pub(crate) fn remove(&self) -> Result<(), SyncError> {
        match std::fs::remove_dir_all(&self.program.directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(self.cache_error(&error.to_string()))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn is_too_big(&self) -> bool {
        let objects = self.program.directory.join("objects");
        let count = |folder: &str| entries(&objects.join(folder)).count();
        let packs = objects.join("pack");
        let lengths = entries(&packs);
        let bytes: u64 = lengths.filter_map(|path| Some(path.symlink_metadata().ok()?.len())).sum();
        count("pack") > PACK_FILES_MAX || count("17") > SINGLE_OBJECTS_MAX || bytes > PACK_BYTES_MAX
    }

    /// Returns the URL of the remote.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Runs a command that needs no remote. If it fails, the repository cannot be used.
    pub(crate) fn ask(&self, args: &[&str], input: Vec<u8>) -> Result<Vec<u8>, SyncError> {
        self.ask_with(args, input, Vec::new())
    }

    /// Does the same with more variables.
    pub(crate) fn ask_with(
        &self,
        args: &[&str],
        input: Vec<u8>,
        variables: Vec<(&'static str, String)>,
    ) -> Result<Vec<u8>, SyncError> {
        let call = GitCall { args, input, variables, bytes_max: LIST_BYTES_MAX };
        let answer = self.run_git(call)?;
        match answer.is_success {
            true => Ok(answer.output),
            false => Err(self.cache_error(&self.words(&answer))),
        }
    }

    /// Runs a command whose failure the caller reads.
    pub(crate) fn run(&self, args: &[&str], input: Vec<u8>) -> Result<GitAnswer, SyncError> {
        self.run_long(args, input, LIST_BYTES_MAX)
    }

    /// Does the same with a bound on what it prints.
    pub(crate) fn run_long(
        &self,
        args: &[&str],
        input: Vec<u8>,
        bytes_max: u64,
    ) -> Result<GitAnswer, SyncError> {
        self.run_git(GitCall { args, input, bytes_max, ..GitCall::default() })
    }

    /// Does the same as [`Self::run`] with more variables.
    pub(crate) fn run_with(
        &self,
        args: &[&str],
        variables: Vec<(&'static str, String)>,
    ) -> Result<GitAnswer, SyncError> {
        let bytes_max = LIST_BYTES_MAX;
        self.run_git(GitCall { args, variables, bytes_max, ..GitCall::default() })
    }

    /// Returns an empty list of signers. Git checks no signature without a list, and we compare keys ourselves.
    pub(crate) fn no_signers(&self) -> Result<PathBuf, SyncError> {
        let path = self.program.directory.join(NO_SIGNERS);
        store::write_private(&path, "").map_err(|error| self.cache_error(&error.to_string()))?;
        Ok(path)
    }

    fn run_git(&self, call: GitCall<'_>) -> Result<GitAnswer, SyncError> {
        let why = match self.program.run(call) {
            Ok(answer) => return Ok(answer),
            Err(GitFailure::NoProgram) => return Err(SyncError::NoGit),
            Err(GitFailure::TooLong) => "it took longer than a minute",
            Err(GitFailure::TooMuch) => {
                return Err(SyncError::Unreadable("there is more than a team writes".to_owned()));
            }
            Err(GitFailure::NotRun) => "git could not be started",
        };
        Err(self.remote_error(why))
    }

    /// Returns the error for a remote that does not do what was asked.
    pub(crate) fn remote_error(&self, why: &str) -> SyncError {
        SyncError::Remote { remote: self.shown.clone(), why: why.to_owned() }
    }

    /// Returns the error for a repository that cannot be used.
    pub(crate) fn cache_error(&self, why: &str) -> SyncError {
        let path = self.program.directory.display().to_string();
        SyncError::Cache { path, why: why.to_owned() }
    }

    /// Returns the line of git's message that says what went wrong, without a password.
    pub(crate) fn words(&self, answer: &GitAnswer) -> String {
        let words = answer.words.replace(&self.url, &self.shown);
        let starts = ["fatal: ", "error: ", "remote: "];
        let line_after = |start: &&str| words.lines().find_map(|line| line.strip_prefix(*start));
        let line = starts.iter().find_map(line_after).filter(|line| *line != OF_SSH);
        let line = line.or_else(|| words.lines().find(|line| !line.trim().is_empty()));
        let line = neutralise(&redacted(line.unwrap_or_default()), Layout::Line);
        let line: String = line.chars().take(WORDS_CHARS_MAX).collect();
        if line.is_empty() { "git says nothing about it".to_owned() } else { line }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}
