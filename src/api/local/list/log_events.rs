//! Answers what the events of the logs did. It looks at the times, authors and repositories of all events, which are in
//! memory, and reads the records of those that are shown. Not here: the words of the reply (`reply`).

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::page_end::PageEnd;
use crate::local::snapshots::bound_notice;
use crate::local::{Local, citation, repositories};
use event::{Event, EventId, FEEDBACK, RepoKey, Timestamp};
use memory::{IdShare, Memory, Version};
use reply::{DayCounts, LoggedAction, LoggedEvent, NamedMemories, Reply};
use requests::log_events::{AuditRequest, HistoryRequest, TimelineRequest};
use requests::{ApiError, LogEventsRequest};
use search::snapshot::Snapshot;

const DAY_SECONDS: i64 = 24 * 3_600;

pub(crate) fn log_events(
    local: &Local,
    request: &LogEventsRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    match request {
        LogEventsRequest::Timeline(request) => timeline(local, request, snapshot),
        LogEventsRequest::History(request) => history(request, snapshot),
        LogEventsRequest::Audit(request) => audit(local, request, snapshot),
    }
}

/// Says that events of memories that were left out are in the logs alone.
fn notices(snapshot: &Snapshot) -> Vec<String> {
    bound_notice(snapshot.memory_usage()).into_iter().collect()
}

/// A line of a log, before its record is read.
#[derive(Clone, Copy)]
enum LoggedLine<'a> {
    /// The one that makes a memory.
    Memory(&'a Arc<Memory>),
    /// Another content under the id of a memory.
    Conflict(&'a Version, &'a Arc<Memory>),
    /// One about a memory, or about a place in code.
    About(&'a Version, &'a EventId, Option<&'a Arc<Memory>>),
}

/// A line with its time.
type TimedLine<'a> = (Option<Timestamp>, LoggedLine<'a>);

/// Orders lines by time, the newest first; the others break ties.
fn newest_first(a: &TimedLine<'_>, b: &TimedLine<'_>) -> Ordering {
    b.0.cmp(&a.0).then_with(|| b.1.place().cmp(&a.1.place()))
}

impl<'a> LoggedLine<'a> {
    fn memory(&self) -> Option<&'a Arc<Memory>> {
        match self {
            Self::Memory(memory) | Self::Conflict(_, memory) => Some(memory),
            Self::About(_, _, memory) => *memory,
        }
    }

    fn id(&self) -> &'a EventId {
        match self {
            Self::Memory(memory) => &memory.id,
            Self::Conflict(version, _) | Self::About(version, ..) => &version.event.id,
        }
    }

    fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Memory(memory) => memory.timestamp,
            Self::Conflict(version, _) | Self::About(version, ..) => version.event.timestamp,
        }
    }

    fn agent(&self) -> &'a str {
        match self {
            Self::Memory(memory) => &memory.provenance.agent_id,
            Self::Conflict(version, _) | Self::About(version, ..) => &version.event.agent_id,
        }
    }

    fn offset(&self) -> u64 {
        match self {
            Self::Memory(memory) => memory.offset,
            Self::Conflict(version, _) | Self::About(version, ..) => version.place.offset,
        }
    }

    fn deed(&self) -> LoggedAction {
        match self {
            Self::Memory(_) => LoggedAction::Added,
            Self::Conflict(..) => LoggedAction::Changed,
            Self::About(version, ..) if version.event.event_type.as_str() == FEEDBACK => {
                LoggedAction::Feedback
            }
            Self::About(..) => LoggedAction::Changed,
        }
    }

    /// Its place in the order; the offset tells contents of one id and time apart.
    fn place(&self) -> (Option<Timestamp>, &'a EventId, u64) {
        (self.at(), self.id(), self.offset())
    }

    fn cursor(&self) -> PageEnd {
        let (at, id, more) = self.place();
        PageEnd { at, id: id.clone(), more }
    }

    fn read(&self) -> LoggedEvent {
        let (event, about): (Event, &EventId) = match self {
            Self::Memory(memory) => (memory.event(), &memory.id),
            Self::Conflict(version, _) => (version.event.clone(), &version.event.id),
            Self::About(version, about, _) => (version.event.clone(), about),
        };
        let is_conflict = matches!(self, Self::Conflict(..));
        LoggedEvent { action: self.deed(), event, about: about.clone(), is_conflict }
    }
}

/// Returns the lines of a memory, in no order.
fn lines_of(memory: &Arc<Memory>) -> impl Iterator<Item = LoggedLine<'_>> {
    let conflicts = memory.conflicts().iter().map(|version| LoggedLine::Conflict(version, memory));
    // Of several memories of one id the first has the events about them.
    let about = match memory.id_share() {
        IdShare::Alone | IdShare::First => memory.about(),
        IdShare::Beside => &[],
    };
    let about = about.iter().map(|version| LoggedLine::About(version, &memory.id, Some(memory)));
    std::iter::once(LoggedLine::Memory(memory)).chain(conflicts).chain(about)
}

/// Returns all lines of these repositories, in no order: also those about memories that are not here, such as the links of
/// files.
fn all_lines<'a>(
    snapshot: &'a Snapshot,
    repos: Option<&'a BTreeSet<RepoKey>>,
) -> impl Iterator<Item = LoggedLine<'a>> {
    let is_of = move |repo: &RepoKey| repos.is_none_or(|repos| repos.contains(repo));
    let memories = snapshot.memories().iter().filter(move |memory| is_of(&memory.repo));
    let early = snapshot.early().flat_map(move |(about, versions)| {
        let of_it = versions.iter().filter(move |version| is_of(&version.repo));
        of_it.map(move |version| LoggedLine::About(version, about, None))
    });
    memories.flat_map(lines_of).chain(early)
}

fn timeline(
    local: &Local,
    request: &TimelineRequest,
    snapshot: &Snapshot,
) -> Result<Reply, ApiError> {
    let repos = repositories::keys_if_named(local, request.repo.as_deref(), snapshot)?;
    let day_of = |at: Timestamp| at.as_second().div_euclid(DAY_SECONDS);
    let today = day_of(local.core.now());
    let days = i64::try_from(request.days).unwrap_or(1);
    let first = today - (days - 1);
    let mut counted: Vec<DayCounts> = (first..=today)
        .map(|day| {
            let at = Timestamp::from_second(day * DAY_SECONDS).unwrap_or(Timestamp::UNIX_EPOCH);
            DayCounts { day: at.strftime("%Y-%m-%d").to_string(), ..DayCounts::default() }
        })
        .collect();
    for line in all_lines(snapshot, repos.as_ref()) {
        let place = line.at().and_then(|at| usize::try_from(day_of(at) - first).ok());
        let Some(day) = place.and_then(|place| counted.get_mut(place)) else { continue };
        *match line.deed() {
            LoggedAction::Added => &mut day.added,
            LoggedAction::Changed => &mut day.changed,
            LoggedAction::Feedback => &mut day.feedback,
        } += 1;
    }
    Ok(reply::timeline(counted, notices(snapshot)))
}

fn history(request: &HistoryRequest, snapshot: &Snapshot) -> Result<Reply, ApiError> {
    let found = citation::cited_memories([&request.id], snapshot)?;
    let Some(memory) = found.first() else {
        return Err(ApiError::NotFound(format!("there is no memory {}", request.id)));
    };
    let mut lines: Vec<LoggedLine<'_>> = lines_of(memory).collect();
    // What made it comes first, whatever the clocks of others said.
    lines.sort_by_key(|line| (line.deed() != LoggedAction::Added, line.place()));
    let events: Vec<LoggedEvent> = lines.iter().map(LoggedLine::read).collect();
    let named = named_by(&lines, &events, snapshot);
    Ok(reply::memory_history(memory, &events, &named, notices(snapshot)))
}

fn audit(local: &Local, request: &AuditRequest, snapshot: &Snapshot) -> Result<Reply, ApiError> {
    let after = request.cursor.as_deref().map(PageEnd::read).transpose()?;
    let repos = repositories::keys_if_named(local, request.repo.as_deref(), snapshot)?;
    let (now, days) = (local.core.now(), local.core.config.days);
    let since = request.since.map(|since| since.first(now, days));
    let is_by = |line: &LoggedLine<'_>| {
        let same = |agent: &String| agent.trim().eq_ignore_ascii_case(line.agent().trim());
        request.agent.as_ref().is_none_or(same)
    };
    let is_after = |line: &LoggedLine<'_>| {
        after.as_ref().is_none_or(|end| line.place() < (end.at, &end.id, end.more))
    };
    let is_in_time = |line: &LoggedLine<'_>| since.is_none_or(|since| line.at() >= Some(since));
    // The time beside each line saves most looks at the line itself.
    let mut lines: Vec<TimedLine<'_>> = all_lines(snapshot, repos.as_ref())
        .filter(|line| is_in_time(line) && is_by(line) && is_after(line))
        .map(|line| (line.at(), line))
        .collect();
    let is_more = lines.len() > request.limit;
    if is_more {
        lines.select_nth_unstable_by(request.limit, newest_first);
        lines.truncate(request.limit);
    }
    lines.sort_by(newest_first);
    let lines: Vec<LoggedLine<'_>> = lines.into_iter().map(|(_, line)| line).collect();
    let next = lines.last().filter(|_| is_more).map(|line| line.cursor().to_string());
    let events: Vec<LoggedEvent> = lines.iter().map(LoggedLine::read).collect();
    let named = named_by(&lines, &events, snapshot);
    Ok(reply::audit(&events, &named, next, notices(snapshot)))
}

/// Finds the memories that events are about or name; those that they only name in one pass over all.
fn named_by(
    lines: &[LoggedLine<'_>],
    events: &[LoggedEvent],
    snapshot: &Snapshot,
) -> NamedMemories {
    let about = lines.iter().filter_map(LoggedLine::memory);
    let mut named: NamedMemories =
        about.map(|memory| (memory.id.clone(), Arc::clone(memory))).collect();
    let others = events.iter().filter_map(LoggedEvent::other);
    let ids: HashSet<EventId> = others.filter(|id| !named.contains_key(id)).collect();
    if !ids.is_empty() {
        let others = snapshot.memories().iter().filter(|memory| ids.contains(&memory.id));
        named.extend(others.map(|memory| (memory.id.clone(), Arc::clone(memory))));
    }
    named
}
