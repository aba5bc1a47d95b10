//! The loop itself: what becomes of each message. Not here: the messages and how they are sent (`engine`).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{CatchUpReason, Input, PendingBatches};
use crate::checkpoint::Checkpoints;
use crate::follow::{CaughtUp, Follower, Wanted, Window};
use crate::watch::Watch;
use crate::{Extent, View};
use index::embed::worker::{SubmitError, Want, Worker};
use index::late::Shelf;
use memory::Bound;
use search::snapshot::Snapshot;
use store::{Config, Store};

/// How much of the log at hand is read for an answer while all is read: a thousand memories of the usual
/// length, which take a tenth of a second.
const RECENT_HOME_BYTES: u64 = 512 * 1024;

/// Logs at hand of which so much is read: more repositories than one person works in at a time.
const RECENT_HOMES_MAX: usize = 8;

/// How much of all other logs together.
const RECENT_OTHERS_BYTES: u64 = 512 * 1024;

/// How long the loop sleeps without a hint, and how long at most not every file is looked at. Watchers lose events
/// on some systems; a sweep over two hundred logs costs less than a millisecond.
const POLL_MS: u64 = 2_000;

/// How long nobody has asked before a checkpoint is written, in milliseconds: writing takes a second for a
/// million memories, during which a question would wait.
const QUIET_MS: u64 = 10_000;

/// How long at most what is new stays out of a checkpoint, in milliseconds, however many ask.
const UNSAVED_MS_MAX: u64 = 600_000;

/// Texts that wait for the model when those join them that have a vector already: enough that it is never
/// idle, few enough that what is new is behind seconds of them.
const SIGNING_MAX: usize = 64;

/// How many memories more than the checkpoint had are read before it is worth a new one.
const NEWS_MIN: usize = 200;

/// Reads all there is on a thread of its own, so that the loop can answer meanwhile.
pub(super) fn load(
    mut follower: Follower,
    checkpoints: Option<Checkpoints>,
    inbox: Sender<Input>,
) -> std::io::Result<()> {
    let read = move || {
        if let Some(checkpoints) = checkpoints {
            // Without one all is read.
            follower.restore(&checkpoints);
        }
        let checkpoint_len = follower.known_len();
        let followed = follower.catch_up();
        // The loop may have been stopped meanwhile.
        let _ =
            inbox.send(Input::Loaded { follower: Box::new(follower), followed, checkpoint_len });
    };
    std::thread::Builder::new().name("load".to_owned()).spawn(read).map(drop)
}

pub(super) struct LoopState {
    reading: ReadState,
    worker: Option<Arc<Worker>>,
    pending_batches: PendingBatches,
    /// Memories whose texts the worker had no room for.
    unqueued: Vec<Wanted>,
    /// Memories whose texts it shall have once more, for the signs of their tokens.
    without_signs: Vec<Wanted>,
    schedule: Option<CheckpointSchedule>,
    /// When every file was looked at last.
    swept_at: Instant,
    _watch: Watch,
}

/// When checkpoints are written.
struct CheckpointSchedule {
    checkpoints: Checkpoints,
    /// How many memories with vectors, and without, the last one had.
    checkpoint_len: usize,
    written_at: Instant,
    asked_at: Instant,
}

impl CheckpointSchedule {
    fn new(checkpoints: Checkpoints) -> Self {
        let now = Instant::now();
        Self { checkpoints, checkpoint_len: 0, written_at: now, asked_at: now }
    }

    /// Tells whether it is time for one; `len` is how many memories there are.
    fn is_due(&self, len: usize) -> bool {
        let (quiet, unsaved) =
            (Duration::from_millis(QUIET_MS), Duration::from_millis(UNSAVED_MS_MAX));
        let is_quiet = self.asked_at.elapsed() >= quiet && len >= self.checkpoint_len + NEWS_MIN;
        is_quiet || self.written_at.elapsed() >= unsaved
    }
}

/// How far the reading is.
pub(super) enum ReadState {
    /// All there is is being read.
    Loading(Box<LoadingState>),
    /// All has been read, and what comes is followed.
    Following(Box<Follower>),
}

/// Handles what comes, until the end. Who panics while holding the state ends it: nobody knows what it is then.
pub(super) fn run(state: &Mutex<LoopState>, messages: &Receiver<Input>) {
    loop {
        let message = messages.recv_timeout(Duration::from_millis(POLL_MS));
        let Ok(mut state) = state.lock() else { return };
        match message {
            Ok(Input::Hint) => {
                // Hints come in bursts; one look serves them all.
                while let Some(input) = messages.try_iter().next() {
                    if !matches!(input, Input::Hint) && state.handle(input).is_none() {
                        return;
                    }
                }
                state.catch_up();
            }
            Ok(input) => {
                if state.handle(input).is_none() {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => state.catch_up(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        state.save_if_due();
    }
}

/// What there is until then.
pub(super) struct LoadingState {
    store: Store,
    config: Config,
    bound: Bound,
    /// What is answered from until then.
    recent: Option<Box<Follower>>,
    /// The logs at hand of those who asked until then.
    homes: BTreeSet<PathBuf>,
    /// Who waits for all of it.
    waiting: Vec<Sender<Snapshot>>,
}

impl ReadState {
    pub(super) fn loading(store: Store, config: Config, bound: Bound) -> Self {
        Self::Loading(Box::new(LoadingState {
            store,
            config,
            bound,
            recent: None,
            homes: BTreeSet::new(),
            waiting: Vec::new(),
        }))
    }
}

impl LoopState {
    pub(super) fn new(
        reading: ReadState,
        worker: Option<Arc<Worker>>,
        pending_batches: PendingBatches,
        checkpoints: Option<Checkpoints>,
        watch: Watch,
    ) -> Self {
        let schedule = checkpoints.map(CheckpointSchedule::new);
        let (unqueued, without_signs, swept_at) = (Vec::new(), Vec::new(), Instant::now());
        Self {
            reading,
            worker,
            pending_batches,
            unqueued,
            without_signs,
            schedule,
            swept_at,
            _watch: watch,
        }
    }

    /// Handles one message; `None` at the end.
    fn handle(&mut self, input: Input) -> Option<()> {
        match input {
            Input::Hint => self.catch_up(),
            Input::Embedded(batch) => {
                if let ReadState::Following(follower) = &mut self.reading {
                    let without_signs =
                        batch.iter().filter_map(|embedded| follower.embedded(embedded));
                    self.without_signs.extend(without_signs);
                }
                self.pending_batches.fetch_sub(1, Ordering::SeqCst);
                self.submit_wanted();
            }
            Input::Loaded { follower, followed, checkpoint_len } => {
                self.loaded(follower, followed, checkpoint_len);
            }
            Input::SaveCheckpoint(reply) => {
                self.save_checkpoint();
                // Whoever asked may have gone.
                let _ = reply.send(());
            }
            Input::FullSnapshot(reply, why) => self.send_full_snapshot(reply, why),
            Input::RecentView(reply, home) => {
                let view = self.recent_view(home);
                // Whoever asked may have given up.
                let _ = reply.send(view);
            }
            Input::Stop => return None,
        }
        Some(())
    }

    fn save_if_due(&mut self) {
        let (Some(schedule), ReadState::Following(follower)) = (&self.schedule, &self.reading)
        else {
            return;
        };
        if schedule.is_due(follower.known_len()) {
            self.save_checkpoint();
        }
    }

    /// Writes a checkpoint. One that could not be written is missed at the next start only.
    fn save_checkpoint(&mut self) {
        self.catch_up();
        let (Some(schedule), ReadState::Following(follower)) =
            (&mut self.schedule, &mut self.reading)
        else {
            return;
        };
        let _ = follower.save(&schedule.checkpoints);
        (schedule.checkpoint_len, schedule.written_at) = (follower.known_len(), Instant::now());
    }

    fn note_question(&mut self) {
        if let Some(schedule) = &mut self.schedule {
            schedule.asked_at = Instant::now();
        }
    }

    /// Returns the state of all there is; nothing while that is being read.
    pub(super) fn full_snapshot(&mut self, why: CatchUpReason) -> Option<Snapshot> {
        if why == CatchUpReason::Question {
            self.note_question();
        }
        self.catch_up();
        match &self.reading {
            ReadState::Loading(_) => None,
            ReadState::Following(follower) => Some(follower.snapshot().on(self.shelf())),
        }
    }

    fn send_full_snapshot(&mut self, reply: Sender<Snapshot>, why: CatchUpReason) {
        if let Some(snapshot) = self.full_snapshot(why) {
            // Whoever asked may have given up.
            let _ = reply.send(snapshot);
        } else if let ReadState::Loading(loading) = &mut self.reading {
            loading.waiting.push(reply);
        }
    }

    fn recent_view(&mut self, home: PathBuf) -> View {
        self.catch_up();
        let shelf = self.shelf();
        match &mut self.reading {
            ReadState::Following(follower) => {
                View { snapshot: follower.snapshot().on(shelf), extent: Extent::Whole }
            }
            ReadState::Loading(loading) => {
                let LoadingState { store, config, bound, recent, homes, .. } = &mut **loading;
                let is_new = homes.len() < RECENT_HOMES_MAX && homes.insert(home);
                let recent = match recent {
                    Some(recent) if !is_new => recent,
                    other => other.insert({
                        let (home_bytes, others_bytes) = (RECENT_HOME_BYTES, RECENT_OTHERS_BYTES);
                        let window = Window { homes: homes.clone(), home_bytes, others_bytes };
                        Box::new(Follower::recent(store.clone(), config.clone(), *bound, window))
                    }),
                };
                recent.catch_up();
                View { snapshot: recent.snapshot().on(shelf), extent: Extent::Recent }
            }
        }
    }

    /// Takes over what was read, with what has come since.
    fn loaded(&mut self, follower: Box<Follower>, followed: CaughtUp, checkpoint_len: usize) {
        if let Some(schedule) = &mut self.schedule {
            schedule.checkpoint_len = checkpoint_len;
        }
        let loading = std::mem::replace(&mut self.reading, ReadState::Following(follower));
        self.take_in(followed);
        self.catch_up();
        if let (ReadState::Loading(loading), ReadState::Following(follower)) =
            (loading, &self.reading)
        {
            for reply in loading.waiting {
                let _ = reply.send(follower.snapshot().on(self.shelf()));
            }
        }
    }

    fn shelf(&self) -> Option<Arc<dyn Shelf>> {
        self.worker.as_ref()?.shelf()
    }

    fn catch_up(&mut self) {
        if let ReadState::Following(follower) = &mut self.reading {
            if self.swept_at.elapsed() >= Duration::from_millis(POLL_MS) {
                // The system does not tell of everything: not of what is written to a file that is mapped.
                follower.recheck_all();
                self.swept_at = Instant::now();
            }
            let followed = follower.catch_up();
            self.take_in(followed);
        }
    }

    fn take_in(&mut self, CaughtUp { to_embed, to_sign, started_over }: CaughtUp) {
        if started_over {
            self.unqueued.clear();
            self.without_signs.clear();
        }
        if self.worker.is_some() {
            self.unqueued.extend(to_embed);
            self.without_signs.extend(to_sign);
            self.submit_wanted();
        }
    }

    /// Hands texts to the worker as far as it has room, the newest first; those that are found without it only
    /// where little else waits.
    fn submit_wanted(&mut self) {
        let (Some(worker), ReadState::Following(follower)) = (&self.worker, &self.reading) else {
            return;
        };
        while let Some(wanted) = self.unqueued.pop() {
            let Some(job) = follower.job(wanted, Want::Vector) else { continue };
            match worker.submit(job) {
                Ok(()) => {}
                Err(SubmitError::Full(_)) => {
                    self.unqueued.push(wanted);
                    return;
                }
                Err(SubmitError::Stopped(_)) => self.unqueued.clear(),
            }
        }
        while worker.queued() < SIGNING_MAX
            && let Some(wanted) = self.without_signs.pop()
        {
            let Some(job) = follower.job(wanted, Want::Signs) else { continue };
            match worker.submit(job) {
                Ok(()) => {}
                Err(SubmitError::Full(_)) => self.without_signs.push(wanted),
                Err(SubmitError::Stopped(_)) => self.without_signs.clear(),
            }
        }
    }
}
