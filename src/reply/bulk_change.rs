//! The result of a change of many memories as text: counts, and the first of them by name. Not here: making the
//! change (`api`).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::line::{MemoryBody, date, mark, name};
use super::reply::Reply;
use event::{MemoryChange, Node, RepoKey};
use memory::Memory;

/// Changes that are listed; the JSON has all.
const TOLD_MAX: usize = 20;
/// Longest line, in bytes.
const LINE_BYTES: usize = 160;

/// The subject of a change.
#[derive(Debug, Clone)]
pub enum ChangeSubject {
    /// A memory.
    Memory(Arc<Memory>),
    /// A place in code, or an unknown memory, of a repository.
    Other(Node, RepoKey),
}

impl ChangeSubject {
    /// Returns its name in a line.
    #[must_use]
    pub fn node(&self) -> Node {
        match self {
            Self::Memory(memory) => Node::from_id(memory.id.clone()),
            Self::Other(node, _) => node.clone(),
        }
    }

    /// Returns its repository.
    #[must_use]
    pub fn repo(&self) -> &RepoKey {
        match self {
            Self::Memory(memory) => &memory.repo,
            Self::Other(_, repo) => repo,
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Memory(memory) => {
                let body = MemoryBody::new(memory, &|_| 0.0).shown(LINE_BYTES);
                format!("[{}] {}{body} · {}", date(memory), mark(memory), memory.id.short())
            }
            Self::Other(node, repo) => {
                format!("{} · {}", name(&node.to_string()), name(repo.short_name()))
            }
        }
    }
}

/// Writes the changes that were made, or would be.
#[must_use]
pub fn bulk_change(steps: &[(ChangeSubject, MemoryChange)], is_done: bool) -> Reply {
    let listed: Vec<Value> = steps
        .iter()
        .map(|(subject, change)| json!({ "id": subject.node().id().as_str(), "repo": subject.repo().as_str(), "change": change.event_type() }))
        .collect();
    let json = json!({ "done": is_done, "changes": listed });
    if steps.is_empty() {
        return Reply::new("Nothing to do.".to_owned(), json);
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, change) in steps {
        *counts.entry(change.event_type()).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let head = if is_done { "Done" } else { "With --apply, this would be done" };
    let mut text = format!("{head}: {}.\n", counts.join(", "));
    for (subject, change) in steps.iter().take(TOLD_MAX) {
        let _ = write!(text, "\n- {}: {}", change.event_type(), subject.line());
    }
    if let Some(more) = steps.len().checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        let _ = write!(text, "\n… and {more} more (--json lists all)");
    }
    Reply::new(text, json)
}
