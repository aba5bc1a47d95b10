//! Where else a scrubbed file still is what it was: the commits of the git work tree it stands in.
//! Not here: changing them; rewriting history is for people to decide.

use std::path::Path;
use std::process::{Command, Stdio};

/// Most commits that are named.
const NAMED_MAX: usize = 20;

/// The commits that hold a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct History {
    /// The newest of them, in short.
    pub newest: Vec<String>,
    /// How many there are.
    pub count: usize,
}

impl History {
    /// Asks git which commits changed a file; `None` where there is no git, no work tree, or no such
    /// commit. git is told the file's name and never the secret: others can read its arguments.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let (folder, name) = (file.parent()?, file.file_name()?);
        let mut git = Command::new("git");
        git.arg("-C").arg(folder);
        // Nothing that a repository's settings would have run.
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
