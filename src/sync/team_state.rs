//! How sharing with a team stands, without asking the remote: for `status`, `doctor` and the page. Not here: a round
//! (`team_round`).

use std::collections::BTreeSet;
use std::path::Path;

use event::{RepoKey, StoreOrigin};
use jiff::Timestamp;
use settings::SyncPolicy;
use store::Store;

use crate::mirror_update::silent_origins;
use crate::outgoing_lines::collect_outgoing;
use crate::sync_record::SyncRecord;
use crate::sync_request::FOLDER;
use crate::sync_state::SyncState;
use crate::waiting_lines::{log_state, unagreed_repos, waiting_lines};
use crate::{RemoteAddress, SyncError, UnverifiedOrigin, WaitingLines};

/// How sharing stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamState {
    /// When the remote answered last. `None` if it never did, as far as the cache knows.
    pub reached_at: Option<Timestamp>,
    /// What is not pushed, if anything is.
    pub waiting: Option<WaitingLines>,
    /// The repositories that nobody agreed to share yet, and how many lines they have.
    pub to_agree: Vec<(RepoKey, usize)>,
    /// How many other origins have lines here.
    pub origins: usize,
    /// Those of which nothing was taken at the last round, because of their signatures.
    pub unverified: Vec<UnverifiedOrigin>,
    /// Those from which nothing came for two weeks, and when the last line did.
    pub silent: Vec<(StoreOrigin, Timestamp)>,
}

impl TeamState {
    /// Finds out how a store stands. Logs are read only if they changed since the last round.
    ///
    /// # Errors
    /// [`SyncError::Store`].
    pub fn read(
        store: &Store,
        policy: &SyncPolicy,
        remote: &RemoteAddress,
        cache: &Path,
        now: Timestamp,
    ) -> Result<Self, SyncError> {
        let record = SyncRecord::read(store, remote)?;
        let state = SyncState::read(&cache.join(FOLDER), store, remote);
        let origins: BTreeSet<StoreOrigin> =
            store.mirrors()?.iter().filter_map(|path| store::origin_of(path)).collect();
        let mut found = Self {
            reached_at: state.reached_at.and_then(|at| Timestamp::from_second(at).ok()),
            waiting: None,
            to_agree: Vec::new(),
            origins: origins.len(),
            unverified: record.unverified(),
            silent: silent_origins(store, now)?,
        };
        let logs = log_state(store, policy, &record)?;
        if let Some(settled) = state.settled_at(&logs, &record) {
            found.to_agree = settled.to_agree();
            return Ok(found);
        }
        let own = collect_outgoing(store, policy, &record.allowed())?;
        let lines = waiting_lines(&own, &record);
        let since = state.waiting_since.and_then(|since| Timestamp::from_second(since).ok());
        found.waiting = (lines > 0).then(|| WaitingLines { lines, since: since.unwrap_or(now) });
        found.to_agree = unagreed_repos(&own, &record);
        Ok(found)
    }
}
