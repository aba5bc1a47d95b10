//! Finds what the source or the target of a link names: a memory by its id, or a place in code. Not here: making and
//! ending links (`links`).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::citation::cited;
use super::{Local, memory_bound, repositories};
use event::{Node, Problems, RepoKey};
use memory::Memory;
use requests::ApiError;
use search::links::{CodePlace, NodeRef};
use search::snapshot::{Cited, Snapshot};

/// Finds the sources and targets of links in a snapshot.
pub(super) struct Ends<'a> {
    local: &'a Local,
    snapshot: &'a Snapshot,
    numbers: HashMap<&'a str, u32>,
}

/// The source or the target of a link.
pub(super) enum End {
    /// A memory, with its number.
    Memory((u32, Arc<Memory>)),
    /// A place in code.
    Code(Node),
}

impl<'a> Ends<'a> {
    pub(super) fn of(local: &'a Local, snapshot: &'a Snapshot) -> Self {
        let ids = snapshot.memories().iter().map(|memory| memory.id.as_str());
        Self { local, snapshot, numbers: ids.zip(0..).collect() }
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        self.snapshot
    }

    /// Reads a source or target: `code:` and a path, the id of a memory, or a text that can only be a path.
    pub(super) fn find(&self, field: &str, text: &str) -> Result<End, ApiError> {
        let refuse = |message: String| ApiError::Invalid(Problems::one(field, message));
        let text = text.trim();
        if let Some(code) = Node::parse_code(text) {
            return code.map(End::Code).map_err(refuse);
        }
        if let Some(number) = self.numbers.get(text)
            && let Some(memory) = self.snapshot.memory(*number)
        {
            return Ok(End::Memory((*number, Arc::clone(memory))));
        }
        match self.snapshot.cited(text) {
            Cited::None if is_path(text) => self.code(text).map(End::Code).map_err(refuse),
            Cited::None => {
                let hint = memory_bound::no_memory(text, self.snapshot.room());
                Err(ApiError::NotFound(format!("{hint}; write a file as code:path")))
            }
            _ => {
                let found = cited([&text.to_owned()], self.snapshot)?.pop();
                let memory = found.ok_or_else(|| refuse("names no memory".to_owned()))?;
                let number = self.numbers.get(memory.id.as_str()).copied().unwrap_or_default();
                Ok(End::Memory((number, memory)))
            }
        }
    }

    /// Reads a path, whatever it looks like.
    pub(super) fn file(&self, text: &str) -> Result<Node, Problems> {
        self.code(text.trim()).map_err(|message| Problems::one("file", message))
    }

    /// Reads a path, relative to the top of the work tree where it is absolute, with an optional symbol after `::`.
    fn code(&self, text: &str) -> Result<Node, String> {
        let (path, symbol) = match text.split_once("::") {
            Some((path, symbol)) => (path, Some(symbol)),
            None => (text, None),
        };
        Node::code(&below_the_top(self.local, path), symbol)
    }

    /// Finds the repository that a call names.
    pub(super) fn repo(&self, named: Option<&str>) -> Result<Option<RepoKey>, ApiError> {
        named.map(|named| repositories::named(self.local, named, self.snapshot)).transpose()
    }

    /// Returns the name of a node in a line of a log; `None` for a memory that is gone since.
    pub(super) fn node(&self, node_ref: &NodeRef) -> Option<Node> {
        match node_ref {
            NodeRef::Memory(number) => {
                self.snapshot.memory(*number).map(|memory| Node::of(memory.id.clone()))
            }
            NodeRef::Absent(id) => Some(Node::of(id.clone())),
            NodeRef::Code(place) => Node::code(&place.path, place.symbol.as_deref()).ok(),
        }
    }
}

impl End {
    pub(super) fn node(&self) -> Node {
        match self {
            Self::Memory((_, memory)) => Node::of(memory.id.clone()),
            Self::Code(node) => node.clone(),
        }
    }

    /// Returns the repository of a memory.
    pub(super) fn repo(&self) -> Option<RepoKey> {
        match self {
            Self::Memory((_, memory)) => Some(memory.repo.clone()),
            Self::Code(_) => None,
        }
    }

    /// Returns its node in the graph; a place in code belongs to `repo`.
    pub(super) fn node_ref(&self, repo: &RepoKey) -> NodeRef {
        match self {
            Self::Memory((number, _)) => NodeRef::Memory(*number),
            Self::Code(node) => CodePlace::of(node, repo)
                .map_or_else(|| NodeRef::Absent(node.id().clone()), NodeRef::Code),
        }
    }

    pub(super) fn words(&self) -> String {
        self.node().to_string()
    }
}

/// Refuses a file of the caller's own repository that does not exist there: a mistyped path would never be found again.
pub(super) fn refuse_missing(local: &Local, repo: &RepoKey, end: &End) -> Result<(), ApiError> {
    let End::Code(node) = end else { return Ok(()) };
    let git = local.place.as_ref().filter(|_| local.here.as_ref() == Some(repo));
    let (Some(git), Some(place)) = (git.and_then(|place| place.git()), CodePlace::of(node, repo))
    else {
        return Ok(());
    };
    if git.top.join(&*place.path).exists() {
        return Ok(());
    }
    let message = format!(
        "{} does not exist in {}; a path is named from the top of the repository, for example src/main.rs",
        place.path,
        git.top.display()
    );
    Err(Problems::one("target", message).into())
}

/// Tells whether a text that is no id of a memory can be a path.
pub(super) fn is_path(text: &str) -> bool {
    let file = text.split_once("::").map_or(text, |(file, _)| file);
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| !extension.is_empty());
    file.contains(['/', '\\']) || has_extension
}

/// Returns a path relative to the top of the caller's work tree, where it lies in that.
pub(super) fn below_the_top(local: &Local, path: &str) -> String {
    let git = local.place.as_ref().and_then(|place| place.git());
    let below = git.and_then(|git| Path::new(path).strip_prefix(&git.top).ok());
    below.and_then(Path::to_str).unwrap_or(path).to_owned()
}
