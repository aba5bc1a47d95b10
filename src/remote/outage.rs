//! What was heard of the team's server last: after a question without an answer it is left alone for a while, and that is told
//! once. Not here: asking it (`remote_team`), deliveries (`outbox`).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::team_server::TeamServerError;

/// How long the server is left alone after it did not answer: most answers wait for nothing meanwhile.
const REST: Duration = Duration::from_secs(5);

/// Whether the server answers.
#[derive(Default)]
pub struct Outage(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    /// When it did not answer last.
    since: Option<Instant>,
    /// What it answered, if it did.
    why: Option<String>,
    is_told: bool,
}

impl Outage {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether it did not answer a moment ago.
    pub fn is_resting(&self) -> bool {
        self.lock().since.is_some_and(|since| since.elapsed() < REST)
    }

    pub fn clear(&self) {
        *self.lock() = Heard::default();
    }

    pub fn record(&self, unheard: TeamServerError) {
        let mut heard = self.lock();
        heard.since = Some(Instant::now());
        heard.why = unheard.status.map(|_| unheard.why);
    }

    /// Returns what is to be said about it, once for each outage.
    pub fn notice(&self) -> Option<String> {
        let mut heard = self.lock();
        if heard.since.is_none() || std::mem::replace(&mut heard.is_told, true) {
            return None;
        }
        Some(heard.why.clone().unwrap_or_else(|| "did not answer".to_owned()))
    }
}
