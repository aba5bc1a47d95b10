//! The git commits that still contain earlier versions of a scrubbed file. Not here: changing them. Rewriting
//! history is for people to decide.

use std::path::Path;
use std::process::{Command, Stdio};

/// Most commits that are listed.
const NAMED_MAX: usize = 20;

/// The commits that contain a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct History {
    /// The newest commits, with short hashes.
    pub newest: Vec<String>,
    /// The number of commits.
    pub count: usize,
}

impl History {
    /// Asks git which commits changed a file. Returns `None` if there is no git, no work tree, or no such
    /// commit. git receives the file's name and never the secret, because others can read its arguments.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let (folder, name) = (file.parent()?, file.file_name()?);
        let mut git = Command::new("git");
        git.arg("-C").arg(folder);
        // Disables everything that a repository's settings could execute.
        git.args(["--no-pager", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false"]);
        git.args(["log", "--all", "--format=%h", "--"]).arg(name);
        let output = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let is_commit =
            |line: &&str| !line.is_empty() && line.bytes().all(|b| b.is_ascii_hexdigit());
        let commits: Vec<&str> = text.lines().filter(is_commit).collect();
        let newest = commits.iter().take(NAMED_MAX).map(|commit| (*commit).to_owned()).collect();
        (!commits.is_empty()).then_some(Self { newest, count: commits.len() })
    }
}
