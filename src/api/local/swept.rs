//! Many memories at once: those that faded, and after an incident those of somebody. Shown first, and done only when
//! asked for. Not here: one by one (`changes`).

use std::sync::Arc;

use super::Local;
use crate::{ApiError, Doing, Sweep, SweepRequest, Voice};
use event::{Author, Draft, EventId, MemoryChange, Node, RepoKey, Timestamp};
use memory::{Fate, Lifecycle, LifecycleState, Memory, Version};
use reply::{Reply, Subject};
use search::snapshot::Snapshot;

/// One change of one memory, or of what is linked like one.
type Step = (Subject, MemoryChange);

impl Local {
    pub(super) fn swept(&self, request: &SweepRequest) -> Result<Reply, ApiError> {
        let snapshot = self.all()?;
        let now = (self.core.clock)().now;
        let steps = match &request.sweep {
            Sweep::Fade { repo } => {
                let repo = repo.as_deref().map(|repo| self.named(repo, &snapshot)).transpose()?;
                faded(&snapshot, repo.as_ref(), now)
            }
            Sweep::Purge(author) => purged(&snapshot, author),
            Sweep::Unpurge(author) => restored(&snapshot, author),
        };
        if request.extent == Doing::Do {
            for (subject, change) in &steps {
                let (node, voice) = (subject.node(), &Voice::Caller);
                let draft = self.draft_about(&node, subject.repo(), change.clone(), voice);
                self.recorded(Draft { lesson: request.note.clone(), ..draft })?;
            }
        }
        Ok(reply::swept(&steps, request.extent == Doing::Do))
    }
}

fn faded(snapshot: &Snapshot, repo: Option<&RepoKey>, now: Timestamp) -> Vec<Step> {
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

/// What somebody wrote is taken back, and what somebody said of the memories of others does not count.
fn purged(snapshot: &Snapshot, author: &Author) -> Vec<Step> {
    let mut steps = Vec::new();
    for memory in snapshot.memories().iter() {
        let is_discounted = memory.lifecycle().discounted.contains(author);
        let is_told = memory.about().iter().any(|version| author.wrote(&version.event));
        // First what they said: who takes back their own words means those of before.
        if is_told && !is_discounted {
            steps.push((subject(memory), MemoryChange::Discount { by: author.clone() }));
        }
        // What they hid themselves would be seen again.
        let life = match is_discounted {
            true => memory.lifecycle().life.clone(),
            false => memory.life_without(author),
        };
        if is_by(author, memory) && life != LifecycleState::Retracted {
            steps.push((subject(memory), MemoryChange::Retract));
        }
    }
    for (id, about) in early(snapshot) {
        if let Some(told) = about.iter().find(|version| author.wrote(&version.event))
            && !Lifecycle::of(about).discounted.contains(author)
        {
            let subject = Subject::Other(Node::of(id.clone()), told.repo.clone());
            steps.push((subject, MemoryChange::Discount { by: author.clone() }));
        }
    }
    steps
}

/// The other way round. What was forgotten for another reason comes back too, and is told before it does.
fn restored(snapshot: &Snapshot, author: &Author) -> Vec<Step> {
    let mut steps = Vec::new();
    for memory in snapshot.memories().iter() {
        if is_by(author, memory) && memory.lifecycle().life == LifecycleState::Retracted {
            steps.push((subject(memory), MemoryChange::Restore));
        }
        if memory.lifecycle().discounted.contains(author) {
            steps.push((subject(memory), MemoryChange::Recount { by: author.clone() }));
        }
    }
    for (id, about) in early(snapshot) {
        if let Some(told) = about.first()
            && Lifecycle::of(about).discounted.contains(author)
        {
            let subject = Subject::Other(Node::of(id.clone()), told.repo.clone());
            steps.push((subject, MemoryChange::Recount { by: author.clone() }));
        }
    }
    steps
}

fn subject(memory: &Arc<Memory>) -> Subject {
    Subject::Memory(Arc::clone(memory))
}

/// What was said of places in code and of memories that are not here, in the order of their ids.
fn early(snapshot: &Snapshot) -> Vec<(&EventId, &[Arc<Version>])> {
    let mut early: Vec<(&EventId, &[Arc<Version>])> = snapshot.early().collect();
    early.sort_by_key(|(id, _)| *id);
    early
}

fn is_by(author: &Author, memory: &Memory) -> bool {
    author.is(&memory.setting.agent_id, memory.setting.session_id.as_deref())
}
