//! Finds what the source or the target of a link names: a memory by its id, or a place in code. Not here: making and
//! ending links (`change::links`).

use std::collections::HashMap;
use std::sync::Arc;

use crate::local::Local;
use crate::local::citation::{cited_memories, no_memory_notice};
use event::{Node, Problems, RepoKey};
use memory::Memory;
use requests::ApiError;
use search::links::{CodePlace, NodeRef};
use search::snapshot::{CitedMemory, Snapshot};

/// Finds the sources and targets of links in a snapshot.
pub(crate) struct LinkEndFinder<'a> {
    local: &'a Local,
    pub(crate) snapshot: &'a Snapshot,
    numbers: HashMap<&'a str, u32>,
}

/// The source or the target of a link, or the start of a walk.
pub(crate) enum LinkEnd {
    /// A memory, with its number.
    Memory(u32, Arc<Memory>),
    /// A place in code.
    Code(Node),
}

impl<'a> LinkEndFinder<'a> {
    pub(crate) fn new(local: &'a Local, snapshot: &'a Snapshot) -> Self {
        let ids = snapshot.memories().iter().map(|memory| memory.id.as_str());
        Self { local, snapshot, numbers: ids.zip(0..).collect() }
    }

    /// Reads a source or target: `code:` and a path, the id of a memory, or a text that can only be a path.
    pub(crate) fn find(&self, field: &str, text: &str) -> Result<LinkEnd, ApiError> {
        let refuse = |message: String| ApiError::Invalid(Problems::one(field, message));
        let text = text.trim();
        if let Some(code) = Node::parse_code(text) {
            return code.and_then(|code| self.seen(code)).map(LinkEnd::Code).map_err(refuse);
        }
        if let Some(number) = self.numbers.get(text)
            && let Some(memory) = self.snapshot.memory(*number)
        {
            return Ok(LinkEnd::Memory(*number, Arc::clone(memory)));
        }
        match self.snapshot.find_cited(text) {
            CitedMemory::None if is_path(text) => {
                self.code(text).map(LinkEnd::Code).map_err(refuse)
            }
            CitedMemory::None => {
                let hint = no_memory_notice(text, self.snapshot.memory_usage());
                Err(ApiError::NotFound(format!("{hint}; write a file as code:path")))
            }
            _ => {
                let found = cited_memories([&text.to_owned()], self.snapshot)?.pop();
                let memory = found.ok_or_else(|| refuse("names no memory".to_owned()))?;
                let number = self.numbers.get(memory.id.as_str()).copied().unwrap_or_default();
                Ok(LinkEnd::Memory(number, memory))
            }
        }
    }

    /// Reads a path, whatever it looks like.
    pub(crate) fn file(&self, text: &str) -> Result<Node, Problems> {
        self.code(text.trim()).map_err(|message| Problems::one("file", message))
    }

    /// Reads a path as seen from the caller's directory, with an optional symbol after `::`.
    fn code(&self, text: &str) -> Result<Node, String> {
        let (path, symbol) = match text.split_once("::") {
            Some((path, symbol)) => (path, Some(symbol)),
            None => (text, None),
        };
        Node::code(&self.local.kept_path(path, None).text, symbol)
    }

    /// Returns a place in code, as seen from the caller's directory.
    fn seen(&self, code: Node) -> Result<Node, String> {
        let Some((path, symbol)) = code.place() else { return Ok(code) };
        Node::code(&self.local.kept_path(&path, None).text, symbol.as_deref())
    }

    /// Returns the name of a node in a line of a log; `None` for a memory that is gone since.
    pub(crate) fn node(&self, node_ref: &NodeRef) -> Option<Node> {
        match node_ref {
            NodeRef::Memory(number) => {
                self.snapshot.memory(*number).map(|memory| Node::from_id(memory.id.clone()))
            }
            NodeRef::Absent(id) => Some(Node::from_id(id.clone())),
            NodeRef::Code(place) => Node::code(&place.path, place.symbol.as_deref()).ok(),
        }
    }
}

impl LinkEnd {
    pub(crate) fn node(&self) -> Node {
        match self {
            Self::Memory(_, memory) => Node::from_id(memory.id.clone()),
            Self::Code(node) => node.clone(),
        }
    }

    /// Returns the repository of a memory.
    pub(crate) fn repo(&self) -> Option<RepoKey> {
        match self {
            Self::Memory(_, memory) => Some(memory.repo.clone()),
            Self::Code(_) => None,
        }
    }

    /// Returns its node in the graph; a place in code belongs to `repo`.
    pub(crate) fn node_ref(&self, repo: &RepoKey) -> NodeRef {
        match self {
            Self::Memory(number, _) => NodeRef::Memory(*number),
            Self::Code(node) => CodePlace::from_node(node, repo)
                .map_or_else(|| NodeRef::Absent(node.id().clone()), NodeRef::Code),
        }
    }
}

/// Refuses a file of the caller's own repository that does not exist there: a mistyped path would never be found again.
pub(crate) fn refuse_missing(
    local: &Local,
    repo: &RepoKey,
    node: &LinkEnd,
) -> Result<(), ApiError> {
    let LinkEnd::Code(node) = node else { return Ok(()) };
    let git = local.place.as_ref().filter(|_| local.here.as_ref() == Some(repo));
    let (Some(git), Some(place)) =
        (git.and_then(|place| place.git()), CodePlace::from_node(node, repo))
    else {
        return Ok(());
    };
    if git.top.join(&*place.path).exists() {
        return Ok(());
    }
    let message = format!(
        "no such file: {} in {}; name a file from where you stand or from the top of the repository, for example src/main.rs",
        place.path,
        git.top.display()
    );
    Err(Problems::one("target", message).into())
}

/// Tells whether a text that is no id of a memory can be a path.
pub(crate) fn is_path(text: &str) -> bool {
    let file = text.split_once("::").map_or(text, |(file, _)| file);
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| !extension.is_empty());
    file.contains(['/', '\\']) || has_extension
}
