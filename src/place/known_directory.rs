//! The directories that a caller knows of, and who named each: an argument, a hook, a variable of the client, a root of MCP, the
//! process itself. Not here: which of them counts (`locate`).

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::foreign_path::directory_of_text;
use crate::machine::Machine;

/// Who named a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryOrigin {
    /// An argument of the program, such as `--directory`.
    Argument,
    /// The input of a hook.
    Hook,
    /// A variable in which a client declares the project.
    Declared(&'static str),
    /// A root that an MCP client offers.
    Root,
    /// The working directory of the process.
    Process,
    /// `$PWD`, where the working directory is gone.
    Shell,
}

impl DirectoryOrigin {
    /// Orders directories by how much they say about the project of a session, the first before all others.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Argument => 0,
            Self::Hook => 1,
            Self::Root => 2,
            Self::Process => 3,
            Self::Declared(_) => 4,
            Self::Shell => 5,
        }
    }
}

impl fmt::Display for DirectoryOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument => out.write_str("the argument"),
            Self::Hook => out.write_str("the input of the hook"),
            Self::Declared(name) => write!(out, "${name}"),
            Self::Root => out.write_str("a root of the MCP client"),
            Self::Process => out.write_str("the working directory"),
            Self::Shell => out.write_str("$PWD"),
        }
    }
}

/// A directory that somebody named. Nothing need be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownDirectory {
    /// Who named it.
    pub origin: DirectoryOrigin,
    /// Its path.
    pub path: PathBuf,
}

/// The variables in which clients declare the project to hooks and servers that they start.
const PROJECT_VARIABLES: &[&str] = &[
    // Claude Code, to its hooks and MCP servers.
    "CLAUDE_PROJECT_DIR",
    // Cursor, to its hooks.
    "CURSOR_PROJECT_DIR",
    // Cursor, to its MCP servers: one or several, with commas.
    "WORKSPACE_FOLDER_PATHS",
    // Gemini CLI and Qwen Code, to their hooks.
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    // Factory's Droid, to its hooks.
    "FACTORY_PROJECT_DIR",
    // Windsurf, to the hooks of its work trees.
    "ROOT_WORKSPACE_PATH",
    // Zed, to its tasks.
    "ZED_WORKTREE_ROOT",
    // Gitpod and Codespaces, in which agents run as well.
    "GITPOD_REPO_ROOT",
    "CODESPACE_VSCODE_FOLDER",
    // Jobs of GitHub and GitLab.
    "GITHUB_WORKSPACE",
    "CI_PROJECT_DIR",
    // `bazel run`, which starts programs in a sandbox.
    "BUILD_WORKSPACE_DIRECTORY",
    // npm and npx: where they were started.
    "INIT_CWD",
];

impl KnownDirectory {
    /// Makes it of a path.
    #[must_use]
    pub fn new(origin: DirectoryOrigin, path: impl Into<PathBuf>) -> Self {
        Self { origin, path: path.into() }
    }

    /// Tells whether a client declares it as the project.
    pub(crate) fn is_declared(&self) -> bool {
        matches!(self.origin, DirectoryOrigin::Declared(_)) && self.path.is_absolute()
    }

    /// Makes it of a text, which may be a URI or name nothing.
    #[must_use]
    pub fn from_text(origin: DirectoryOrigin, text: &str, machine: &Machine) -> Option<Self> {
        directory_of_text(text, machine).map(|path| Self { origin, path })
    }

    /// Returns the directories that clients declare in the environment.
    #[must_use]
    pub fn declared(lookup: &dyn Fn(&str) -> Option<OsString>, machine: &Machine) -> Vec<Self> {
        let set = PROJECT_VARIABLES.iter().filter_map(|name| Some((*name, lookup(name)?)));
        set.flat_map(|(name, value)| {
            let whole = PathBuf::from(&value);
            let text = value.to_string_lossy().into_owned();
            let texts = if whole.exists() { vec![&*text] } else { text.split(',').collect() };
            let paths = texts.iter().filter_map(|text| directory_of_text(text, machine));
            paths.map(|path| Self::new(DirectoryOrigin::Declared(name), path)).collect::<Vec<_>>()
        })
        .collect()
    }
}
