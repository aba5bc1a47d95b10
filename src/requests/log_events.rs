//! What the events of the logs did: counted by day, told of one memory, or of all. Not here: the answers
//! (`local::log_events`).

use serde::{Deserialize, Serialize};

use super::bounds::repo_rule;
use super::define::request;
use super::parameter::Presence;
use super::rule::{text, time, whole};
use event::limits::{ID_BYTES_MAX, SHORT_BYTES_MAX};
use search::TimePoint;

/// Most days of a timeline: a year, also one with a leap day.
pub const DAYS_MAX: usize = 366;
const DAYS_DEFAULT: usize = 30;

/// Most events of a page.
pub const EVENTS_MAX: usize = 100;
const EVENTS_DEFAULT: usize = 50;

request! {
    /// The events of each day, counted.
    #[derive(Eq)]
    pub struct TimelineRequest {
        /// How many days, of which today is the last; a day begins at 0:00 UTC
        days: usize = whole(1..=DAYS_MAX).or(DAYS_DEFAULT).option("days", "N");
        /// Only of this repository: its name, key or URL
        repo: Option<String> = repo_rule();
    }
}

request! {
    /// Who did what to one memory.
    #[derive(Eq)]
    pub struct HistoryRequest {
        /// The id, or any unique short form of it
        id: String = text(ID_BYTES_MAX).required("is empty; give the id of a memory, as a search shows it")
            .positional("ID", Presence::Required);
    }
}

request! {
    /// A page of all events, the newest first.
    #[derive(Eq)]
    pub struct AuditRequest {
        /// Only by this agent or person
        agent: Option<String> = text(SHORT_BYTES_MAX).option("agent", "AGENT").with_aliases(&["agent_id", "agents"]);
        /// Only of this repository: its name, key or URL
        repo: Option<String> = repo_rule();
        /// Only from this time on: a time, a day or an age, such as 2026-03-01 or 30d
        since: Option<TimePoint> = time().option("since", "TIME");
        /// Where the page begins: `next` of the page before
        cursor: Option<String> = text(2 * ID_BYTES_MAX).option("cursor", "CURSOR");
        /// Most events
        limit: usize = whole(1..=EVENTS_MAX).or(EVENTS_DEFAULT).option("limit", "N");
    }
}

/// What is asked about the events of the logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogEventsRequest {
    /// How many there are each day: `days` in the JSON.
    Timeline(TimelineRequest),
    /// Those of one memory, the oldest first: `events` in the JSON.
    History(HistoryRequest),
    /// Those of all memories, page by page: `events` and `next` in the JSON.
    Audit(AuditRequest),
}
