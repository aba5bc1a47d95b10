//! Answers as of a past time, for callers of a shared process: the logs are read again up to that time, by words alone, and
//! what was read is kept for the next question about the same time. Not here: the command line, which does the same in a process
//! of its own (`retriever::as_of`), which lines count (`settings::PastPosition`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

use crate::local::shared_core::{Core, KeptPastMemory, PastMemory};
use crate::local::{Local, snapshots};
use engine::watch::WatchMode;
use engine::{Engine, EngineSetup};
use event::{Problems, Timestamp};
use memory::MemoryBound;
use requests::caller::Patience;
use requests::{ApiError, Mode, Reply};
use search::TimePoint;
use settings::{Config, PastPosition};
use writer::exit::Exit;
use writer::{Moment, Writer};

/// Questions about the past that are under way or wait. They are answered one after another, since each time that is asked
/// about takes as much memory as the present.
const WAITING_MAX: usize = 4;

/// How long one waits for those before it, and how long for the logs to be read.
const WAIT: Duration = Duration::from_secs(30);

/// How often it is checked whether it is its turn.
const TURN: Duration = Duration::from_millis(5);

/// How long what was read is kept without a question: somebody moves a slider and looks.
const KEPT: Duration = Duration::from_secs(60);

/// Answers a question as of a time; `None` where it is about the present.
pub(super) fn answer(
    local: &Local,
    as_of: Option<TimePoint>,
    mode: Mode,
    ask: impl FnOnce(&Local) -> Result<Reply, ApiError>,
) -> Option<Result<Reply, ApiError>> {
    let point = as_of?;
    let now = local.core.now();
    let time = point.last(now, local.core.config.days);
    if time >= now {
        return None;
    }
    let reply = answer_at(local, time, mode, ask);
    Some(reply.map(|reply| reply.with_field("as_of", time.to_string().into())))
}

fn answer_at(
    local: &Local,
    time: Timestamp,
    mode: Mode,
    ask: impl FnOnce(&Local) -> Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    let refuse = |message: &str| Err(Problems::one("as_of", message).into());
    if mode == Mode::Dense {
        return refuse("cannot stand beside mode dense: the past is searched by words");
    }
    if local.core.config.as_of.is_some() {
        return refuse("is given already, by the option --as-of");
    }
    let _waiting = WaitingCall::begin(&local.core.past)?;
    let mut kept = wait_for_turn(&local.core.past)?;
    if kept.as_ref().is_none_or(|kept| kept.time != time) {
        // First the old one goes: two would take twice the memory.
        *kept = None;
        let core = Arc::new(open(local, time)?);
        *kept = Some(KeptPastMemory { time, core, used: Instant::now() });
        free_later(&local.core);
    }
    let Some(past) = kept.as_mut() else { return Err(busy()) };
    let whole = past.core.engine.snapshot_within(WAIT);
    past.used = Instant::now();
    // The newest lines alone, as of the present, would say nothing about an earlier time.
    let Some(whole) = whole.map_err(snapshots::stopped_error)? else {
        let message = "the logs are still being read as of that time; ask again in a moment";
        return Err(ApiError::Failed { exit: Exit::Busy, message: message.to_owned() });
    };
    // Who checked the present may not have seen older ones, which it has no room for.
    if local.answers_others && whole.memories().iter().any(|memory| memory.provenance.is_private) {
        let why =
            "is a time of which this store holds private memories, which never leave their machine";
        return Err(Problems::one("as_of", why).into());
    }
    let reply = ask(&caller_in_past(local, &past.core));
    past.used = Instant::now();
    reply
}

/// Counts one question, until dropped.
struct WaitingCall<'a>(&'a PastMemory);

impl<'a> WaitingCall<'a> {
    fn begin(past: &'a PastMemory) -> Result<Self, ApiError> {
        let this = Self(past);
        if past.waiting.fetch_add(1, Ordering::SeqCst) >= WAITING_MAX {
            Err(busy())
        } else {
            Ok(this)
        }
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

fn wait_for_turn(past: &PastMemory) -> Result<MutexGuard<'_, Option<KeptPastMemory>>, ApiError> {
    let deadline = Instant::now() + WAIT;
    loop {
        match past.kept.try_lock() {
            Ok(kept) => return Ok(kept),
            Err(TryLockError::Poisoned(kept)) => return Ok(kept.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Err(busy()),
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(TURN),
        }
    }
}

fn busy() -> ApiError {
    let message = "other questions about the past are being answered; ask again in a moment";
    ApiError::Failed { exit: Exit::Busy, message: message.to_owned() }
}

/// Begins to read the logs as of a time.
fn open(local: &Local, time: Timestamp) -> Result<Core, ApiError> {
    let core = &local.core;
    let as_of = Some(PastPosition { time, end: None });
    let config = Config { as_of, ..core.config.clone() };
    let bytes_max = snapshots::view(local)?.snapshot.memory_usage().bytes_max;
    let setup = EngineSetup {
        store: core.store.clone(),
        config: config.clone(),
        bound: MemoryBound { bytes_max, vector_bytes: 0 },
        watching: WatchMode::PollOnly,
        dense: None,
        checkpoints: None,
    };
    let engine = Engine::start(setup).map_err(|error| ApiError::Failed {
        exit: Exit::Internal,
        message: format!("failed to read the logs: {error}"),
    })?;
    let Moment { random, .. } = (core.clock)();
    Ok(Core {
        engine,
        store: core.store.clone(),
        config,
        watching: WatchMode::PollOnly,
        model_dir: core.model_dir.clone(),
        query_log: None,
        delivery_journal: None,
        links: <_>::default(),
        analysis_cache: <_>::default(),
        past_sessions: <_>::default(),
        work_trees: <_>::default(),
        past: <_>::default(),
        second_source: core.second_source.clone(),
        // The past is searched by words alone.
        reranker: None,
        doctor: <_>::default(),
        // Ages are those of then.
        clock: Box::new(move || Moment { now: time, random }),
    })
}

/// Returns the caller, with the memory of a past time.
fn caller_in_past(local: &Local, core: &Arc<Core>) -> Local {
    let Writer { store, directory, identity, .. } = &local.writer;
    let (store, config) = (store.clone(), core.config.clone());
    Local {
        core: Arc::clone(core),
        writer: Writer { store, config, directory: directory.clone(), identity: identity.clone() },
        place: local.place.clone(),
        here: local.here.clone(),
        package: local.package.clone(),
        patience: Patience { index: WAIT, ..local.patience },
        // That it is by words alone is documented, and has nothing to do with the model.
        missing_model_reported: AtomicBool::new(true),
        past_sessions: local.past_sessions,
        answers_others: local.answers_others,
    }
}

/// Frees what was read once nobody has asked for a while.
fn free_later(core: &Arc<Core>) {
    if core.past.is_freed_later.swap(true, Ordering::SeqCst) {
        return;
    }
    let weak: Weak<Core> = Arc::downgrade(core);
    let started = std::thread::Builder::new().name("past".to_owned()).spawn(move || {
        let mut wait = KEPT;
        loop {
            std::thread::park_timeout(wait);
            let Some(core) = weak.upgrade() else { return };
            let mut kept = core.past.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.as_ref().is_none_or(|kept| kept.used.elapsed() >= KEPT) {
                *kept = None;
                core.past.is_freed_later.store(false, Ordering::SeqCst);
                return;
            }
            let used = kept.as_ref().map_or(KEPT, |kept| kept.used.elapsed());
            wait = KEPT.saturating_sub(used);
        }
    });
    if started.is_err() {
        // It is freed by the next time that is asked about, which tries again.
        core.past.is_freed_later.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-REST-14
    #[test]
    fn only_so_many_questions_wait() {
        let past = PastMemory::default();
        let mut waiting: Vec<_> =
            (0..WAITING_MAX).map(|_| WaitingCall::begin(&past).unwrap()).collect();
        assert!(WaitingCall::begin(&past).is_err() && WaitingCall::begin(&past).is_err());
        waiting.pop();
        assert!(WaitingCall::begin(&past).is_ok(), "one that was refused takes no place");
        drop(waiting);
        assert_eq!(past.waiting.load(Ordering::SeqCst), 0);
    }
}
