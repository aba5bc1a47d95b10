//! One round with a remote: publish what is new here, bring in what is new there. Each step can be the last one of a process
//! that is killed, and the next round goes on from there. Not here: the ways to a remote (`transport`).

use event::{RepoKey, StoreOrigin};
use jiff::Timestamp;
use store::TeamTurn;

use crate::mirror_update::{MirrorUpdater, ORIGIN_BYTES_MAX, silent_origins};
use crate::outgoing_lines::{OutgoingLines, collect_outgoing};
use crate::own_signature::{OwnSigning, record_own_key};
use crate::published_tree::{PublishedTree, SharePermission, WantedTree};
use crate::sync_record::SyncRecord;
use crate::sync_report::{SyncReport, WaitingLines, counted};
use crate::sync_request::{Consent, FOLDER, SyncRequest};
use crate::sync_state::SyncState;
use crate::waiting_lines::{log_state, unagreed_repos, waiting_lines};
use crate::{NextTree, PublishOutcome, RemoteHistory, SyncError, Tip, Tips, Transport};

/// How long a round waits for another one of the same store, in milliseconds.
const TURN_MS_MAX: u64 = 2_000;

/// How often publishing starts over because the remote changed meanwhile, which only a copy of this store does.
const TRIES_MAX: usize = 3;

/// Does one round. If the remote does not answer, the report says so, and how many lines wait.
///
/// # Errors
/// [`SyncError`]; [`store::StoreError::Busy`] while another round of this store goes on.
pub fn sync_round(
    request: &SyncRequest<'_>,
    transport: &mut dyn Transport,
) -> Result<SyncReport, SyncError> {
    let turn = request.store.team_turn(TURN_MS_MAX)?;
    let folder = request.cache.join(FOLDER);
    store::own_folder(&folder)?;
    // What cannot be brought in now is shared next time.
    let _ = request.store.bring_in_spool();
    match round(request, transport, &turn) {
        Err(SyncError::Cache { .. }) => {
            transport.forget()?;
            round(request, transport, &turn)
        }
        done => done,
    }
}

fn round(
    request: &SyncRequest<'_>,
    transport: &mut dyn Transport,
    turn: &TeamTurn,
) -> Result<SyncReport, SyncError> {
    let folder = request.cache.join(FOLDER);
    let record = SyncRecord::read(request.store, request.remote)?;
    let mut round = Round {
        request,
        state: SyncState::read(&folder, request.store, request.remote),
        report: SyncReport::new(request.store.ensure_origin(request.host, (request.random)())?),
        logs: log_state(request.store, request.policy, &record)?,
        record,
        own: None,
        signing: OwnSigning::Off,
    };
    round.signing = OwnSigning::begin(transport, request.policy, &round.record, &mut round.report)?;
    (request.steps)("begun");
    let reached = round.publish(transport).and_then(|tips| {
        (request.steps)("published");
        let (store, now, steps) = (request.store, request.now, request.steps);
        let origin_bytes_max = ORIGIN_BYTES_MAX;
        let policy = request.policy;
        let mirroring = MirrorUpdater { store, turn, now, origin_bytes_max, policy, steps };
        let known = (&mut round.state, &mut round.record);
        mirroring.bring_in_all(transport, &tips, known, &mut round.report)
    });
    match reached {
        Ok(()) => round.state.reached_at = Some(request.now.as_second()),
        Err(error @ (SyncError::Remote { .. } | SyncError::Unreadable(_))) => {
            round.not_reached(&error)?;
        }
        Err(error) => return Err(error),
    }
    round.report.silent = silent_origins(request.store, request.now)?;
    round.state.write();
    Ok(round.report)
}

struct Round<'a> {
    request: &'a SyncRequest<'a>,
    record: SyncRecord,
    state: SyncState,
    report: SyncReport,
    /// What the own logs looked like when the round began.
    logs: String,
    /// What may leave, once it was read.
    own: Option<OutgoingLines>,
    signing: OwnSigning,
}

/// What became of a try to publish.
enum PublishTry {
    /// The remote has what it should, under this tip; `None` if there is nothing to share.
    Settled(Option<Tip>),
    /// It refused, and that is told.
    Refused,
    /// It changed meanwhile.
    Again,
}

impl Round<'_> {
    /// Publishes what is new, and returns what the remote has.
    fn publish(&mut self, transport: &mut dyn Transport) -> Result<Tips, SyncError> {
        // Before the remote is asked: a yes holds although it is away.
        self.agree()?;
        let tips = transport.tips()?;
        if self.is_settled(&tips) {
            self.tell_settled();
            self.state.waiting_since = None;
            return Ok(tips);
        }
        let mut own = self.take_own()?;
        own.leave_out_longer_than(transport.line_bytes_max());
        self.report.left_out = own.left_out.clone();
        let published = self.publish_in_tries(transport, &own, tips);
        self.own = Some(own);
        published
    }

    fn publish_in_tries(
        &mut self,
        transport: &mut dyn Transport,
        own: &OutgoingLines,
        mut tips: Tips,
    ) -> Result<Tips, SyncError> {
        for _ in 0..TRIES_MAX {
            match self.publish_on(transport, own, &tips) {
                Ok(PublishTry::Settled(tip)) => {
                    let to_agree = &self.report.to_agree;
                    self.state.settle(&self.logs, tip, (to_agree, own.left_out.clone()));
                    return Ok(tips);
                }
                Ok(PublishTry::Refused) => return Ok(tips),
                Ok(PublishTry::Again) => {}
                Err(
                    error @ (SyncError::Remote { .. }
                    | SyncError::Unreadable(_)
                    | SyncError::Signing(_)),
                ) => {
                    // The others are heard all the same.
                    self.report.trouble.push(format!("our own part: {error}"));
                    self.wait(waiting_lines(own, &self.record));
                    return Ok(tips);
                }
                Err(error) => return Err(error),
            }
            (self.request.steps)("again");
            tips = transport.tips()?;
        }
        self.report.trouble.push("the remote kept changing; try again".to_owned());
        self.wait(waiting_lines(own, &self.record));
        Ok(tips)
    }

    /// Returns what may leave. It is read once in a round, by whoever needs it first.
    fn take_own(&mut self) -> Result<OutgoingLines, SyncError> {
        let SyncRequest { store, policy, .. } = self.request;
        let read = || collect_outgoing(store, policy, &self.record.allowed());
        Ok(self.own.take().map_or_else(read, Ok)?)
    }

    /// Notes what somebody agrees to share now.
    fn agree(&mut self) -> Result<(), SyncError> {
        let consent = &self.request.consent;
        let known = self.state.settled_at(&self.logs, &self.record);
        let may_be_asked = known.is_none_or(|known| {
            known.to_agree().iter().any(|(repo, _)| consent.covers(repo))
                || !known.tip().is_none_or(|tip| self.record.has_published(&tip))
        });
        if *consent == Consent::AsBefore || !may_be_asked {
            return Ok(());
        }
        let own = self.take_own()?;
        let logs = own.logs.iter().filter(|log| !log.lines.is_empty());
        for log in logs.filter(|log| consent.covers(&log.repo)) {
            self.record.agree(&log.repo, self.request.now);
        }
        self.own = Some(own);
        self.record.write()
    }

    /// Publishes on what the remote has.
    fn publish_on(
        &mut self,
        transport: &mut dyn Transport,
        own: &OutgoingLines,
        tips: &Tips,
    ) -> Result<PublishTry, SyncError> {
        let origin = self.report.origin.clone();
        let tip = tips.tips.get(&origin);
        let forged = match tip {
            Some(tip) if self.signing.is_forged(transport, (&origin, tip), &self.record)? => {
                Some(tip)
            }
            _ => None,
        };
        if let Some(tip) = forged {
            let why = "our own part: somebody without our key wrote it; what this store shares takes its place";
            self.report_trouble_once(why.to_owned());
            let standing = PublishedTree::forged(transport, &origin, (tip, &self.record));
            return self.publish_in_place(transport, own, standing);
        }
        let standing = match (PublishedTree::read(transport, &origin, (tip, &self.record)), tip) {
            (Ok(Some(standing)), _) => standing,
            (Ok(None), _) => return Ok(PublishTry::Again),
            // Somebody else put it there. What we published ourselves may only be damaged here.
            (Err(SyncError::Unreadable(_)), Some(tip)) if !self.record.has_published(tip) => {
                PublishedTree::unreadable(tip)
            }
            (Err(error), _) => return Err(error),
        };
        if !standing.is_ours(&self.record, own, self.request.policy) {
            self.renew(&origin)?;
            return Ok(PublishTry::Again);
        }
        self.publish_in_place(transport, own, standing)
    }

    /// Publishes in the place of what this store published before.
    fn publish_in_place(
        &mut self,
        transport: &mut dyn Transport,
        own: &OutgoingLines,
        standing: PublishedTree,
    ) -> Result<PublishTry, SyncError> {
        let origin = self.report.origin.clone();
        (self.request.steps)("compared");
        let to_agree = unagreed_repos(own, &self.record);
        let may_leave = |repo: &RepoKey| match self.request.policy.shares(repo) {
            false => SharePermission::No,
            true if self.record.is_agreed(repo) => SharePermission::Yes,
            true => SharePermission::NotYet,
        };
        let wanted = WantedTree::plan(&standing, own, may_leave);
        self.report.to_agree = to_agree;
        let gone = wanted.gone.iter().map(|repo| {
            format!("the log of {repo} is gone from this store; its lines stay on the remote")
        });
        gone.for_each(|what| self.report_trouble_once(what));
        if standing.damaged > 0 {
            let files = counted(standing.damaged, "file");
            self.report
                .trouble
                .push(format!("our own part: {files} lost there, and published again"));
        }
        let is_due = standing.tip.is_some()
            && (standing.is_forged || self.signing.is_missing(&origin, &self.record));
        if !is_due && !wanted.is_news(&standing) {
            if let Some(tip) = &standing.tip {
                self.settled(tip, wanted.lines)?;
            }
            self.state.waiting_since = None;
            return Ok(PublishTry::Settled(standing.tip));
        }
        if let Some(tip) = standing.tip.as_ref().filter(|_| !standing.is_forged) {
            // What is there takes this place in the record before the next tree is noted beside it. Otherwise two rounds
            // that are killed one after the other would leave a tree that nobody knows.
            self.record.published(tip, standing.lines());
        }
        match self.publish_tree(transport, (&standing, &wanted), &origin)? {
            PublishOutcome::Done => {
                self.report.pushed = wanted.new.len();
                self.report.withdrawn = wanted.withdrawn;
                self.state.waiting_since = None;
                let tip = self.record.published_tip().map(|tip| Tip(tip.to_owned()));
                Ok(PublishTry::Settled(tip))
            }
            PublishOutcome::Conflict => Ok(PublishTry::Again),
            PublishOutcome::Refused(why) => {
                self.report.trouble.push(format!("the remote refused our lines: {why}"));
                self.wait(wanted.new.len());
                Ok(PublishTry::Refused)
            }
        }
    }

    /// Prepares and publishes a tree. A remote that drops no history gets the tree on top of it.
    fn publish_tree(
        &mut self,
        transport: &mut dyn Transport,
        (standing, wanted): (&PublishedTree, &WantedTree),
        origin: &StoreOrigin,
    ) -> Result<PublishOutcome, SyncError> {
        let next = |history| NextTree {
            origin,
            on: standing.tip.as_ref(),
            history,
            files: wanted.parts(standing),
            at: self.request.now,
        };
        let first = next(wanted.history(standing));
        let published = self.put_one(transport, &first, wanted.lines)?;
        if first.history == RemoteHistory::Keep || !matches!(published, PublishOutcome::Refused(_))
        {
            return Ok(published);
        }
        let published = self.put_one(transport, &next(RemoteHistory::Keep), wanted.lines)?;
        if published == PublishOutcome::Done {
            let why = "the remote drops no history, so withdrawn lines can still be found there";
            self.report.trouble.push(why.to_owned());
        }
        Ok(published)
    }

    fn put_one(
        &mut self,
        transport: &mut dyn Transport,
        next: &NextTree<'_>,
        lines: usize,
    ) -> Result<PublishOutcome, SyncError> {
        let tip = transport.prepare(next)?;
        let key = self.signing.key_of_tree(transport, (next.origin, &tip))?;
        // Noted before, so that a tip that is there after a crash is known to be ours.
        self.record.publishing(&tip);
        self.record.write()?;
        (self.request.steps)("noted");
        let published = transport.publish(next, &tip)?;
        (self.request.steps)("pushed");
        if published == PublishOutcome::Done {
            if let Some(key) = key {
                let own = (next.origin, key.as_str());
                let told = record_own_key(&mut self.record, own, self.request.now);
                told.into_iter().for_each(|what| self.report_trouble_once(what));
            }
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
        if self.state.settled_at(&self.logs, &self.record).is_some() {
            self.tell_settled();
            return Ok(());
        }
        let own = self.take_own()?;
        self.report.left_out = own.left_out.clone();
        self.report.to_agree = unagreed_repos(&own, &self.record);
        let lines = waiting_lines(&own, &self.record);
        if lines > 0 {
            self.wait(lines);
        }
        Ok(())
    }

    /// Tells something once, also if publishing starts over.
    fn report_trouble_once(&mut self, what: String) {
        if !self.report.trouble.contains(&what) {
            self.report.trouble.push(what);
        }
    }

    fn wait(&mut self, lines: usize) {
        let now = self.request.now.as_second();
        let since = *self.state.waiting_since.get_or_insert(now);
        let since = Timestamp::from_second(since).unwrap_or(self.request.now);
        self.report.waiting = Some(WaitingLines { lines, since });
    }

    /// Tells whether the logs are as they were when the remote got what it still has.
    fn is_settled(&self, tips: &Tips) -> bool {
        let there = tips.tips.get(&self.report.origin);
        let settled = self.state.settled_at(&self.logs, &self.record);
        settled.is_some_and(|settled| settled.tip().as_ref() == there)
            && (there.is_none() || !self.signing.is_missing(&self.report.origin, &self.record))
            && there.is_none_or(|there| self.record.has_published(there))
    }

    /// Tells what was found when the logs were read last.
    fn tell_settled(&mut self) {
        if let Some(settled) = self.state.settled_at(&self.logs, &self.record) {
            self.report.to_agree = settled.to_agree();
            self.report.left_out = settled.left_out.clone();
        }
    }
}
