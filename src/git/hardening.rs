//! What git must not do: start a program other than the one that reaches a remote, ask a person, use another repository, or fetch
//! more than it was asked to. Not here: running it (`git_program`).

use std::path::Path;
use std::process::Command;

/// Variables that would make git use another repository, or do more than it was asked.
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

/// What the settings of a repository, the user or the system must not change. Hooks, watchers, checks of signatures and housekeeping
/// are programs; tags and submodules are not ours.
const SETTINGS: [&str; 18] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.logAllRefUpdates=false",
    "log.showSignature=false",
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

/// How git answers: in English, without a question, and about the objects that are here.
const VARIABLES: [(&str, &str); 9] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GCM_INTERACTIVE", "never"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
];

/// How ssh is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SshCommand {
    /// As the user has set it.
    OfUser,
    /// The usual one, told not to ask.
    Silent,
}

/// Returns the command `git`, hardened, in a directory.
pub(crate) fn hardened(directory: &Path, ssh: SshCommand) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory).args(["--no-pager", "--literal-pathspecs"]);
    for setting in SETTINGS {
        git.args(["-c", setting]);
    }
    for name in LEADING_ELSEWHERE {
        git.env_remove(name);
    }
    git.envs(VARIABLES);
    if ssh == SshCommand::Silent {
        git.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
    }
    git
}
