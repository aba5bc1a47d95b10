//! What an import may read: tools, roots, and what is left out. Not here: the import (`session_import`).

use std::path::{Path, PathBuf};

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
}

impl ImportScope {
    pub(super) fn has_tool(&self, name: &str) -> bool {
        let is_named = |names: &[String]| names.iter().any(|tool| tool == name);
        (self.tools.is_empty() || is_named(&self.tools)) && !is_named(&self.without_tools)
    }

    pub(super) fn has_path(&self, path: &Path) -> bool {
        !self.without_paths.iter().any(|without| path.starts_with(without))
    }
}
