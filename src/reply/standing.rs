//! Where a memory stands today, for a page about it: its state, its verdicts, what it replaces, its links with titles.
//! Not here: what its own line says (`item`).

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::direction::direction;
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
    /// Its branch, where that is not merged in the caller's work tree.
    pub unmerged: Option<String>,
}

/// Where a memory stands, for programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingFields {
    /// Its first words.
    pub title: String,
    /// live, expired, superseded, retracted, archived or buried.
    pub state: String,
    /// candidate, established or proven.
    pub maturity: String,
    /// Whether a hook saw it once, and nothing has proven it.
    pub candidate: bool,
    /// Whether it does not age.
    pub pinned: bool,
    /// How often each verdict was given.
    pub verdicts: VerdictCounts,
    /// Who wrote it.
    pub written_by: WrittenBy,
    /// The repositories where somebody saved it or said something about it.
    pub seen_in: Vec<String>,
    /// The memory that replaces it.
    pub replaced_by: Option<TitledId>,
    /// The memories that it replaces.
    pub replaces: Vec<Option<LinkEnd>>,
    /// The links that hold now.
    pub links: Vec<StandingLink>,
    /// Its files that changed since it was last confirmed; null where no work tree tells.
    pub changed_files: Option<Vec<String>>,
    /// Its branch, where that is not merged in this work tree; absent where it is, or where nobody can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<String>,
}

/// How often each verdict was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictCounts {
    /// It worked.
    pub worked: u32,
    /// It failed.
    pub failed: u32,
    /// It does not hold any more.
    pub stale: u32,
    /// It is right.
    pub confirmed: u32,
}

/// Who wrote a memory, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenBy {
    /// The agent or person.
    pub agent: String,
    /// The machine.
    pub host: Option<String>,
    /// The session of the agent.
    pub session: Option<String>,
    /// Who vouches for it, such as agent or human.
    pub source: Option<String>,
    /// When.
    pub at: Option<String>,
}

/// A memory by its id and its first words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TitledId {
    /// Its id.
    pub id: String,
    /// Its first words; null where it is not known here.
    pub title: Option<String>,
}

/// A link of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingLink {
    /// The relation, such as `depends_on`.
    pub relation: String,
    /// outbound where it leads to the other end, otherwise inbound.
    pub direction: String,
    /// Its strength, 0 to 1.
    pub strength: f64,
    /// Who or what stated it.
    pub origin: String,
    /// The other end; null where it is gone.
    pub to: Option<LinkEnd>,
}

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum LinkEnd {
    /// A memory.
    Memory {
        /// Its id.
        id: String,
        /// Its first words.
        title: String,
        /// The key of its repository.
        repo: String,
    },
    /// A memory that is not known here.
    Absent(TitledId),
    /// A place in code.
    Code {
        /// The path of the file.
        file: String,
        /// The name in it.
        symbol: Option<String>,
        /// The key of its repository.
        repo: String,
    },
}

impl MemoryState<'_> {
    /// Returns it for programs.
    pub(super) fn fields(&self) -> StandingFields {
        let memory = &self.memory;
        let verdicts = memory.verdicts();
        let supersedes = |link: &&MemoryLink| link.is_outward && link.relation == "supersedes";
        let replaces = self.links.iter().filter(supersedes);
        let provenance = &memory.provenance;
        StandingFields {
            title: title(memory),
            state: self.state().to_owned(),
            maturity: memory.maturity().as_str().to_owned(),
            candidate: memory.is_candidate(),
            pinned: memory.lifecycle().is_pinned,
            verdicts: VerdictCounts {
                worked: verdicts.worked,
                failed: verdicts.failed,
                stale: verdicts.stale,
                confirmed: verdicts.confirmed,
            },
            written_by: WrittenBy {
                agent: provenance.agent_id.to_string(),
                host: memory.event().host,
                session: provenance.session_id.as_deref().map(str::to_owned),
                source: provenance.source.as_deref().map(str::to_owned),
                at: memory.timestamp.map(|at| at.to_string()),
            },
            seen_in: self.seen_in(),
            replaced_by: self.replaced_by(),
            replaces: replaces.map(|link| self.end(&link.to)).collect(),
            links: self.links.iter().map(|link| self.link(link)).collect(),
            changed_files: self.changed.clone(),
            unmerged: self.unmerged.clone(),
        }
    }

    fn state(&self) -> &'static str {
        match &self.memory.lifecycle().state {
            LifecycleState::Live if self.is_inactive => "expired",
            state => state.as_str(),
        }
    }

    fn replaced_by(&self) -> Option<TitledId> {
        let LifecycleState::Superseded { by } = &self.memory.lifecycle().state else { return None };
        let known = self.snapshot.memories().iter().find(|other| other.id == *by);
        Some(TitledId { id: by.to_string(), title: known.map(|other| title(other)) })
    }

    /// Returns the repositories where somebody saved it or said something about it.
    fn seen_in(&self) -> Vec<String> {
        let about = self.memory.about().iter().map(|version| &version.repo);
        let repos: BTreeSet<&RepoKey> = about.chain([&self.memory.repo]).collect();
        repos.into_iter().map(ToString::to_string).collect()
    }

    fn link(&self, link: &MemoryLink) -> StandingLink {
        StandingLink {
            relation: link.relation.to_owned(),
            direction: direction(link.is_outward).to_owned(),
            strength: link.strength.share(),
            origin: link.origin.clone(),
            to: self.end(&link.to),
        }
    }

    fn end(&self, node_ref: &NodeRef) -> Option<LinkEnd> {
        Some(match node_ref {
            NodeRef::Memory(number) => {
                let other = self.snapshot.memory(*number)?;
                let (id, repo) = (other.id.to_string(), other.repo.to_string());
                LinkEnd::Memory { id, title: title(other), repo }
            }
            NodeRef::Absent(id) => LinkEnd::Absent(TitledId { id: id.to_string(), title: None }),
            NodeRef::Code(place) => LinkEnd::Code {
                file: place.path.clone(),
                symbol: place.symbol.clone(),
                repo: place.repo.to_string(),
            },
        })
    }
}
