//! Exchanges lines with the team in the background, while a server runs: soon after something new was written, and now and then
//! to hear of the others. Not here: the round itself, which another process does (`team_sync`).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::resolved_settings::ResolvedSettings;
use crate::startup::Retriever;
use crate::team_link::ORIGIN;
use store::Store;

/// A pause is divided by this for the time without a write after which new lines are pushed: 30 seconds of five minutes.
const QUIET_SHARE: u32 = 10;

/// Longest time between two looks at the logs.
const LOOK_MAX: Duration = Duration::from_secs(5);

/// What decides when a round is due.
struct Rounds {
    pause: Duration,
    /// When the last round ended. `None` before the first.
    last: Option<Instant>,
    /// How often in a row it failed.
    failures: u32,
    /// The logs at the last round, and as they were seen last, with the time of the last change.
    shared_bytes: u64,
    seen_bytes: u64,
    changed: Instant,
}

/// How a round ended.
#[derive(Clone, Copy)]
enum RoundEnd {
    Done,
    Failed,
}

impl Rounds {
    fn new(pause: Duration, now: Instant) -> Self {
        Self { pause, last: None, failures: 0, shared_bytes: 0, seen_bytes: 0, changed: now }
    }

    /// Tells whether a round is due, with the logs as they are.
    fn is_due(&mut self, log_bytes: u64, now: Instant) -> bool {
        if log_bytes != self.seen_bytes {
            (self.seen_bytes, self.changed) = (log_bytes, now);
        }
        let Some(last) = self.last else { return true };
        let waited = now.saturating_duration_since(last);
        // After a failure the pause grows from a tenth to a whole one; a remote that is away is not asked all the time.
        let least = (self.pause / QUIET_SHARE) * 2_u32.saturating_pow(self.failures.min(4));
        let is_quiet = now.saturating_duration_since(self.changed) >= self.pause / QUIET_SHARE;
        waited >= self.pause
            || (waited >= least && is_quiet && self.seen_bytes != self.shared_bytes)
    }

    /// Notes the end of a round that began with these logs.
    fn record_round(&mut self, log_bytes: u64, end: RoundEnd, now: Instant) {
        self.last = Some(now);
        match end {
            RoundEnd::Done => (self.failures, self.shared_bytes) = (0, log_bytes),
            RoundEnd::Failed => self.failures = self.failures.saturating_add(1),
        }
    }
}

impl Retriever<'_> {
    /// Exchanges lines now and then, if the settings name a team; not with the repository of the code, for that is where
    /// somebody stands, and a server stands nowhere. Another process does it, so that a fault of it cannot end the
    /// server.
    pub fn exchange_periodically(&self, settled: &ResolvedSettings) {
        let policy = &settled.config.sync;
        let is_asked = policy.remote.as_deref().is_some_and(|remote| remote != ORIGIN);
        let pause = Duration::from_secs(policy.every_seconds.into());
        let Some(program) = self.surroundings.program.clone().filter(|_| is_asked) else { return };
        if pause.is_zero() {
            return;
        }
        let store = settled.store.clone();
        // Without a thread the command does it.
        let _ = std::thread::Builder::new().name("team".to_owned()).spawn(move || {
            let mut rounds = Rounds::new(pause, Instant::now());
            loop {
                let logs = logs_bytes(&store);
                if rounds.is_due(logs, Instant::now()) {
                    // What stood in its way is told by `status`, and by the command.
                    let done = sync_command(&program, store.root()).status();
                    let is_done = done.is_ok_and(|status| status.success());
                    let end = if is_done { RoundEnd::Done } else { RoundEnd::Failed };
                    rounds.record_round(logs, end, Instant::now());
                }
                std::thread::park_timeout((pause / QUIET_SHARE).min(LOOK_MAX));
            }
        });
    }
}

/// Returns the length of all logs together, in bytes. They only grow, but for scrub and archive.
pub fn logs_bytes(store: &Store) -> u64 {
    let length = |log: PathBuf| log.symlink_metadata().map_or(0, |found| found.len());
    store.logs().unwrap_or_default().into_iter().map(length).sum()
}

fn sync_command(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("sync")
        .arg("--logs")
        .arg(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SYNC-11
    #[test]
    fn a_round_is_due_after_writes_and_now_and_then() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut rounds = Rounds::new(Duration::from_secs(300), start);
        assert!(rounds.is_due(10, at(0)), "the first");
        rounds.record_round(10, RoundEnd::Done, at(1));
        assert!(!rounds.is_due(10, at(299)));
        assert!(!rounds.is_due(20, at(100)), "somebody still writes");
        assert!(!rounds.is_due(20, at(120)));
        assert!(rounds.is_due(20, at(131)), "30 seconds after the last write");
        rounds.record_round(20, RoundEnd::Done, at(131));
        assert!(!rounds.is_due(20, at(400)) && rounds.is_due(20, at(431)), "to hear of others");
    }

    // S-SYNC-11
    #[test]
    fn a_remote_that_is_away_is_asked_less_often() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut rounds = Rounds::new(Duration::from_secs(300), start);
        rounds.is_due(10, at(0));
        let mut tries = Vec::new();
        for second in 0..1_500 {
            if rounds.is_due(10, at(second)) {
                tries.push(second);
                rounds.record_round(10, RoundEnd::Failed, at(second));
            }
        }
        assert_eq!(tries, [0, 60, 180, 420, 720, 1_020, 1_320]);
    }
}
