//! What callers get of the state: snapshots of all logs, or of what is known by now. Not here: reading the logs and
//! handling messages (`run`).

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::Instant;

use super::super::CatchUpReason;
use super::{LoadingState, LoopState, ReadState};
use crate::follow::{Follower, Window};
use crate::{EngineView, LogCoverage};
use search::snapshot::Snapshot;

/// Bytes of a caller's log that are read for an answer while all logs are read: a thousand memories
/// of the usual length, which take a tenth of a second.
const RECENT_HOME_BYTES: u64 = 512 * 1024;

/// Number of callers' logs that are read in full: more repositories than one person works in at a time.
const RECENT_HOMES_MAX: usize = 8;

/// Bytes of all other logs together.
const RECENT_OTHERS_BYTES: u64 = 512 * 1024;

impl LoopState {
    /// Returns a snapshot of all logs. `None` while they are being read.
    pub(in crate::owner) fn full_snapshot(&mut self, why: CatchUpReason) -> Option<Snapshot> {
        if why == CatchUpReason::Question {
            self.record_question();
        }
        self.catch_up();
        match &self.reading {
            ReadState::Following(follower) if !follower.is_behind() => {
                Some(self.of_model(follower.snapshot()))
            }
            ReadState::Loading(_) | ReadState::Following(_) => None,
        }
    }

    /// Returns what is known now. `None` while all logs are read for the first time.
    pub(in crate::owner) fn current_view(&mut self, home: &Path) -> Option<EngineView> {
        self.record_question();
        self.order.record_home(home);
        self.catch_up();
        match &self.reading {
            ReadState::Loading(_) => None,
            ReadState::Following(follower) => Some(self.view_of(follower)),
        }
    }

    pub(super) fn view_of(&self, follower: &Follower) -> EngineView {
        let extent = if follower.is_behind() { LogCoverage::Behind } else { LogCoverage::Whole };
        EngineView { snapshot: self.of_model(follower.snapshot()), coverage: extent }
    }

    pub(super) fn send_current_view(&mut self, reply: Sender<EngineView>, home: &Path) {
        if let Some(view) = self.current_view(home) {
            // The caller may have stopped waiting.
            let _ = reply.send(view);
        } else if let ReadState::Loading(loading) = &mut self.reading {
            loading.waiting.push(reply);
        }
    }

    pub(super) fn record_own_write(&mut self, log: PathBuf, offset: u64) {
        match &mut self.reading {
            ReadState::Following(follower) => follower.record_own_write(log, offset),
            ReadState::Loading(loading) => {
                if let Some(recent) = &mut loading.recent {
                    recent.record_own_write(log.clone(), offset);
                }
                loading.own.push((log, offset));
            }
        }
    }

    /// Notes whether lines are left out now, and lets the embedding of texts give way as long as that was lately so.
    pub(super) fn record_pressure(&mut self) {
        let change = self.pressure.record_backlog(self.is_behind(), Instant::now());
        if let Some(pace) = change {
            let models = [self.models.now(), self.models.next()];
            models.into_iter().flatten().for_each(|model| model.worker.set_pace(pace));
        }
    }

    /// Does a piece of the work on the index that can wait, unless others press. Returns whether there is more.
    pub(super) fn settle_if_calm(&mut self) -> bool {
        match &mut self.reading {
            ReadState::Following(follower) if !self.pressure.is_under_pressure() => {
                follower.settle()
            }
            ReadState::Loading(_) | ReadState::Following(_) => false,
        }
    }

    pub(super) fn is_behind(&self) -> bool {
        matches!(&self.reading, ReadState::Following(follower) if follower.is_behind())
    }

    pub(super) fn read_backlog(&mut self) {
        if let ReadState::Following(follower) = &mut self.reading {
            follower.read_backlog();
        }
        if !self.is_behind() {
            self.catch_up();
        }
    }

    /// Answers those who wait for all logs, once nothing is left out.
    pub(super) fn answer_waiting(&mut self) {
        if let ReadState::Following(follower) = &self.reading
            && !follower.is_behind()
        {
            for reply in std::mem::take(&mut self.waiting) {
                // The caller may have stopped waiting.
                let _ = reply.send(self.of_model(follower.snapshot()));
            }
        }
    }

    pub(super) fn send_full_snapshot(&mut self, reply: Sender<Snapshot>, why: CatchUpReason) {
        if let Some(snapshot) = self.full_snapshot(why) {
            // The caller may have stopped waiting.
            let _ = reply.send(snapshot);
        } else {
            self.waiting.push(reply);
        }
    }

    pub(super) fn recent_view(&mut self, home: PathBuf) -> EngineView {
        self.catch_up();
        if let ReadState::Following(follower) = &self.reading {
            return self.view_of(follower);
        }
        let snapshot = self.recent_snapshot(home);
        EngineView { snapshot: self.of_model(snapshot), coverage: LogCoverage::Recent }
    }

    /// Returns what is known while all logs are read for the first time.
    fn recent_snapshot(&mut self, home: PathBuf) -> Snapshot {
        match &mut self.reading {
            ReadState::Following(follower) => follower.snapshot(),
            ReadState::Loading(loading) => {
                let LoadingState { store, config, bound, recent, homes, own, .. } = &mut **loading;
                let is_new = homes.len() < RECENT_HOMES_MAX && homes.insert(home);
                let recent = match recent {
                    Some(recent) if !is_new => recent,
                    other => other.insert({
                        let (home_bytes, others_bytes) = (RECENT_HOME_BYTES, RECENT_OTHERS_BYTES);
                        let window = Window { homes: homes.clone(), home_bytes, others_bytes };
                        let mut recent =
                            Follower::recent(store.clone(), config.clone(), *bound, window);
                        for (log, offset) in &*own {
                            recent.record_own_write(log.clone(), *offset);
                        }
                        Box::new(recent)
                    }),
                };
                recent.catch_up();
                recent.snapshot()
            }
        }
    }
}
