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
use crate::delivery::{Delivered, mark_of, outcome, request_of, too_long};
use crate::log_outbox::{LogOutbox, PAUSE_MAX, PAUSE_MIN, Tries};
use crate::own_memories::OwnMemories;
use crate::team_deeds::memories_of;
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
    pub waits: Option<String>,
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
            file: DeliveredLogs::of(&store, &server.shown()),
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
            logs.tell(|state| state.waits = Some(why));
        }
        let thread = std::thread::Builder::new()
            .name("outbox".to_owned())
            .spawn(move || logs.deliver_until_closed(&rung))?;
        Ok(Self { bell, state, thread })
    }

    /// Has it look at the logs now.
    pub fn ring(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).rung += 1;
        // One that was rung and did not look yet will.
        let _ = self.bell.try_send(());
    }

    pub fn state(&self) -> OutboxState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Delivers what waits before the end, for at most this long.
    pub fn finish(self, patience: Duration) {
        self.ring();
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
enum Remaining {
    Nothing,
    /// Something of this log.
    Some(String),
    /// Everything: the server takes nothing.
    All(String),
}

impl Logs {
    fn tell(&self, change: impl FnOnce(&mut OutboxState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn deliver_until_closed(&mut self, rung: &Receiver<()>) {
        let mut pause = PAUSE_MIN;
        loop {
            let remaining = self.deliver();
            pause = match remaining {
                Remaining::All(_) => (pause * 2).min(PAUSE_MAX),
                Remaining::Some(_) | Remaining::Nothing => PAUSE_MIN,
            };
            // Another process of this store may have the turn, and hooks write too.
            let longest =
                if matches!(remaining, Remaining::Nothing) { PAUSE_MIN * 2 } else { pause };
            match rung.recv_timeout(longest) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    /// Delivers all that can be delivered now, and returns what is left.
    fn deliver(&mut self) -> Remaining {
        let begun = self.state.lock().unwrap_or_else(PoisonError::into_inner).rung;
        let remaining = match self.has_turn() {
            Ok(true) => self.deliver_logs(),
            // Another process delivers.
            Ok(false) => Remaining::Nothing,
            Err(why) => Remaining::All(why),
        };
        self.tell(|state| {
            state.looked = begun;
            state.is_away = matches!(remaining, Remaining::All(_));
            state.waits = match &remaining {
                Remaining::Nothing => None,
                Remaining::Some(why) | Remaining::All(why) => Some(why.clone()),
            };
        });
        remaining
    }

    /// Tells whether this process delivers.
    fn has_turn(&mut self) -> Result<bool, String> {
        if self.turn.is_some() {
            return Ok(true);
        }
        let turn = match FileLock::take(&self.file.turn(), 0) {
            Ok(turn) => turn,
            Err(StoreError::Busy { .. }) => return Ok(false),
            Err(error) => return Err(failure_text(&error)),
        };
        self.tails.clear();
        self.file.begin(&self.store)?;
        self.turn = Some(turn);
        Ok(true)
    }

    /// Looks at each log: one that waits does not stop the others.
    fn deliver_logs(&mut self) -> Remaining {
        let logs = match self.store.logs() {
            Ok(logs) => logs,
            Err(error) => return Remaining::Some(failure_text(&error)),
        };
        let mut all = Remaining::Nothing;
        for log in logs {
            let resumed = || LogOutbox::of(&log, self.file.place(&log).cloned());
            let mut of_log = self.tails.remove(&log).unwrap_or_else(resumed);
            let remaining = self.deliver_log(&log, &mut of_log);
            self.note(&log, &of_log);
            self.tails.insert(log, of_log);
            match remaining {
                Remaining::Nothing => {}
                Remaining::Some(_) => all = remaining,
                Remaining::All(_) => return remaining,
            }
        }
        match (self.file.write(), all) {
            (Err(why), Remaining::Nothing) => Remaining::Some(why),
            (_, all) => all,
        }
    }

    fn note(&mut self, log: &Path, of_log: &LogOutbox) {
        if let Some(place) = of_log.place(self.file.place(log)) {
            self.file.note(log, place);
        }
        // The end of the round reports that the file cannot be written.
        let _ = self.file.write();
    }

    fn deliver_log(&mut self, log: &Path, of_log: &mut LogOutbox) -> Remaining {
        if let Some(why) = of_log.tries().rests(Instant::now()) {
            return Remaining::Some(why.to_owned());
        }
        loop {
            while let Some((event, tries)) = of_log.front() {
                let delivered = self.deliver_event(event, tries.answers);
                let (delivered, id) =
                    (self.delivery_result(event, tries, delivered), event.id.clone());
                match delivered {
                    None => of_log.pass(),
                    Some(Delivered::Yes) => {
                        self.tell(|state| state.delivered += 1);
                        of_log.pass();
                    }
                    Some(Delivered::Refused(why)) => {
                        self.tell(|state| {
                            state.refused += 1;
                            state.refusal = Some(format!("{}: {why}", id.short()));
                        });
                        of_log.pass();
                    }
                    Some(Delivered::Away(why)) => return Remaining::All(why),
                    Some(
                        Delivered::Unknown(why) | Delivered::UnderWay(why) | Delivered::Failed(why),
                    ) => {
                        tries.failed(why.clone(), Instant::now());
                        return Remaining::Some(why);
                    }
                }
            }
            self.note(log, of_log);
            let own = &mut self.own;
            match of_log.read_on(&self.store, |event| own.note(event)) {
                Ok(true) => {}
                Ok(false) => return Remaining::Nothing,
                Err(error) => return Remaining::Some(failure_text(&error)),
            }
        }
    }

    /// Sends an event. `None` if it stays.
    fn deliver_event(&mut self, event: &Event, answers: usize) -> Option<Delivered> {
        let mut request = request_of(event, &self.policy)?;
        if event.memory_id.is_some() {
            match self.own.have(&memories_of(event), &self.store) {
                Ok(true) => return None,
                Ok(false) => {}
                Err(error @ StoreError::Damaged { .. }) => {
                    let why = format!("it may be about a memory that stays: failed to {error}");
                    return Some(Delivered::Refused(why));
                }
                Err(error) => return Some(Delivered::Failed(failure_text(&error))),
            }
            request.mark = Some(mark_of(&event.id, answers));
        }
        if let Some(why) = too_long(&request) {
            return Some(Delivered::Refused(why));
        }
        let answer = self.server.ask(request).within(DELIVERY);
        Some(outcome(event, &answer))
    }

    /// Decides how long an action waits for a server that does not know its memory.
    fn delivery_result(
        &mut self,
        event: &Event,
        tries: &mut Tries,
        delivered: Option<Delivered>,
    ) -> Option<Delivered> {
        let about = event.memory_id.as_ref().unwrap_or(&event.id);
        match delivered? {
            Delivered::Unknown(why) => {
                tries.answers += 1;
                let is_late = tries.unknown(Instant::now()) || self.unknown.contains(about);
                if !is_late {
                    return Some(Delivered::Unknown(why));
                }
                self.record_unknown_memory(about);
                Some(Delivered::Refused(why))
            }
            Delivered::UnderWay(why) if tries.unknown(Instant::now()) => {
                Some(Delivered::Refused(why))
            }
            Delivered::Refused(why) => {
                if event.memory_id.is_none() {
                    self.record_unknown_memory(about);
                }
                Some(Delivered::Refused(why))
            }
            other => Some(other),
        }
    }

    fn record_unknown_memory(&mut self, memory: &EventId) {
        if self.unknown.len() < UNKNOWN_MAX {
            self.unknown.insert(memory.clone());
        }
    }
}

fn failure_text(error: &StoreError) -> String {
    format!("this machine failed to {error}")
}
