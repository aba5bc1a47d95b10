//! Whether the team's server answers. After a failed question the server is left alone for a while, and the outage is reported once.
//! Not here: asking the server (`remote_team`), deliveries (`outbox`).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::team_server::TeamServerError;

/// How long the server is left alone after it did not answer: most answers wait for nothing meanwhile.
const REST: Duration = Duration::from_secs(5);

/// Whether the server answers.
#[derive(Default)]
pub struct Outage(Mutex<OutageState>);

#[derive(Default)]
struct OutageState {
    /// When it did not answer last.
    since: Option<Instant>,
    /// What it answered, if it did.
    why: Option<String>,
    is_reported: bool,
}

impl Outage {
    fn lock(&self) -> MutexGuard<'_, OutageState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether the server failed to answer a moment ago.
    pub fn is_resting(&self) -> bool {
        self.lock().since.is_some_and(|since| since.elapsed() < REST)
    }

    pub fn clear(&self) {
        *self.lock() = OutageState::default();
    }

    pub fn record(&self, unheard: TeamServerError) {
        let mut state = self.lock();
        state.since = Some(Instant::now());
        state.why = unheard.status.map(|_| unheard.why);
    }

    /// Returns the notice about an outage, once for each outage.
    pub fn notice(&self) -> Option<String> {
        let mut state = self.lock();
        if state.since.is_none() || std::mem::replace(&mut state.is_reported, true) {
            return None;
        }
        Some(state.why.clone().unwrap_or_else(|| "did not answer".to_owned()))
    }
}
