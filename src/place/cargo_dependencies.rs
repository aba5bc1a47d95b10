//! The members of a workspace of Cargo that no list names: "All path dependencies residing in the workspace directory automatically
//! become members" (The Cargo Book, Workspaces, "The members and exclude fields"). Not here: its lists (`workspace_file`).

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use crate::small_file::small_text;
use crate::wild_pattern::{Star, matches};
use crate::workspace_file::Workspace;
use crate::workspace_text::path_values;

/// Most manifests that are read for one answer, and most folders that the patterns of a workspace match.
const MANIFESTS_MAX: usize = 512;

/// Most folders that are listed for one pattern.
const LISTED_MAX: usize = 64;

/// The crates that the members of a workspace depend on by their paths.
pub(crate) struct PathDependencies<'a> {
    root: &'a Path,
    workspace: &'a Workspace,
}

impl<'a> PathDependencies<'a> {
    pub(crate) fn new(root: &'a Path, workspace: &'a Workspace) -> Self {
        Self { root, workspace }
    }

    /// Tells whether a member, or a crate that one depends on, depends on a folder, given by its path below the workspace.
    pub(crate) fn lead_to(&self, below: &str) -> bool {
        if self.workspace.leaves_out(below) {
            return false;
        }
        let mut waiting: VecDeque<String> =
            self.workspace.patterns().flat_map(|pattern| self.matching(pattern)).collect();
        let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
        for _ in 0..MANIFESTS_MAX {
            let Some(member) = waiting.pop_front() else { return false };
            let manifest = self.root.join(&member).join("Cargo.toml");
            let paths = small_text(&manifest).map(|text| path_values(&text)).unwrap_or_default();
            for path in paths.iter().filter_map(|path| joined(&member, path)) {
                if path == below {
                    return true;
                }
                if !self.workspace.leaves_out(&path) && seen.insert(path.clone()) {
                    waiting.push_back(path);
                }
            }
        }
        false
    }

    /// Returns the folders that a pattern matches; two stars count as one.
    fn matching(&self, pattern: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        for part in pattern.split('/') {
            let is_plain = !part.contains(['*', '?', '[']);
            let step = |folder: &String| match is_plain {
                true => vec![below_folder(folder, part)],
                false => self.listed(folder, part),
            };
            let next = found.iter().take(LISTED_MAX).flat_map(step);
            found = next.take(MANIFESTS_MAX).collect();
        }
        found
    }

    fn listed(&self, folder: &str, pattern: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let names = names.filter(|name| matches(pattern, name, Star::OnePart));
        names.take(MANIFESTS_MAX).map(|name| below_folder(folder, &name)).collect()
    }
}

fn below_folder(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Returns the folder that a path leads to from a folder of the workspace on; `None` where it is outside of it.
fn joined(folder: &str, path: &str) -> Option<String> {
    if Path::new(path).is_absolute() {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_workspace() {
        for (folder, path, expected) in [
            ("crates/web", "../core", Some("crates/core")),
            ("crates/web", "../../tools/gen/", Some("tools/gen")),
            ("crates/web", "./macros", Some("crates/web/macros")),
            ("", "util", Some("util")),
            ("crates", "../../other", None),
            ("crates", "/srv/other", None),
        ] {
            assert_eq!(joined(folder, path).as_deref(), expected, "{folder} {path}");
        }
    }
}
