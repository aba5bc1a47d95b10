//! The git commits that still contain earlier versions of a scrubbed file. Not here: changing them, which is
//! for people to decide.

use std::path::Path;
use std::time::Duration;

use git::{CALL_MS_MAX, GitCall, GitProgram};

/// Most commits that are listed.
const NAMED_MAX: usize = 20;

/// Most bytes of the list: a million commits.
const LIST_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The commits that contain a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommitHistory {
    /// The newest commits, with short hashes.
    pub newest: Vec<String>,
    /// The number of commits.
    pub count: usize,
}

impl CommitHistory {
    /// Asks git which commits changed a file. Returns `None` if there is no git, no work tree, or no such
    /// commit. git receives the file's name and never the secret, because others can read its arguments.
    pub(super) fn ask_git(file: &Path) -> Option<Self> {
        let (folder, name) = (file.parent()?, file.file_name()?.to_str()?);
        let program = GitProgram::for_directory(folder, Duration::from_millis(CALL_MS_MAX));
        let args = ["log", "--all", "--format=%h", "--", name];
        let call = GitCall { args: &args, bytes_max: LIST_BYTES_MAX, ..GitCall::default() };
        let answer = program.run(call).ok()?;
        let text = String::from_utf8_lossy(&answer.output);
        let is_commit =
            |line: &&str| !line.is_empty() && line.bytes().all(|b| b.is_ascii_hexdigit());
        let commits: Vec<&str> = text.lines().filter(is_commit).collect();
        let newest = commits.iter().take(NAMED_MAX).map(|commit| (*commit).to_owned()).collect();
        (!commits.is_empty()).then_some(Self { newest, count: commits.len() })
    }
}
