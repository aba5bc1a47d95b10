//! Changes of many memories at once: fading, and retracting everything of an author after an incident. They are shown
//! first and done only on request. Not here: single changes (`change`).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Local, repositories, snapshots, write};
use event::{Author, Draft, EventId, MemoryChange, Node, RepoKey, Timestamp};
use memory::{Fate, IdShare, Lifecycle, LifecycleState, Memory, Version};
use reply::{ChangeSubject, Reply};
use requests::{ApiError, ChangeExtent, Sweep, SweepRequest, Voice};
use search::snapshot::Snapshot;

/// One change of one memory, or of another node of the graph.
type SweepStep = (ChangeSubject, MemoryChange);

pub(super) fn sweep(local: &Local, request: &SweepRequest) -> Result<Reply, ApiError> {
    let snapshot = snapshots::complete_snapshot(local)?;
    let now = local.core.now();
    let steps = match &request.sweep {
        Sweep::Fade { repo } => {
            let repo = repo
                .as_deref()
                .map(|repo| repositories::named_repo(local, repo, &snapshot))
                .transpose()?;
            faded(&snapshot, repo.as_ref(), now)
        }
        Sweep::Purge(author) => purged(&snapshot, author),
        Sweep::Unpurge(author) => restored(&snapshot, author),
    };
    if request.extent == ChangeExtent::Do {
        for (subject, change) in &steps {
            let (node, voice) = (subject.node(), &Voice::Caller);
            let draft = write::draft_about(local, &node, subject.repo(), change.clone(), voice);
            write::record(local, Draft { lesson: request.note.clone(), ..draft })?;
        }
    }
    Ok(reply::bulk_change(&steps, request.extent == ChangeExtent::Do))
}

fn faded(snapshot: &Snapshot, repo: Option<&RepoKey>, now: Timestamp) -> Vec<SweepStep> {
    let keys = repo.map(|repo| snapshot.keys_of(repo));
    let memories = snapshot.memories().iter();
    let of_repo =
        memories.filter(|memory| keys.as_ref().is_none_or(|keys| keys.contains(&memory.repo)));
    let step = |memory: &Arc<Memory>| match memory.fate(now) {
        Fate::Stays => None,
        Fate::Archived => Some((subject(memory), MemoryChange::Archive)),
        Fate::Buried => Some((subject(memory), MemoryChange::Bury)),
    };
    of_repo.filter_map(step).collect()
}

/// Retracts what an author wrote, and discounts what the author said of other memories.
fn purged(snapshot: &Snapshot, author: &Author) -> Vec<SweepStep> {
    let mut steps = Vec::new();
    let of_others = of_others(snapshot, author);
    for memory in snapshot.first_of_ids() {
        let is_discounted = memory.lifecycle().discounted.contains(author);
        let is_told = memory.about().iter().any(|version| author.wrote(&version.event));
        // The discount comes first: a retraction by the author of their own words refers to those before it.
        if is_told && !is_discounted {
            steps.push((subject(memory), MemoryChange::Discount { by: author.clone() }));
        }
        // A memory that its author hid would become visible again once the author's words do not count.
        let life = match is_discounted {
            true => memory.lifecycle().state.clone(),
            false => memory.state_without(author),
        };
        let is_all_by = is_by(author, memory) && !of_others.contains(&memory.id);
        if is_all_by && life != LifecycleState::Retracted {
            steps.push((subject(memory), MemoryChange::Retract));
        }
    }
    for (id, about) in early(snapshot) {
        if let Some(version) = about.iter().find(|version| author.wrote(&version.event))
            && !Lifecycle::from_versions(about, None).discounted.contains(author)
        {
            let subject = ChangeSubject::Other(Node::from_id(id.clone()), version.repo.clone());
            steps.push((subject, MemoryChange::Discount { by: author.clone() }));
        }
    }
    steps
}

/// Returns the ids that somebody else has memories of, too. A retraction is about an id, so it would hit theirs.
fn of_others<'a>(snapshot: &'a Snapshot, author: &Author) -> BTreeSet<&'a EventId> {
    let shared = snapshot.memories().iter().filter(|memory| memory.id_share() != IdShare::Alone);
    shared.filter(|memory| !is_by(author, memory)).map(|memory| &memory.id).collect()
}

/// Undoes a purge. Memories that were forgotten for another reason come back too; they are shown before that happens.
fn restored(snapshot: &Snapshot, author: &Author) -> Vec<SweepStep> {
    let mut steps = Vec::new();
    for memory in snapshot.first_of_ids() {
        if is_by(author, memory) && memory.lifecycle().state == LifecycleState::Retracted {
            steps.push((subject(memory), MemoryChange::Restore));
        }
        if memory.lifecycle().discounted.contains(author) {
            steps.push((subject(memory), MemoryChange::Recount { by: author.clone() }));
        }
    }
    for (id, about) in early(snapshot) {
        if let Some(version) = about.first()
            && Lifecycle::from_versions(about, None).discounted.contains(author)
        {
            let subject = ChangeSubject::Other(Node::from_id(id.clone()), version.repo.clone());
            steps.push((subject, MemoryChange::Recount { by: author.clone() }));
        }
    }
    steps
}

fn subject(memory: &Arc<Memory>) -> ChangeSubject {
    ChangeSubject::Memory(Arc::clone(memory))
}

/// Returns the events about places in code and about unknown memories, by id.
fn early(snapshot: &Snapshot) -> Vec<(&EventId, &[Arc<Version>])> {
    let mut early: Vec<(&EventId, &[Arc<Version>])> = snapshot.early().collect();
    early.sort_by_key(|(id, _)| *id);
    early
}

fn is_by(author: &Author, memory: &Memory) -> bool {
    author.matches(&memory.provenance.agent_id, memory.provenance.session_id.as_deref())
}
