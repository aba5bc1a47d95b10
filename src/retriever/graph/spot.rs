//! What can stand in the graph: a memory that is here, a memory that is not, a place in the code of a repository. Not
//! here: how they hang together (`links`).

use crate::event::{EventId, Node, RepoKey};

/// One thing in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
    /// The memory of this number in the snapshot.
    Memory(u32),
    /// A memory that was left out, or has not come yet.
    Absent(EventId),
    /// A place in code.
    Code(Place),
}

/// A place in the code of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The repository.
    pub repo: RepoKey,
    /// The path of a file below its root, as it was named.
    pub path: String,
    /// What in the file, where that was said.
    pub symbol: Option<String>,
}

impl Place {
    /// Reads the place that a node names in a repository; `None` for a memory.
    #[must_use]
    pub fn of(node: &Node, repo: &RepoKey) -> Option<Self> {
        let (path, symbol) = node.place()?;
        Some(Self { repo: repo.clone(), path, symbol })
    }
}

/// Tells whether two paths are of one file as far as they say: one is the end of the other, from a folder on.
#[must_use]
pub fn same_file(one: &str, other: &str) -> bool {
    let (one, other) = (bare(one), bare(other));
    is_end(one, other) || is_end(other, one)
}

fn bare(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}

fn is_end(whole: &str, end: &str) -> bool {
    !end.is_empty()
        && whole
            .strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_by_its_end() {
        for (one, other, is_same) in [
            ("src/a.rs", "src/a.rs", true),
            ("./src/a.rs", "a.rs", true),
            ("a.rs", "/work/api/src/a.rs", true),
            ("src/a.rs", "src/ba.rs", false),
            ("", "src/a.rs", false),
        ] {
            assert_eq!(same_file(one, other), is_same, "{one} {other}");
            assert_eq!(same_file(other, one), is_same, "{other} {one}");
        }
    }
}
