//! What an import may read: tools, roots, and what is left out. Not here: the import (`session_import`).

use event::RepoKey;
use place::Machine;
use std::path::{Path, PathBuf};

use super::stored_exchange::hash;

/// What may be read.
#[derive(Debug, Clone, Default)]
pub struct ImportScope {
    /// Only these tools; empty for all.
    pub tools: Vec<String>,
    /// Further roots, by tool.
    pub roots: Vec<(String, PathBuf)>,
    /// Tools that are left out.
    pub without_tools: Vec<String>,
    /// Directories that are left out: transcripts below them, and sessions that began in them.
    pub without_paths: Vec<PathBuf>,
    /// Repositories that are left out, by key.
    pub without_repos: Vec<String>,
    /// Whether sessions that belong to no repository are read.
    pub is_with_private: bool,
    /// The machine on which directories of sessions are looked up.
    pub machine: Machine,
    /// The repositories of the store, by which a directory that is gone may be known.
    pub known_repos: Vec<RepoKey>,
    /// The work trees at hand, whose repositories count as known too.
    pub work_trees: Vec<PathBuf>,
}

impl ImportScope {
    pub(super) fn has_tool(&self, name: &str) -> bool {
        let is_named = |names: &[String]| names.iter().any(|tool| tool == name);
        (self.tools.is_empty() || is_named(&self.tools)) && !is_named(&self.without_tools)
    }

    /// Names the choice of what is left out of a file that is read: equal choices have equal names.
    pub(super) fn choice(&self) -> i64 {
        let mut repos: Vec<&[u8]> = self.without_repos.iter().map(String::as_bytes).collect();
        let mut paths: Vec<&[u8]> =
            self.without_paths.iter().map(|path| path.as_os_str().as_encoded_bytes()).collect();
        repos.sort_unstable();
        paths.sort_unstable();
        let private: &[u8] = if self.is_with_private { b"with private" } else { b"" };
        hash(
            &[&[private, b"repositories"], repos.as_slice(), &[b"paths"], paths.as_slice()]
                .concat(),
        )
    }

    pub(super) fn has_path(&self, path: &Path) -> bool {
        !self.without_paths.iter().any(|without| path.starts_with(without))
    }
}
