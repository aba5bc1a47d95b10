//! Who says what about a memory: which change each event makes, and whose verdict it is. What another origin does to a
//! memory counts only if it is trusted (SPEC S-ORIGIN-4). Not here: what all changes add up to (`lifecycle`, `ties`).

use std::sync::Arc;

use super::line_place::LineOrigin;
use super::version::Version;
use event::{Event, MemoryChange, StoreOrigin, Verdict};

/// The origin of a memory that has only one. What that one does to it counts.
pub type OnlyOrigin<'a> = Option<&'a LineOrigin>;

/// The voice of a verdict. An agent has one verdict per session, the latest; without a session one per day. An origin that is
/// not trusted has one, whatever names it uses.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Voice {
    origin: Option<StoreOrigin>,
    agent: String,
    session: Option<String>,
    day: Option<i64>,
}

const SECONDS_OF_DAY: i64 = 24 * 3_600;

impl Voice {
    pub(super) fn from_version(version: &Version) -> Self {
        match &version.place.log.origin {
            LineOrigin::Voice(origin) => {
                let (origin, agent) = (Some(origin.clone()), String::new());
                Self { origin, agent, session: None, day: None }
            }
            known => Self { origin: known.other().cloned(), ..Self::of_own(&version.event) },
        }
    }

    fn of_own(event: &Event) -> Self {
        let session = event.session_id.clone();
        let day = event.timestamp.map(|at| at.as_second().div_euclid(SECONDS_OF_DAY));
        let day = day.filter(|_| session.is_none());
        Self { origin: None, agent: event.agent_id.trim().to_lowercase(), session, day }
    }
}

/// Tells whether two events of the own store come from one voice (S-LIFE-2): one agent in one session; without a
/// session, on one day.
#[must_use]
pub fn is_one_voice(one: &Event, other: &Event) -> bool {
    Voice::of_own(one) == Voice::of_own(other)
}

/// Returns the change that each event makes to a memory with this only origin, if it has one. `about` must be sorted by
/// id. An event that several origins have counts once, for the one with the most say.
pub(super) fn changes<'a>(
    about: &'a [Arc<Version>],
    of: OnlyOrigin<'_>,
) -> Vec<(&'a Version, MemoryChange)> {
    let mut changes = Vec::with_capacity(about.len());
    for same_id in about.chunk_by(|one, other| one.event.id == other.event.id) {
        for version in counted(same_id) {
            let change = MemoryChange::from_event(&version.event);
            let change = change.and_then(|change| allowed(change, &version.place.log.origin, of));
            changes.extend(change.map(|change| (version, change)));
        }
    }
    changes
}

/// Selects the contents that count under one id: the first of each origin, and of equal ones that with the most say.
fn counted(same_id: &[Arc<Version>]) -> Vec<&Version> {
    let mut firsts: Vec<&Version> = Vec::with_capacity(1);
    for version in same_id {
        let is_known = |first: &&Version| first.place.log.origin.is_same(&version.place.log.origin);
        if !firsts.iter().any(is_known) {
            firsts.push(version);
        }
    }
    // The order of origins is the order of their say.
    firsts.sort_by(|one, other| one.place.log.origin.cmp(&other.place.log.origin));
    let mut counted: Vec<&Version> = Vec::with_capacity(firsts.len());
    for version in firsts {
        if !counted.iter().any(|known| known.content_digest() == version.content_digest()) {
            counted.push(version);
        }
    }
    counted
}

/// Tells whether the word of an origin decides about a memory: our own, a trusted one, and that of the memory, if it has only one.
pub(super) fn decides(by: &LineOrigin, of: OnlyOrigin<'_>) -> bool {
    !matches!(by, LineOrigin::Voice(_)) || of.is_some_and(|of| of.is_same(by))
}

/// Returns what a change of an origin amounts to.
fn allowed(change: MemoryChange, by: &LineOrigin, of: OnlyOrigin<'_>) -> Option<MemoryChange> {
    if decides(by, of) {
        return Some(change);
    }
    match change {
        MemoryChange::Feedback(_) | MemoryChange::Link(_) => Some(change),
        MemoryChange::Supersede { .. } | MemoryChange::Retract => {
            Some(MemoryChange::Feedback(Verdict::Stale))
        }
        MemoryChange::Archive
        | MemoryChange::Bury
        | MemoryChange::Restore
        | MemoryChange::Distinct { .. }
        | MemoryChange::Pin
        | MemoryChange::Unpin
        | MemoryChange::Discount { .. }
        | MemoryChange::Recount { .. }
        | MemoryChange::Unlink { .. } => None,
    }
}
