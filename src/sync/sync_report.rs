//! What an exchange did, and what one would do. Not here: doing it (`exchange`).

use event::{RepoKey, StoreOrigin};
use jiff::Timestamp;

use crate::LeftOut;

/// What an exchange did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncReport {
    /// The origin under which this store publishes.
    pub origin: StoreOrigin,
    /// The origin it had before, if a copy of this store publishes under it.
    pub renewed_from: Option<StoreOrigin>,
    /// How many lines the remote has now and had not before.
    pub pushed: usize,
    /// How many lines it no longer has.
    pub withdrawn: usize,
    /// How many lines came into the mirrors.
    pub fetched: usize,
    /// How many lines left the mirrors, because their origins took them back.
    pub dropped: usize,
    /// From how many origins they came.
    pub fetched_from: usize,
    /// How many lines of each origin wait for another day or another fetch.
    pub held: Vec<(StoreOrigin, usize)>,
    /// What is not pushed.
    pub waiting: Option<Waiting>,
    /// The repositories nobody agreed to share with this remote yet, and how many lines they have.
    pub to_agree: Vec<(RepoKey, usize)>,
    /// The origins from which nothing came for two weeks, and when the last line did.
    pub silent: Vec<(StoreOrigin, Timestamp)>,
    /// What stays of the shared repositories. `None` if no log changed since the last exchange.
    pub left_out: Option<LeftOut>,
    /// Whether the remote answered.
    pub is_reached: bool,
    /// What else somebody should know, each as one sentence.
    pub trouble: Vec<String>,
}

impl SyncReport {
    pub(crate) fn of(origin: StoreOrigin) -> Self {
        Self {
            origin,
            renewed_from: None,
            pushed: 0,
            withdrawn: 0,
            fetched: 0,
            dropped: 0,
            fetched_from: 0,
            held: Vec::new(),
            waiting: None,
            to_agree: Vec::new(),
            silent: Vec::new(),
            left_out: None,
            is_reached: true,
            trouble: Vec::new(),
        }
    }
}

/// Lines that the remote should have and has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// How many.
    pub lines: usize,
    /// Since when.
    pub since: Timestamp,
}

/// What an exchange would send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The lines that the remote does not have, as they would leave.
    pub lines: Vec<(RepoKey, String)>,
    /// How many lines it would lose.
    pub withdrawn: usize,
    /// The repositories nobody agreed to share with this remote yet, and how many lines they have.
    pub to_agree: Vec<(RepoKey, usize)>,
    /// What stays of the shared repositories.
    pub left_out: LeftOut,
    /// Why the lines were not compared with the remote. All are listed then.
    pub not_compared: Option<String>,
}
