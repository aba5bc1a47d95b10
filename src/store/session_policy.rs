//! The table `[sessions]` of the settings: which past sessions are left out. Not here: the other settings (`config`), reading
//! sessions (crate `sessions`).

use std::path::{Path, PathBuf};

use toml::Table;

use super::tilde::expanded;

/// Which past sessions of other tools are left out of an import, and of the answers with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionPolicy {
    /// Tools, by name.
    pub without_tools: Vec<String>,
    /// Directories: transcripts below them, and sessions that began in them.
    pub without_paths: Vec<PathBuf>,
    /// Repositories, by key.
    pub without_repos: Vec<String>,
    /// Whether sessions that belong to no repository are read too.
    pub is_with_private: bool,
    /// Whether a key or value that this version does not know holds the table: then every session is left out.
    pub is_held: bool,
}

impl SessionPolicy {
    /// The policy of a table that is held.
    pub(super) const HELD: Self = Self {
        without_tools: Vec::new(),
        without_paths: Vec::new(),
        without_repos: Vec::new(),
        is_with_private: false,
        is_held: true,
    };

    pub(super) fn parse(table: Table) -> Result<Self, String> {
        let mut policy = Self::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("exclude_tools", value) => policy.without_tools = texts(&key, value)?,
                ("exclude_paths", value) => {
                    let paths = texts(&key, value)?;
                    policy.without_paths = paths.iter().map(|path| expanded(path)).collect();
                }
                ("exclude_repos", value) => policy.without_repos = texts(&key, value)?,
                ("private", toml::Value::Boolean(is_with)) => policy.is_with_private = is_with,
                (key, _) => {
                    return Err(format!(
                        "sessions: {key:?} is unknown or of a wrong type; allowed are exclude_tools, exclude_paths and \
                         exclude_repos, each a list of texts such as [\"codex\"], and private = true"
                    ));
                }
            }
        }
        Ok(policy)
    }

    /// Tells whether a session is left out. It may have been read before the settings said so.
    #[must_use]
    pub fn leaves_out(&self, tool: &str, repo: Option<&str>, directory: Option<&str>) -> bool {
        let is_named = |names: &[String], name: &str| names.iter().any(|one| one == name);
        self.is_held
            || is_named(&self.without_tools, tool)
            || repo.is_some_and(|repo| is_named(&self.without_repos, repo))
            || directory.is_some_and(|path| {
                self.without_paths.iter().any(|without| Path::new(path).starts_with(without))
            })
    }
}

fn texts(key: &str, value: toml::Value) -> Result<Vec<String>, String> {
    let texts: Result<Vec<String>, _> = value.try_into();
    texts.map_err(|_| format!("sessions: {key} must be a list of texts, for example [\"codex\"]"))
}
