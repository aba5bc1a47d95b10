//! Delivers the lines of the own logs to the team's server, in their order and each once: the log is the outbox, and a small
//! file in the store says how far it was delivered. A line that was delivered, but not noted before this process was
//! killed, is sent again under its id, which changes nothing. Not here: the requests (`delivery`), reading (`log_outbox`), the
//! file (`delivered_logs`).

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use event::{Event, EventId};
use settings::SyncPolicy;
use store::{FileLock, Store, StoreError};

use crate::delivered_logs::DeliveredLogs;
use crate::delivery::{
    DeliveryOutcome, delivery_outcome, delivery_request, idempotency_key, length_problem,
};
use crate::log_outbox::{DeliveryTries, LogOutbox, PAUSE_MAX, PAUSE_MIN};
use crate::own_memories::OwnMemories;
use crate::team_actions::named_memories;
use crate::team_server::TeamServer;

/// How long one delivery may take.
const DELIVERY: Duration = Duration::from_secs(10);

/// Memories that the server refused or does not know are remembered up to this many.
const UNKNOWN_MAX: usize = 10_000;

/// How it stands with the deliveries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutboxState {
    /// How many lines the server took since this process began.
    pub delivered: usize,
    /// How many it will never take.
    pub refused: usize,
    /// Which was the last of those, and why.
    pub refusal: Option<String>,
    /// Why something waits.
    pub waiting_reason: Option<String>,
    /// Whether everything waits.
    is_away: bool,
    /// How often it was rung, and how often it had been when it last looked at all logs.
    rung: u64,
    looked: u64,
}

/// The thread that delivers.
pub struct Outbox {
    bell: SyncSender<()>,
    state: Arc<Mutex<OutboxState>>,
    thread: JoinHandle<()>,
}

impl Outbox {
    /// Starts to deliver what is in the logs of a store and what comes. From the first time on: what is older stays.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn start(store: Store, policy: SyncPolicy, server: Arc<TeamServer>) -> io::Result<Self> {
        let (bell, rung) = sync_channel(1);
        let state = Arc::new(Mutex::new(OutboxState::default()));
        let mut logs = Logs {
            file: DeliveredLogs::for_server(&store, &server.shown()),
            store,
            tails: BTreeMap::new(),
            turn: None,
            policy,
            own: OwnMemories::default(),
            unknown: HashSet::new(),
            server,
            state: Arc::clone(&state),
        };
        // Before anything is saved: what is there now was there before. Without a folder the first write makes it.
        let _ = logs.store.ensure();
        if let Err(why) = logs.has_turn() {
            logs.update_state(|state| state.waiting_reason = Some(why));
        }
        let thread = std::thread::Builder::new()
            .name("outbox".to_owned())
            .spawn(move || logs.deliver_until_closed(&rung))?;
        Ok(Self { bell, state, thread })
    }

    /// Has it look at the logs now.
    pub fn wake(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).rung += 1;
        // One that was rung and did not look yet will.
        let _ = self.bell.try_send(());
    }

    pub fn state(&self) -> OutboxState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Delivers what waits before the end, for at most this long.
    pub fn finish(self, patience: Duration) {
        self.wake();
        let Self { bell, thread, state } = self;
        let end = Instant::now() + patience;
        let is_done = || {
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.looked == state.rung || state.is_away
        };
        while !is_done() && Instant::now() < end {
            std::thread::park_timeout(Duration::from_millis(10));
        }
        drop(bell);
        // It notes how far it came.
        while !thread.is_finished() && Instant::now() < end {
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }
}

/// The logs of a store, as far as they are delivered.
struct Logs {
    store: Store,
    file: DeliveredLogs,
    tails: BTreeMap<PathBuf, LogOutbox>,
    /// The right to deliver, which one process of a store has.
    turn: Option<FileLock>,
    policy: SyncPolicy,
    own: OwnMemories,
    /// Memories that the server refused, or does not know although it was asked for long.
    unknown: HashSet<EventId>,
    server: Arc<TeamServer>,
    state: Arc<Mutex<OutboxState>>,
}

/// How it stands after looking at one log, or at all.
enum Left {
    Nothing,
    /// Something of this log.
    Some(String),
    /// Everything: the server takes nothing.
    All(String),
}

impl Logs {
    fn update_state(&self, change: impl FnOnce(&mut OutboxState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn deliver_until_closed(&mut self, rung: &Receiver<()>) {
        let mut pause = PAUSE_MIN;
        loop {
            let left = self.deliver();
            pause = match left {
                Left::All(_) => (pause * 2).min(PAUSE_MAX),
                Left::Some(_) | Left::Nothing => PAUSE_MIN,
            };
            // Another process of this store may have the turn, and hooks write too.
            let longest = if matches!(left, Left::Nothing) { PAUSE_MIN * 2 } else { pause };
            match rung.recv_timeout(longest) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    /// Delivers all that can be delivered now, and tells what is left.
    fn deliver(&mut self) -> Left {
        let begun = self.state.lock().unwrap_or_else(PoisonError::into_inner).rung;
        let left = match self.has_turn() {
            Ok(true) => self.deliver_logs(),
            // Another process delivers.
            Ok(false) => Left::Nothing,
            Err(why) => Left::All(why),
        };
        self.update_state(|state| {
            state.looked = begun;
            state.is_away = matches!(left, Left::All(_));
            state.waiting_reason = match &left {
                Left::Nothing => None,
                Left::Some(why) | Left::All(why) => Some(why.clone()),
            };
        });
        left
    }

    /// Tells whether this process delivers.
    fn has_turn(&mut self) -> Result<bool, String> {
        if self.turn.is_some() {
            return Ok(true);
        }
        let turn = match FileLock::acquire(&self.file.lock_path(), 0) {
            Ok(turn) => turn,
            Err(StoreError::Busy { .. }) => return Ok(false),
            Err(error) => return Err(failed_to(&error)),
        };
        self.tails.clear();
        self.file.load(&self.store)?;
        self.turn = Some(turn);
        Ok(true)
    }

    /// Looks at each log: one that waits does not stop the others.
    fn deliver_logs(&mut self) -> Left {
        let logs = match self.store.logs() {
            Ok(logs) => logs,
            Err(error) => return Left::Some(failed_to(&error)),
        };
        let mut all = Left::Nothing;
        for log in logs {
            let resumed = || LogOutbox::open(&log, self.file.place(&log).cloned());
            let mut of_log = self.tails.remove(&log).unwrap_or_else(resumed);
            let left = self.deliver_log(&log, &mut of_log);
            self.record_place(&log, &of_log);
            self.tails.insert(log, of_log);
            match left {
                Left::Nothing => {}
                Left::Some(_) => all = left,
                Left::All(_) => return left,
            }
        }
        match (self.file.write(), all) {
            (Err(why), Left::Nothing) => Left::Some(why),
            (_, all) => all,
        }
    }

    fn record_place(&mut self, log: &Path, of_log: &LogOutbox) {
        if let Some(place) = of_log.place(self.file.place(log)) {
            self.file.set_place(log, place);
        }
        // The end of the round tells that it cannot be written.
        let _ = self.file.write();
    }

    fn deliver_log(&mut self, log: &Path, of_log: &mut LogOutbox) -> Left {
        if let Some(why) = of_log.tries().rest_reason(Instant::now()) {
            return Left::Some(why.to_owned());
        }
        loop {
            while let Some((event, tries)) = of_log.front() {
                let delivered = self.deliver_event(event, tries.unknown_answers);
                let (delivered, id) = (self.settled(event, tries, delivered), event.id.clone());
                match delivered {
                    None => of_log.advance(),
                    Some(DeliveryOutcome::Delivered) => {
                        self.update_state(|state| state.delivered += 1);
                        of_log.advance();
                    }
                    Some(DeliveryOutcome::Refused(why)) => {
                        self.update_state(|state| {
                            state.refused += 1;
                            state.refusal = Some(format!("{}: {why}", id.short()));
                        });
                        of_log.advance();
                    }
                    Some(DeliveryOutcome::Unavailable(why)) => return Left::All(why),
                    Some(
                        DeliveryOutcome::Unknown(why)
                        | DeliveryOutcome::InProgress(why)
                        | DeliveryOutcome::Failed(why),
                    ) => {
                        tries.record_failure(why.clone(), Instant::now());
                        return Left::Some(why);
                    }
                }
            }
            self.record_place(log, of_log);
            let own = &mut self.own;
            match of_log.read_on(&self.store, |event| own.add_event(event)) {
                Ok(true) => {}
                Ok(false) => return Left::Nothing,
                Err(error) => return Left::Some(failed_to(&error)),
            }
        }
    }

    /// Sends an event. `None` if it stays.
    fn deliver_event(&mut self, event: &Event, answers: usize) -> Option<DeliveryOutcome> {
        let mut request = delivery_request(event, &self.policy)?;
        if event.memory_id.is_some() {
            match self.own.contains_any(&named_memories(event), &self.store) {
                Ok(true) => return None,
                Ok(false) => {}
                Err(error @ StoreError::Damaged { .. }) => {
                    let why = format!("it may be about a memory that stays: failed to {error}");
                    return Some(DeliveryOutcome::Refused(why));
                }
                Err(error) => return Some(DeliveryOutcome::Failed(failed_to(&error))),
            }
            request.idempotency_key = Some(idempotency_key(&event.id, answers));
        }
        if let Some(why) = length_problem(&request) {
            return Some(DeliveryOutcome::Refused(why));
        }
        let answer = self.server.ask(request).wait(DELIVERY);
        Some(delivery_outcome(event, &answer))
    }

    /// Decides how long a deed waits for a server that does not know its memory.
    fn settled(
        &mut self,
        event: &Event,
        tries: &mut DeliveryTries,
        delivered: Option<DeliveryOutcome>,
    ) -> Option<DeliveryOutcome> {
        let about = event.memory_id.as_ref().unwrap_or(&event.id);
        match delivered? {
            DeliveryOutcome::Unknown(why) => {
                tries.unknown_answers += 1;
                let is_late = tries.record_unknown(Instant::now()) || self.unknown.contains(about);
                if !is_late {
                    return Some(DeliveryOutcome::Unknown(why));
                }
                self.does_not_know(about);
                Some(DeliveryOutcome::Refused(why))
            }
            DeliveryOutcome::InProgress(why) if tries.record_unknown(Instant::now()) => {
                Some(DeliveryOutcome::Refused(why))
            }
            DeliveryOutcome::Refused(why) => {
                if event.memory_id.is_none() {
                    self.does_not_know(about);
                }
                Some(DeliveryOutcome::Refused(why))
            }
            other => Some(other),
        }
    }

    fn does_not_know(&mut self, memory: &EventId) {
        if self.unknown.len() < UNKNOWN_MAX {
            self.unknown.insert(memory.clone());
        }
    }
}

fn failed_to(error: &StoreError) -> String {
    format!("this machine failed to {error}")
}
