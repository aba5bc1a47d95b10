//! What the table `[sessions]` means: which past sessions are left out. Not here: its keys (`table`), reading sessions (crate
//! `sessions`).

use std::path::Path;

use super::table::SessionPolicy;

impl SessionPolicy {
    /// Tells whether a session is left out. It may have been read before the settings said so.
    #[must_use]
    pub fn leaves_out(&self, tool: &str, repo: Option<&str>, directory: Option<&str>) -> bool {
        let is_named = |names: &[String], name: &str| names.iter().any(|listed| listed == name);
        self.is_held
            || is_named(&self.exclude_tools, tool)
            || repo.is_some_and(|repo| is_named(&self.exclude_repos, repo))
            || directory.is_some_and(|path| {
                self.exclude_paths.iter().any(|without| Path::new(path).starts_with(without))
            })
    }
}
