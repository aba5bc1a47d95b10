//! A node of the graph: a memory, an unknown memory, or a place in the code of a repository. Not here: its links
//! (`stated_links`).

use event::{EventId, Node, RepoKey};

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeRef {
    /// The memory of this number in the snapshot.
    Memory(u32),
    /// An unknown memory: left out, or not read yet.
    Absent(EventId),
    /// A place in code.
    Code(CodePlace),
}

/// A place in the code of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodePlace {
    /// The repository.
    pub repo: RepoKey,
    /// The path of a file below its root, as it was named.
    pub path: String,
    /// The symbol in the file, where one was given.
    pub symbol: Option<String>,
}

impl CodePlace {
    /// Reads the place that a node names in a repository; `None` for a memory.
    #[must_use]
    pub fn from_node(node: &Node, repo: &RepoKey) -> Option<Self> {
        let (path, symbol) = node.place()?;
        Some(Self { repo: repo.clone(), path, symbol })
    }
}
