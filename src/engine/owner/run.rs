//! The engine thread: handles each message. Not here: the messages and how they are sent (`owner`).

mod embedding_order;
mod embedding_queue;
mod pressure;
mod switching;
mod views;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::engine_input::{EngineInput, OwnWrites, PendingBatches};
use super::models::RunningModels;
use super::next_model::PreparedModel;
use crate::EngineView;
use crate::checkpoint::Checkpoints;
use crate::follow::{CatchUpReport, EmbeddingRequest, Follower};
use crate::watch::Watch;
use embedding_order::EmbeddingOrder;
use index::late::SignStore;
use memory::MemoryBound;
use pressure::Pressure;
use search::snapshot::Snapshot;
use settings::Config;
use store::Store;

/// How long the thread sleeps without a hint, and the longest time without a look at every file.
/// Watchers lose events on some systems; a sweep over two hundred logs costs less than a
/// millisecond.
const POLL_MS: u64 = 2_000;

/// How long no query came before a checkpoint is written, in milliseconds. Writing takes a second
/// for a million memories, and a query would wait for it.
const QUIET_MS: u64 = 10_000;

/// The longest time without a checkpoint, in milliseconds, however many queries come.
const UNSAVED_MS_MAX: u64 = 600_000;

/// New memories that make a new checkpoint worthwhile.
const NEWS_MIN: usize = 200;

/// Reads all logs on a thread of its own, so that queries are answered meanwhile.
pub(super) fn load(
    mut follower: Follower,
    checkpoints: Option<Checkpoints>,
    inbox: Sender<EngineInput>,
) -> std::io::Result<()> {
    let read = move || {
        if let Some(checkpoints) = checkpoints {
            // Without a checkpoint all logs are read.
            follower.restore(&checkpoints);
        }
        let checkpoint_len = follower.known_len();
        let caught_up = follower.catch_up();
        while follower.settle() {}
        // The engine may have been stopped meanwhile.
        let _ = inbox.send(EngineInput::Loaded {
            follower: Box::new(follower),
            caught_up,
            checkpoint_len,
        });
    };
    std::thread::Builder::new().name("load".to_owned()).spawn(read).map(drop)
}

pub(super) struct LoopState {
    reading: ReadState,
    models: RunningModels,
    /// The model that is to answer next.
    preparing: Option<PreparedModel>,
    pending_batches: PendingBatches,
    own_writes: OwnWrites,
    pressure: Pressure,
    /// Memories whose texts are not in the worker's queue yet, the most urgent last.
    unqueued: Vec<EmbeddingRequest>,
    order: EmbeddingOrder,
    /// Memories that still need the signs of their tokens.
    without_signs: Vec<EmbeddingRequest>,
    schedule: Option<CheckpointSchedule>,
    /// The callers that wait for a snapshot of all logs.
    waiting: Vec<Sender<Snapshot>>,
    /// The last look at every file.
    swept_at: Instant,
    _watch: Watch,
}

/// Decides when checkpoints are written.
struct CheckpointSchedule {
    checkpoints: Checkpoints,
    /// What the last checkpoint held ([`Follower::known_len`]).
    checkpoint_len: usize,
    written_at: Instant,
    asked_at: Instant,
}

impl CheckpointSchedule {
    fn new(checkpoints: Checkpoints) -> Self {
        let now = Instant::now();
        Self { checkpoints, checkpoint_len: 0, written_at: now, asked_at: now }
    }

    /// Tells whether a checkpoint is due. `len` is the present [`Follower::known_len`].
    fn is_due(&self, len: usize) -> bool {
        let (quiet, unsaved) =
            (Duration::from_millis(QUIET_MS), Duration::from_millis(UNSAVED_MS_MAX));
        let is_quiet = self.asked_at.elapsed() >= quiet && len >= self.checkpoint_len + NEWS_MIN;
        is_quiet || self.written_at.elapsed() >= unsaved
    }
}

/// The progress of reading.
pub(super) enum ReadState {
    /// All logs are being read.
    Loading(Box<LoadingState>),
    /// All logs have been read, and new lines are followed.
    Following(Box<Follower>),
}

/// Handles messages until the engine stops. A panic while the state is locked ends the thread,
/// since the state is unknown then.
pub(super) fn run(state: &Mutex<LoopState>, messages: &Receiver<EngineInput>) {
    let mut wait = Duration::from_millis(POLL_MS);
    loop {
        let message = messages.recv_timeout(wait);
        let Ok(mut state) = state.lock() else { return };
        match message {
            Ok(EngineInput::Hint) => {
                // Hints come in bursts; one look serves them all.
                while let Some(input) = messages.try_iter().next() {
                    if !matches!(input, EngineInput::Hint) && state.handle(input).is_none() {
                        return;
                    }
                }
                state.catch_up();
                // Under hints without end there is never a timeout.
                if state.is_behind() {
                    state.read_backlog();
                }
            }
            Ok(input) => {
                if state.handle(input).is_none() {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) if state.is_behind() => state.read_backlog(),
            Err(RecvTimeoutError::Timeout) => state.catch_up(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        state.record_pressure();
        state.answer_waiting();
        state.save_if_due();
        state.switch_if_whole();
        // What can wait is done while nobody asks.
        let has_more = state.is_behind() || state.settle_if_calm();
        wait = if has_more { Duration::ZERO } else { Duration::from_millis(POLL_MS) };
    }
}

/// The state while all logs are read.
pub(super) struct LoadingState {
    store: Store,
    config: Config,
    bound: MemoryBound,
    /// The source of answers until then.
    recent: Option<Box<Follower>>,
    /// The logs of the callers so far.
    homes: BTreeSet<PathBuf>,
    /// The callers that wait until all logs were read.
    waiting: Vec<Sender<EngineView>>,
    /// What this process wrote meanwhile.
    own: Vec<(PathBuf, u64)>,
}

impl ReadState {
    pub(super) fn loading(store: Store, config: Config, bound: MemoryBound) -> Self {
        Self::Loading(Box::new(LoadingState {
            store,
            config,
            bound,
            recent: None,
            homes: BTreeSet::new(),
            waiting: Vec::new(),
            own: Vec::new(),
        }))
    }
}

impl LoopState {
    pub(super) fn new(
        reading: ReadState,
        models: RunningModels,
        pending_batches: PendingBatches,
        own_writes: OwnWrites,
        is_pressed: Arc<AtomicBool>,
        checkpoints: Option<Checkpoints>,
        watch: Watch,
    ) -> Self {
        let schedule = checkpoints.map(CheckpointSchedule::new);
        let (unqueued, without_signs, swept_at) = (Vec::new(), Vec::new(), Instant::now());
        Self {
            reading,
            models,
            preparing: None,
            pending_batches,
            own_writes,
            pressure: Pressure::new(is_pressed),
            unqueued,
            order: EmbeddingOrder::default(),
            without_signs,
            schedule,
            waiting: Vec::new(),
            swept_at,
            _watch: watch,
        }
    }

    /// Handles one message. `None` means stop.
    fn handle(&mut self, input: EngineInput) -> Option<()> {
        match input {
            EngineInput::Hint => self.catch_up(),
            EngineInput::Embedded(space, batch)
                if self.models.next().is_some_and(|next| next.space == space) =>
            {
                self.store_next_vectors(&batch);
                self.pending_batches.fetch_sub(1, Ordering::SeqCst);
            }
            // Of a model that answers no more.
            EngineInput::Embedded(space, _)
                if self.models.now().is_none_or(|model| model.space != space) =>
            {
                self.pending_batches.fetch_sub(1, Ordering::SeqCst);
            }
            EngineInput::Switch(next) => self.begin_switch(next),
            EngineInput::Embedded(_, batch) => {
                if let ReadState::Following(follower) = &mut self.reading {
                    let without_signs =
                        batch.iter().filter_map(|embedded| follower.store_vector(embedded));
                    self.without_signs.extend(without_signs);
                }
                self.pending_batches.fetch_sub(1, Ordering::SeqCst);
                self.submit_wanted();
            }
            EngineInput::Loaded { follower, caught_up, checkpoint_len } => {
                self.follow_loaded(follower, caught_up, checkpoint_len);
            }
            EngineInput::SaveCheckpoint(reply) => {
                self.save_checkpoint();
                // The caller may have stopped waiting.
                let _ = reply.send(());
            }
            EngineInput::FullSnapshot(reply, why) => self.send_full_snapshot(reply, why),
            EngineInput::CurrentView(reply, home) => self.send_current_view(reply, &home),
            EngineInput::RecentView(reply, home) => {
                let view = self.recent_view(home);
                // The caller may have stopped waiting.
                let _ = reply.send(view);
            }
            EngineInput::Stop => return None,
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

    /// Saves a checkpoint. If that fails, the next start reads more.
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

    fn record_question(&mut self) {
        if let Some(schedule) = &mut self.schedule {
            schedule.asked_at = Instant::now();
        }
    }

    /// Takes over the follower that has read all logs, and reads what was written since.
    fn follow_loaded(
        &mut self,
        mut follower: Box<Follower>,
        caught_up: CatchUpReport,
        checkpoint_len: usize,
    ) {
        // The settings may have changed since, also before the checkpoint was read.
        follower.change_model_access(self.models.now().and_then(|model| model.may_see.clone()));
        if let Some(schedule) = &mut self.schedule {
            schedule.checkpoint_len = checkpoint_len;
        }
        let before = std::mem::replace(&mut self.reading, ReadState::Following(follower));
        self.take_in(caught_up);
        let ReadState::Loading(loading) = before else { return };
        let LoadingState { waiting, own, .. } = *loading;
        own.into_iter().for_each(|(log, offset)| self.record_own_write(log, offset));
        self.catch_up();
        self.begin_waiting_switch();
        if let ReadState::Following(follower) = &self.reading {
            for reply in waiting {
                let _ = reply.send(self.view_of(follower));
            }
        }
    }

    fn sign_store(&self) -> Option<Arc<dyn SignStore>> {
        self.models.now()?.worker.sign_store()
    }

    /// Completes a snapshot with what belongs to the model.
    fn of_model(&self, snapshot: Snapshot) -> Snapshot {
        let now = self.models.now();
        let (space, scale) =
            now.map_or_else(Default::default, |model| (model.space, model.scale()));
        Snapshot { space, scale, ..snapshot }.with_sign_store(self.sign_store())
    }

    /// Hands on what this process wrote since the last look.
    fn take_own_writes(&mut self) {
        let taken = |mut own: MutexGuard<'_, Vec<_>>| std::mem::take(&mut *own);
        let own_writes = taken(self.own_writes.lock().unwrap_or_else(PoisonError::into_inner));
        own_writes.into_iter().for_each(|(log, offset)| self.record_own_write(log, offset));
    }

    fn catch_up(&mut self) {
        self.take_own_writes();
        if let ReadState::Following(follower) = &mut self.reading {
            if self.swept_at.elapsed() >= Duration::from_millis(POLL_MS) {
                // The change queue does not report writes to a mapped file.
                follower.recheck_all();
                self.swept_at = Instant::now();
            }
            let caught_up = follower.catch_up();
            self.take_in(caught_up);
        }
    }

    fn take_in(&mut self, CatchUpReport { to_embed, to_sign, started_over }: CatchUpReport) {
        if started_over {
            self.unqueued.clear();
            self.without_signs.clear();
        }
        self.request_next_vectors(&to_embed, started_over);
        if self.models.now().is_some() {
            self.unqueued.extend(to_embed);
            self.order.record_news();
            self.without_signs.extend(to_sign);
            self.submit_wanted();
        }
    }
}
