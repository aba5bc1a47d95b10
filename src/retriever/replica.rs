//! A replica of a team (`serve --team`): its settings, and the thread that keeps it caught up. Replicas with the same digest and the
//! same digest of settings give the same answers, so nothing of this machine may count (SPEC S-REPLICA-1). Not here: the answer to a
//! balancer (`web`), what a replica may write (`writer`), the round itself (`sync`).

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::failure::{refuse_unknown_keys, store_error};
use crate::resolved_settings::ResolvedSettings;
use crate::startup::Retriever;
use crate::team_link::{ORIGIN, TeamLink, config_error};
use crate::team_rounds::logs_bytes;
use api::local::{Core, Local};
use event::DayZone;
use index::embed::worker::WorkerState;
use memory::{FoldMark, MemoryBound};
use reply::DigestAnswer;
use requests::Request;
use requests::{Api, ApiError};
use settings::{Config, ConfigTable, Switch, SyncPolicy};
use store::Store;
use sync::{Consent, RemoteKind, SyncError, SyncReport, Transport, sync_round};
use web::replica_health::{Lag, ReplicaHealth, ReplicaState};
use writer::exit::{Exit, complain};

/// Time between two looks at the remote. A stream and a folder are asked with one small request; git is a program and a
/// connection each time, and forges count them.
const POLL: Duration = Duration::from_millis(500);
const POLL_GIT: Duration = Duration::from_secs(5);

/// Time between two looks at the own logs: a write is published at once.
const LOOK: Duration = Duration::from_millis(50);

/// The longest pause while the remote does not answer.
const PAUSE_MAX: Duration = Duration::from_secs(15);

/// How many times the usual pause may pass without an answer of the remote, beside a rest for a slow one.
const POLLS_MISSED_MAX: u32 = 4;
const REST: Duration = Duration::from_secs(8);

/// How long a round waits for logs that are being read.
const READING: Duration = Duration::from_secs(10);

/// A replica before its memory is open.
pub struct Replica {
    link: TeamLink,
    pub health: Arc<ReplicaHealth>,
}

/// What one round found.
#[derive(Default)]
struct ReplicaRound {
    /// The last state whose digest is known.
    known: Option<(FoldMark, String, usize)>,
}

/// What was reported last about a remote that is away, so that it is reported once.
#[derive(Default)]
struct RemoteTrouble(String);

impl RemoteTrouble {
    fn report(
        &mut self,
        ended: Result<Result<(), String>, ApiError>,
        messages: &mut dyn io::Write,
    ) {
        let why = match ended {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why,
            Err(error) => error.to_string(),
        };
        if self.0 != why {
            complain(messages, "agent-knowledge", &format!("behind the team: {why}"));
            self.0 = why;
        }
    }
}

impl Retriever<'_> {
    /// Makes the settings those of a replica.
    pub fn replica(&self, settled: &mut ResolvedSettings) -> Result<Replica, ApiError> {
        refuse_unknown_keys(&settled.config, ConfigTable::Sync)?;
        check_settings(&settled.config)?;
        let link = self.team_link(settled, None)?;
        settled.config.member = Some(link.origin()?);
        // All replicas answer alike, wherever they run.
        settled.config.days = DayZone::Utc;
        // What somebody asked here would make answers differ, and is not for everybody.
        let general = &mut settled.config.general;
        (general.query_log, general.journal) = (Switch::Off, Switch::Off);
        let state = ReplicaState {
            digest: None,
            settings: String::new(),
            memories: 0,
            reached_at: None,
            lags: vec![Lag::Reading],
        };
        let patience = poll_interval(&link) * POLLS_MISSED_MAX + REST;
        Ok(Replica { link, health: Arc::new(ReplicaHealth::new(state, patience)) })
    }
}

impl Retriever<'_> {
    /// Exchanges lines with the team: a replica for the first time, another retriever now and then from now on.
    pub fn begin_exchanges(
        &self,
        settled: &ResolvedSettings,
        replica: Option<&Replica>,
    ) -> Result<(), ApiError> {
        match replica {
            Some(replica) => replica.catch_up(),
            None => {
                self.exchange_periodically(settled);
                Ok(())
            }
        }
    }
}

/// Refuses settings with which this store would not be like the others.
fn check_settings(config: &Config) -> Result<(), ApiError> {
    let policy = &config.sync;
    if config.engine.is_some() {
        return Err(config_error(
            "a replica answers from its own memory, so that all answer alike; remove the table [engine], or serve without --team",
        ));
    }
    if policy.remote.as_deref() == Some(ORIGIN) {
        return Err(config_error(
            "sync.remote is \"origin\", but a replica stands in no repository; name the address",
        ));
    }
    if policy.share.is_empty() {
        return Err(config_error(
            "sync.share names no repository, so this replica would serve and take nothing; for example sync.share 'github.com/acme/*'",
        ));
    }
    if !policy.strip.is_empty() {
        return Err(config_error(
            "sync.strip must be empty on a replica: without the fields its lines would not be those of the others",
        ));
    }
    if config.provider.is_some() {
        return Err(config_error(
            "embedding.provider must not be set on a replica: nobody but its own model gives the same vectors as that of the others, bit for bit",
        ));
    }
    Ok(())
}

impl Replica {
    /// Exchanges lines for the first time, before the memory is read. A remote that is away does not hinder: what is known is
    /// served, and balancers get the reason.
    pub fn catch_up(&self) -> Result<(), ApiError> {
        let origin = self.link.origin()?;
        let first = self.link.with_transport(|transport| self.run_round(transport));
        if let Err(ApiError::Failed { exit: Exit::Config, message }) = first {
            return Err(config_error(&message));
        }
        let report = first.ok();
        if self.link.origin()? != origin {
            let message = "another copy of this store shares under its origin, so it has a new one; start the replica again".to_owned();
            return Err(ApiError::Failed { exit: Exit::Busy, message });
        }
        let left_out = report.map(|report| report.left_out);
        let stays = count_unshared_logs(&self.link.settled.store, &self.link.policy)?
            + left_out.map_or(0, |left_out| left_out.lines());
        if stays > 0 {
            return Err(config_error(&format!(
                "the store has {stays} logs or lines of its own that stay here, so it would answer otherwise than the other \
                 replicas; give the replica a store of its own (--logs DIR)"
            )));
        }
        Ok(())
    }

    fn run_round(&self, transport: &mut dyn Transport) -> Result<SyncReport, SyncError> {
        self.link.ask(Consent::Given, transport, sync_round)
    }

    /// Keeps the memory caught up from now on, on a thread of its own, and records its state for balancers.
    pub fn follow(
        self,
        core: &Arc<Core>,
        caller: requests::caller::Caller,
    ) -> Result<(), ApiError> {
        let core = Arc::downgrade(core);
        let thread = std::thread::Builder::new().name("team".to_owned());
        let spawned = thread.spawn(move || {
            let mut round = ReplicaRound::default();
            let (usual, mut pause) = (poll_interval(&self.link), Duration::ZERO);
            let mut reported = RemoteTrouble::default();
            while core.strong_count() > 0 {
                // Ends as soon as the remote does not answer, and then connects anew.
                let ended = self.link.with_transport(|transport| {
                    loop {
                        let logs = logs_bytes(&self.link.settled.store);
                        let report = self.run_round(transport)?;
                        if !self.record_round(&core, &caller, &report, &mut round) {
                            return Ok(Ok(()));
                        }
                        if !report.is_reached {
                            return Ok(Err(report.trouble.join("; ")));
                        }
                        reported = RemoteTrouble::default();
                        pause = Duration::ZERO;
                        self.wait_for_change(usual, logs);
                    }
                });
                if matches!(ended, Ok(Ok(()))) {
                    return;
                }
                reported.report(ended, &mut io::stderr());
                pause = (pause * 2).clamp(usual, PAUSE_MAX);
                self.wait_for_change(pause, logs_bytes(&self.link.settled.store));
            }
        });
        spawned.map(drop).map_err(|error| ApiError::Failed {
            exit: Exit::Internal,
            message: format!("failed to start the thread that follows the team: {error}"),
        })
    }

    /// Waits, but not when something was written here.
    fn wait_for_change(&self, pause: Duration, log_bytes: u64) {
        let end = Instant::now() + pause;
        while Instant::now() < end && logs_bytes(&self.link.settled.store) == log_bytes {
            std::thread::park_timeout(LOOK.min(pause));
        }
    }

    /// Notes how the replica stands after a round. Returns whether there is still somebody to tell.
    fn record_round(
        &self,
        core: &Weak<Core>,
        caller: &requests::caller::Caller,
        report: &SyncReport,
        round: &mut ReplicaRound,
    ) -> bool {
        let Some(core) = core.upgrade() else { return false };
        let mut lags = Vec::new();
        if !report.held.is_empty() || !report.unverified.is_empty() {
            lags.push(Lag::Held);
        }
        if report.waiting.is_some() {
            lags.push(Lag::Unpublished);
        }
        let unshared =
            count_unshared_logs(&self.link.settled.store, &self.link.policy).unwrap_or(0);
        // A copy of this store made it take a new origin, under which its lines were not read.
        let is_renewed = core.config.member.as_ref() != Some(&report.origin);
        if report.left_out.lines() > 0 || unshared > 0 || is_renewed {
            lags.push(Lag::OwnLines);
        }
        lags.extend(round.update_digest(&core, caller));
        let (digest, memories) = match &round.known {
            Some((_, digest, memories)) => (Some(digest.clone()), *memories),
            None => (None, 0),
        };
        let settings = settings_digest(&core, self.link.settled.bound);
        let reached = report.is_reached.then(Instant::now);
        // While the remote is away, what was last known of it stays.
        match reached {
            Some(_) => self.health.set_state(ReplicaState {
                digest,
                settings,
                memories,
                reached_at: reached,
                lags,
            }),
            None => self.health.set_lags(lags),
        }
        true
    }
}

impl ReplicaRound {
    /// Computes the digest of the present memories, if they changed, and returns what is missing.
    fn update_digest(
        &mut self,
        core: &Arc<Core>,
        caller: &requests::caller::Caller,
    ) -> Option<Lag> {
        let Ok(Some(snapshot)) = core.engine.snapshot_within(READING) else {
            return Some(Lag::Reading);
        };
        let is_known = self.known.as_ref().is_some_and(|(mark, ..)| snapshot.is_marked(mark));
        if !is_known {
            let local = Local::new(Arc::clone(core), caller.clone());
            let digest = (&local as &dyn Api).ask_for::<DigestAnswer>(&Request::Digest);
            let Ok(DigestAnswer { digest, .. }) = digest else { return Some(Lag::Reading) };
            self.known = Some((snapshot.mark(), digest, snapshot.memories().len()));
        }
        let is_embedding = core.engine.embedding().is_some_and(|progress| match progress.state {
            WorkerState::Loading => true,
            WorkerState::Ready { .. } => {
                // A vector that comes without signs may be that of the beginning of a text.
                let whole = snapshot.embedded_count().min(snapshot.signed_count());
                whole + progress.failed < snapshot.memories().len()
            }
            WorkerState::Failed(_) => false,
        });
        is_embedding.then_some(Lag::Embedding)
    }
}

/// Returns the time between two looks at a remote.
fn poll_interval(link: &TeamLink) -> Duration {
    match link.remote.kind() {
        RemoteKind::Git(_) => POLL_GIT,
        RemoteKind::Folder(_) => POLL,
        RemoteKind::Nats(_) => POLL,
    }
}

/// Counts the own logs of repositories that are not shared. They may be empty.
fn count_unshared_logs(store: &Store, policy: &SyncPolicy) -> Result<usize, ApiError> {
    let files = store.logs().and_then(|logs| Ok([logs, store.segments()?].concat()));
    let files = files.map_err(|error| store_error(&error))?;
    let is_unshared = |file: &&std::path::PathBuf| !policy.shares(&Store::repo_of(file));
    Ok(files.iter().filter(is_unshared).count())
}

/// Returns a digest of what answers depend on beside the lines: the program, the settings, and the model as it works here.
fn settings_digest(core: &Core, bound: MemoryBound) -> String {
    let model = match core.engine.embedding().map(|progress| progress.state) {
        Some(WorkerState::Ready { model, dims }) => format!("{model} {dims}"),
        Some(WorkerState::Loading) => "loading".to_owned(),
        Some(WorkerState::Failed(_)) | None => "none".to_owned(),
    };
    let settings = core.config.changed_lines(|setting| setting.is_for_replicas).join("\n");
    let MemoryBound { bytes_max, vector_bytes } = bound;
    let version = env!("CARGO_PKG_VERSION");
    let counts = format!("{version}\n{settings}\n{bytes_max} {vector_bytes}\n{model}");
    let sum = Sha256::digest(counts);
    sum.iter().fold("sha256:".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_with_the_remote_is_reported_once() {
        let (mut trouble, mut messages) = (RemoteTrouble::default(), Vec::new());
        for why in ["the remote is away", "the remote is away", "the remote refuses the token"] {
            trouble.report(Ok(Err(why.to_owned())), &mut messages);
        }
        trouble.report(Ok(Ok(())), &mut messages);
        let lines = "agent-knowledge: behind the team: the remote is away\n\
            agent-knowledge: behind the team: the remote refuses the token\n";
        assert_eq!(String::from_utf8(messages).unwrap(), lines);
    }
}
