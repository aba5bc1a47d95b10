//! One round with a remote: publish what is new here, bring in what is new there. Each step can be the last one of a process
//! that is killed, and the next round goes on from there. Not here: the ways to a remote (`transport`).

use std::path::Path;

use event::{RepoKey, StoreOrigin};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use store::{Store, SyncPolicy, TeamTurn};

use crate::mirroring::{Mirroring, ORIGIN_BYTES_MAX, silent};
use crate::outgoing::{Outgoing, outgoing, shared_files};
use crate::publishing::{MayLeave, Standing, WantedTree};
use crate::sync_record::SyncRecord;
use crate::sync_report::{Preview, SyncReport, Waiting};
use crate::sync_state::SyncState;
use crate::{History, NextTree, Published, RemoteAddress, SyncError, Tip, Tips, Transport};

/// How long an exchange waits for another one of the same store, in milliseconds.
const TURN_MS_MAX: u64 = 2_000;

/// How often publishing starts over because the remote changed meanwhile, which only a copy of this store does.
const TRIES_MAX: usize = 3;

/// The folder of the caches, inside the folder of all caches.
pub(crate) const FOLDER: &str = "sync";

/// Whether somebody agrees now to share the repositories that were never shared with the remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Only what was agreed to before is shared.
    AsBefore,
    /// Everything that the settings share is agreed to.
    Given,
}

/// What an exchange needs.
pub struct Exchange<'a> {
    /// The store.
    pub store: &'a Store,
    /// What is shared.
    pub policy: &'a SyncPolicy,
    /// The remote, which the transport reaches.
    pub remote: &'a RemoteAddress,
    /// The folder of all caches; this one is made in it.
    pub cache: &'a Path,
    /// The name of this machine, for a new origin.
    pub host: &'a str,
    /// The time.
    pub now: Timestamp,
    /// Returns fresh random bits, for a new origin.
    pub random: &'a dyn Fn() -> u64,
    /// Whether somebody agrees now.
    pub consent: Consent,
    /// Is told each step by its name. Tests end the process there.
    pub steps: &'a dyn Fn(&'static str),
}

/// Does one round. If the remote does not answer, the report says so, and how many lines wait.
///
/// # Errors
/// [`SyncError`]; [`store::StoreError::Busy`] while another exchange of this store goes on.
pub fn exchange(
    request: &Exchange<'_>,
    transport: &mut dyn Transport,
) -> Result<SyncReport, SyncError> {
    let turn = request.store.team_turn(TURN_MS_MAX)?;
    let folder = request.cache.join(FOLDER);
    store::own_folder(&folder)?;
    // What cannot be brought in now is shared next time.
    let _ = request.store.bring_in_what_waits();
    match round(request, transport, &turn) {
        Err(SyncError::Cache { .. }) => {
            transport.forget()?;
            round(request, transport, &turn)
        }
        done => done,
    }
}

fn round(
    request: &Exchange<'_>,
    transport: &mut dyn Transport,
    turn: &TeamTurn,
) -> Result<SyncReport, SyncError> {
    let folder = request.cache.join(FOLDER);
    let mut round = Round {
        request,
        record: SyncRecord::read(request.store, request.remote)?,
        state: SyncState::read(&folder, request.store, request.remote),
        report: SyncReport::of(request.store.ensure_origin(request.host, (request.random)())?),
    };
    (request.steps)("begun");
    let reached = round.publish(transport).and_then(|tips| {
        (request.steps)("published");
        let (store, now, steps) = (request.store, request.now, request.steps);
        let origin_bytes_max = ORIGIN_BYTES_MAX;
        let policy = request.policy;
        let mirroring = Mirroring { store, turn, now, origin_bytes_max, policy, steps };
        mirroring.all(transport, &tips, &mut round.state, &mut round.report)
    });
    match reached {
        Ok(()) => round.state.reached_at = Some(request.now.as_second()),
        Err(error @ SyncError::Remote { .. }) => round.not_reached(&error)?,
        Err(error) => return Err(error),
    }
    round.report.silent = silent(request.store, request.now)?;
    round.state.write();
    Ok(round.report)
}

struct Round<'a> {
    request: &'a Exchange<'a>,
    record: SyncRecord,
    state: SyncState,
    report: SyncReport,
}

impl Round<'_> {
    /// Publishes what is new, and returns what the remote has.
    fn publish(&mut self, transport: &mut dyn Transport) -> Result<Tips, SyncError> {
        if self.request.consent == Consent::Given {
            // Before the remote is asked: a yes holds although it is away.
            self.agree(&outgoing(self.request.store, self.request.policy)?)?;
        }
        let mut tips = transport.tips()?;
        let logs = log_state(self.request.store, self.request.policy)?;
        if self.is_published(&logs, &tips) {
            return Ok(tips);
        }
        let mut own = outgoing(self.request.store, self.request.policy)?;
        own.leave_out_longer_than(transport.line_bytes_max());
        self.report.left_out = Some(own.left_out);
        for _ in 0..TRIES_MAX {
            let settled = match self.publish_on(transport, &own, &tips) {
                Err(error @ SyncError::Remote { .. }) => {
                    // The others are heard all the same.
                    self.report.trouble.push(error.to_string());
                    self.wait(1);
                    return Ok(tips);
                }
                settled => settled?,
            };
            if settled {
                if let Some(tip) = self.published_tip() {
                    self.state.published = Some((logs, tip));
                }
                return Ok(tips);
            }
            (self.request.steps)("again");
            tips = transport.tips()?;
        }
        self.report.trouble.push("the remote kept changing; try again".to_owned());
        let lines: usize = own.logs.iter().map(|log| log.lines.len()).sum();
        self.wait(lines.saturating_sub(self.record.lines()).max(1));
        Ok(tips)
    }

    /// Notes that somebody agreed to share all of this.
    fn agree(&mut self, own: &Outgoing) -> Result<(), SyncError> {
        for log in own.logs.iter().filter(|log| !log.lines.is_empty()) {
            self.record.agree(&log.repo, self.request.now);
        }
        self.record.write()
    }

    fn published_tip(&self) -> Option<String> {
        let is_all = self.report.to_agree.is_empty() && self.report.waiting.is_none();
        self.record.published_tip().filter(|_| is_all).map(str::to_owned)
    }

    /// Publishes on what the remote has. Returns whether that is settled: published, refused, or nothing to do.
    fn publish_on(
        &mut self,
        transport: &mut dyn Transport,
        own: &Outgoing,
        tips: &Tips,
    ) -> Result<bool, SyncError> {
        let origin = self.report.origin.clone();
        let tip = tips.tips.get(&origin);
        let standing = match (Standing::read(transport, &origin, tip), tip) {
            (Ok(Some(standing)), _) => standing,
            (Ok(None), _) => return Ok(false),
            // Somebody else put it there. What we published ourselves may only be out of reach now.
            (Err(SyncError::Remote { .. }), Some(tip)) if !self.record.knows(tip) => {
                Standing::unreadable(tip)
            }
            (Err(error), _) => return Err(error),
        };
        if !standing.is_ours(&self.record, own, self.request.policy) {
            self.renew(&origin)?;
            return Ok(false);
        }
        (self.request.steps)("compared");
        let to_agree = to_agree(own, &self.record);
        let may_leave = |repo: &RepoKey| match self.request.policy.shares(repo) {
            false => MayLeave::No,
            true if self.record.is_agreed(repo) => MayLeave::Yes,
            true => MayLeave::NotYet,
        };
        let wanted = WantedTree::of(&standing, own, may_leave);
        self.report.to_agree = to_agree;
        let gone = wanted.gone.iter().map(|repo| {
            format!("the log of {repo} is gone from this store; its lines stay on the remote")
        });
        self.report.trouble.extend(gone);
        if !wanted.is_news(&standing) {
            if let Some(tip) = &standing.tip {
                self.settled(tip, wanted.lines)?;
            }
            self.state.waiting_since = None;
            return Ok(true);
        }
        match self.put(transport, (&standing, &wanted), &origin)? {
            Published::Done => {
                self.report.pushed = wanted.new.len();
                self.report.withdrawn = wanted.withdrawn;
                self.state.waiting_since = None;
                Ok(true)
            }
            Published::Taken => Ok(false),
            Published::Refused(why) => {
                self.report.trouble.push(format!("the remote refused our lines: {why}"));
                self.wait(wanted.new.len().max(1));
                Ok(true)
            }
        }
    }

    /// Prepares and publishes a tree. A remote that drops no history gets the tree on top of it.
    fn put(
        &mut self,
        transport: &mut dyn Transport,
        (standing, wanted): (&Standing, &WantedTree),
        origin: &StoreOrigin,
    ) -> Result<Published, SyncError> {
        let next = |history| NextTree {
            origin,
            on: standing.tip.as_ref(),
            history,
            files: wanted.parts(standing),
            at: self.request.now,
        };
        let first = next(wanted.history());
        let published = self.put_one(transport, &first, wanted.lines)?;
        if first.history == History::Keep || !matches!(published, Published::Refused(_)) {
            return Ok(published);
        }
        let published = self.put_one(transport, &next(History::Keep), wanted.lines)?;
        if published == Published::Done {
            let why =
                "the remote drops no history, so what was taken back can still be found there";
            self.report.trouble.push(why.to_owned());
        }
        Ok(published)
    }

    fn put_one(
        &mut self,
        transport: &mut dyn Transport,
        next: &NextTree<'_>,
        lines: usize,
    ) -> Result<Published, SyncError> {
        let tip = transport.prepare(next)?;
        // Noted before, so that a tip that is there after a crash is known to be ours.
        self.record.publishing(&tip);
        self.record.write()?;
        (self.request.steps)("noted");
        let published = transport.publish(next, &tip)?;
        (self.request.steps)("pushed");
        if published == Published::Done {
            self.settled(&tip, lines)?;
        }
        Ok(published)
    }

    fn settled(&mut self, tip: &Tip, lines: usize) -> Result<(), SyncError> {
        self.record.published(tip, lines);
        self.record.write()
    }

    /// Takes another origin, because a copy of this store publishes under the present one.
    fn renew(&mut self, origin: &StoreOrigin) -> Result<(), SyncError> {
        self.record.forget_published();
        self.record.write()?;
        (self.request.steps)("forgotten");
        let request = self.request;
        self.report.origin = request.store.renew_origin(request.host, (request.random)())?;
        self.report.renewed_from = Some(origin.clone());
        (request.steps)("renewed");
        Ok(())
    }

    fn not_reached(&mut self, error: &SyncError) -> Result<(), SyncError> {
        self.report.is_reached = false;
        self.report.trouble.push(error.to_string());
        let own = outgoing(self.request.store, self.request.policy)?;
        let agreed = own.logs.iter().filter(|log| self.record.is_agreed(&log.repo));
        let lines: usize = agreed.map(|log| log.lines.len()).sum();
        self.report.to_agree = to_agree(&own, &self.record);
        self.wait(lines.saturating_sub(self.record.lines()));
        Ok(())
    }

    fn wait(&mut self, lines: usize) {
        if lines == 0 {
            return;
        }
        let now = self.request.now.as_second();
        let since = *self.state.waiting_since.get_or_insert(now);
        let since = Timestamp::from_second(since).unwrap_or(self.request.now);
        self.report.waiting = Some(Waiting { lines, since });
    }

    /// Tells whether the logs are as they were when the tree was published that the remote still has.
    fn is_published(&self, logs: &str, tips: &Tips) -> bool {
        let there = tips.tips.get(&self.report.origin);
        self.state.published.as_ref().is_some_and(|(then, tip)| {
            then == logs && there.is_some_and(|there| there.0 == *tip && self.record.knows(there))
        })
    }
}

/// Returns the repositories that nobody agreed to share yet, and how many lines they have. What a remote holds agrees to
/// nothing: others may have put it there.
pub(crate) fn to_agree(own: &Outgoing, record: &SyncRecord) -> Vec<(RepoKey, usize)> {
    let logs = own.logs.iter().filter(|log| !record.is_agreed(&log.repo) && !log.lines.is_empty());
    logs.map(|log| (log.repo.clone(), log.lines.len())).collect()
}

/// Returns what the own logs and the settings look like from outside. Rules may change with the program.
pub(crate) fn log_state(store: &Store, policy: &SyncPolicy) -> Result<String, SyncError> {
    let mut hash = Sha256::new();
    hash.update(format!("{} {policy:?}", env!("CARGO_PKG_VERSION")));
    for file in shared_files(store, policy)?.into_values().flatten() {
        let found = file.symlink_metadata();
        let found = found.map(|found| (found.len(), found.modified().ok()));
        hash.update(format!("{} {found:?}\n", file.display()));
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Tells what an exchange would send, and changes nothing but the cache.
///
/// # Errors
/// [`SyncError`].
pub fn preview(
    request: &Exchange<'_>,
    transport: &mut dyn Transport,
) -> Result<Preview, SyncError> {
    store::own_folder(&request.cache.join(FOLDER))?;
    let mut own = outgoing(request.store, request.policy)?;
    let record = SyncRecord::read(request.store, request.remote)?;
    let mut standing = Standing::default();
    let mut not_compared = None;
    if let Some(origin) = request.store.origin()? {
        let tips = transport.tips();
        let read = tips.and_then(|tips| Standing::read(transport, &origin, tips.tips.get(&origin)));
        match read {
            Ok(Some(found)) if found.is_ours(&record, &own, request.policy) => standing = found,
            Ok(_) => {}
            Err(error @ SyncError::Remote { .. }) => not_compared = Some(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    own.leave_out_longer_than(transport.line_bytes_max());
    let to_agree = to_agree(&own, &record);
    let all = |repo: &RepoKey| match request.policy.shares(repo) {
        true => MayLeave::Yes,
        false => MayLeave::No,
    };
    let wanted = WantedTree::of(&standing, &own, all);
    let WantedTree { new: lines, withdrawn, .. } = wanted;
    Ok(Preview { lines, withdrawn, to_agree, left_out: own.left_out, not_compared })
}
