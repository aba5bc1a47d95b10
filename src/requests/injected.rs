//! What agents were shown, and what that saved. Not here: writing it down (`api::journal`).

use super::bounds::repo_rule;
use super::browse::PAGE_MAX;
use super::define::request;
use super::rule::{sequence, text, whole};
use event::limits::{ID_BYTES_MAX, SHORT_BYTES_MAX};

/// Entries of a page by default.
const PAGE_DEFAULT: usize = 20;

/// Most days that savings are counted over: a year.
pub const DAYS_MAX: usize = 366;
const DAYS_DEFAULT: usize = 30;

request! {
    /// A page of what hooks and tools showed agents, the newest first.
    pub struct InjectedRequest {
        /// Only what this agent was shown
        agent: Option<String> = text(SHORT_BYTES_MAX).option("agent", "AGENT");
        /// Only in this session
        session: Option<String> = text(SHORT_BYTES_MAX).option("session", "SESSION");
        /// Only in this repository: its name, key or URL
        repo: Option<String> = repo_rule();
        /// Only where this memory was shown: its id, or any unique short form of it
        memory: Option<String> = text(ID_BYTES_MAX).option("memory", "ID");
        /// Where the page begins: `next` of the page before
        cursor: Option<String> = sequence().option("cursor", "CURSOR");
        /// Most entries
        limit: usize = whole(1..=PAGE_MAX).or(PAGE_DEFAULT).option("limit", "N");
    }
}

request! {
    /// What agents were shown over some days, counted.
    pub struct SavingsRequest {
        /// How many days, with today
        days: usize = whole(1..=DAYS_MAX).or(DAYS_DEFAULT).option("days", "N");
    }
}
