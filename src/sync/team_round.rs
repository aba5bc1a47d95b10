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
        let (policy, origin_bytes_max) = (request.policy, ORIGIN_BYTES_MAX);
        let mirroring = MirrorUpdater { store, turn, now, origin_bytes_max, policy, steps };
        let Round { state, record, report, .. } = &mut round;
        mirroring.bring_in_all(transport, &tips, state, record, report)
    });
    match reached {
        Ok(()) => round.state.reached_at = Some(request.now.as_second()),
        Err(error @ (SyncError::Remote { .. } | SyncError::Unreadable(_))) => {
            round.record_unreachable(&error)?;
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

/// The result of one try to publish.
enum PublishTry {
    /// The remote has what it should, under this tip; `None` if there is nothing to share.
    Settled(Option<Tip>),
    /// It refused, as the report says.
    Refused,
    /// It changed meanwhile.
    Again,
}

impl Round<'_> {
    /// Publishes what is new, and returns what the remote has.
    fn publish(&mut self, transport: &mut dyn Transport) -> Result<Tips, SyncError> {
        // Before the remote is asked: the consent counts even if it does not answer.
        self.agree()?;
        let tips = transport.tips()?;
        if self.is_settled(&tips) {
            self.report_settled();
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
                    self.state.settle(&self.logs, tip, to_agree, own.left_out.clone());
                    return Ok(tips);
                }
                Ok(PublishTry::Refused) => return Ok(tips),
                Ok(PublishTry::Again) => {}
                Err(
                    error @ (SyncError::Remote { .. }
                    | SyncError::Unreadable(_)
                    | SyncError::Signing(_)),
                ) => {
                    // The other origins are still read.
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

    /// Returns what may leave. It is read once in a round, when it is needed first.
    fn take_own(&mut self) -> Result<OutgoingLines, SyncError> {
        let SyncRequest { store, policy, .. } = self.request;
        let read = || collect_outgoing(store, policy, &self.record.allowed());
        Ok(self.own.take().map_or_else(read, Ok)?)
    }

    /// Records what somebody agrees to share now.
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
            Some(tip) if self.signing.is_forged(transport, &origin, tip, &self.record)? => {
                Some(tip)
            }
            _ => None,
        };
        if let Some(tip) = forged {
            let why = "our own part: somebody without our key wrote it; what this store shares takes its place";
            self.report_trouble_once(why.to_owned());
            let standing = PublishedTree::forged(transport, &origin, tip, &self.record);
            return self.publish_in_place(transport, own, standing);
        }
        let standing = match (PublishedTree::read(transport, &origin, tip, &self.record), tip) {
            (Ok(Some(standing)), _) => standing,
            (Ok(None), _) => return Ok(PublishTry::Again),
            // Somebody else published it. Our own tree may only be damaged here.
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

    /// Replaces the tree that this store published before.
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
        gone.for_each(|trouble| self.report_trouble_once(trouble));
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
                self.settle(tip, wanted.lines)?;
            }
            self.state.waiting_since = None;
            return Ok(PublishTry::Settled(standing.tip));
        }
        if let Some(tip) = standing.tip.as_ref().filter(|_| !standing.is_forged) {
            // The tree on the remote is recorded as ours before the next tree is recorded beside it. Otherwise two rounds
            // that are killed one after the other would leave a tree that the record does not know.
            self.record.published(tip, standing.lines());
        }
        match self.publish_tree(transport, &standing, &wanted, &origin)? {
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
        standing: &PublishedTree,
        wanted: &WantedTree,
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
        let published = self.publish_once(transport, &first, wanted.lines)?;
        if first.history == RemoteHistory::Keep || !matches!(published, PublishOutcome::Refused(_))
        {
            return Ok(published);
        }
        let published = self.publish_once(transport, &next(RemoteHistory::Keep), wanted.lines)?;
        if published == PublishOutcome::Done {
            let why = "the remote drops no history, so withdrawn lines can still be found there";
            self.report.trouble.push(why.to_owned());
        }
        Ok(published)
    }

    fn publish_once(
        &mut self,
        transport: &mut dyn Transport,
        next: &NextTree<'_>,
        lines: usize,
    ) -> Result<PublishOutcome, SyncError> {
        let tip = transport.prepare(next)?;
        let key = self.signing.key_of_tree(transport, next.origin, &tip)?;
        // Recorded first, so that the tip is known as ours after a crash.
        self.record.publishing(&tip);
        self.record.write()?;
        (self.request.steps)("noted");
        let published = transport.publish(next, &tip)?;
        (self.request.steps)("pushed");
        if published == PublishOutcome::Done {
            if let Some(key) = key {
                let (record, now) = (&mut self.record, self.request.now);
                let notice = record_own_key(record, next.origin, &key, now);
                notice.into_iter().for_each(|trouble| self.report_trouble_once(trouble));
            }
            self.settle(&tip, lines)?;
        }
        Ok(published)
    }

    fn settle(&mut self, tip: &Tip, lines: usize) -> Result<(), SyncError> {
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

    fn record_unreachable(&mut self, error: &SyncError) -> Result<(), SyncError> {
        self.report.is_reached = false;
        self.report.trouble.push(error.to_string());
        if self.state.settled_at(&self.logs, &self.record).is_some() {
            self.report_settled();
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

    /// Reports a problem once, also if publishing starts over.
    fn report_trouble_once(&mut self, trouble: String) {
        if !self.report.trouble.contains(&trouble) {
            self.report.trouble.push(trouble);
        }
    }

    fn wait(&mut self, lines: usize) {
        let now = self.request.now.as_second();
        let since = *self.state.waiting_since.get_or_insert(now);
        let since = Timestamp::from_second(since).unwrap_or(self.request.now);
        self.report.waiting = Some(WaitingLines { lines, since });
    }

    /// Tells whether the logs have not changed since the remote got the tree that it has.
    fn is_settled(&self, tips: &Tips) -> bool {
        let remote_tip = tips.tips.get(&self.report.origin);
        let settled = self.state.settled_at(&self.logs, &self.record);
        settled.is_some_and(|settled| settled.tip().as_ref() == remote_tip)
            && (remote_tip.is_none() || !self.signing.is_missing(&self.report.origin, &self.record))
            && remote_tip.is_none_or(|remote_tip| self.record.has_published(remote_tip))
    }

    /// Reports what the last reading of the logs found.
    fn report_settled(&mut self) {
        if let Some(settled) = self.state.settled_at(&self.logs, &self.record) {
            self.report.to_agree = settled.to_agree();
            self.report.left_out = settled.left_out.clone();
        }
    }
}
