//! Where a memory stands today, for a page about it: its state, its verdicts, what it replaces, its links with titles.
//! Not here: what its own line says (`item`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::line::title;
use event::{RepoKey, Strength};
use memory::{LifecycleState, Memory};
use search::links::NodeRef;
use search::snapshot::Snapshot;

/// One link of a memory.
#[derive(Debug, Clone)]
pub struct MemoryLink {
    /// The other end.
    pub to: NodeRef,
    /// The relation.
    pub relation: &'static str,
    /// Whether it leads to the other end.
    pub is_outward: bool,
    /// Its strength.
    pub strength: Strength,
    /// Who or what stated it.
    pub origin: String,
}

/// Where a memory stands.
#[derive(Debug, Clone)]
pub struct MemoryState<'a> {
    /// The snapshot it stands in.
    pub snapshot: &'a Snapshot,
    /// The memory.
    pub memory: Arc<Memory>,
    /// Whether it does not answer queries, for whatever reason.
    pub is_inactive: bool,
    /// The links that hold now.
    pub links: Vec<MemoryLink>,
    /// Its files that changed since it was last confirmed; `None` where no work tree tells.
    pub changed: Option<Vec<String>>,
}

impl MemoryState<'_> {
    /// Returns it for programs.
    pub(super) fn json(&self) -> Value {
        let memory = &self.memory;
        let verdicts = memory.verdicts();
        let state = match &memory.lifecycle().state {
            LifecycleState::Live if self.is_inactive => "expired",
            state => state.as_str(),
        };
        let replaced_by = match &memory.lifecycle().state {
            LifecycleState::Superseded { by } => {
                let known = self.snapshot.memories().iter().find(|other| other.id == *by);
                json!({ "id": by.as_str(), "title": known.map(|other| title(other)) })
            }
            _ => Value::Null,
        };
        let supersedes = |link: &&MemoryLink| link.is_outward && link.relation == "supersedes";
        let replaces: Vec<Value> =
            self.links.iter().filter(supersedes).map(|link| self.end(&link.to)).collect();
        let provenance = &memory.provenance;
        json!({
            "title": title(memory), "state": state, "maturity": memory.maturity().as_str(),
            "candidate": memory.is_candidate(), "pinned": memory.lifecycle().is_pinned,
            "verdicts": { "worked": verdicts.worked, "failed": verdicts.failed,
                "stale": verdicts.stale, "confirmed": verdicts.confirmed },
            "written_by": { "agent": provenance.agent_id, "host": memory.event().host,
                "session": provenance.session_id, "source": provenance.source,
                "at": memory.timestamp.map(|at| at.to_string()) },
            "seen_in": self.seen_in(), "replaced_by": replaced_by, "replaces": replaces,
            "links": self.links.iter().map(|link| self.link(link)).collect::<Vec<_>>(),
            "changed_files": self.changed,
        })
    }

    /// Returns the repositories where somebody saved it or said something about it.
    fn seen_in(&self) -> Vec<String> {
        let about = self.memory.about().iter().map(|version| &version.repo);
        let repos: BTreeSet<&RepoKey> = about.chain([&self.memory.repo]).collect();
        repos.into_iter().map(ToString::to_string).collect()
    }

    fn link(&self, link: &MemoryLink) -> Value {
        json!({
            "relation": link.relation, "direction": if link.is_outward { "outbound" } else { "inbound" },
            "strength": link.strength.share(), "origin": link.origin, "to": self.end(&link.to),
        })
    }

    fn end(&self, node_ref: &NodeRef) -> Value {
        match node_ref {
            NodeRef::Memory(number) => self.snapshot.memory(*number).map_or(Value::Null, |other| {
                json!({ "id": other.id.as_str(), "title": title(other), "repo": other.repo.as_str() })
            }),
            NodeRef::Absent(id) => json!({ "id": id.as_str(), "title": null }),
            NodeRef::Code(place) => {
                json!({ "file": place.path, "symbol": place.symbol, "repo": place.repo.as_str() })
            }
        }
    }
}
