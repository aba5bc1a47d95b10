//! The thread that announces new lines of the logs in the journal and passes the journal on to listeners. Every listener has
//! a place of its own in the journal and a bounded queue, so a slow one holds up nobody. Not here: what a listener is sent
//! over HTTP (`events`), what a line says (`api::journal`).

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc as frames;
use tokio::sync::mpsc::error::TrySendError;

use crate::private_memories::PrivateMemories;
use crate::request_guard::Refusal;
use api::journal::announcer::{AnnouncedLines, Announcer};
use api::journal::journal_line::{JournalMemories, listener_line};
use api::journal::sequence::Sequence;
use api::journal::{Journal, kind};
use api::local::Core;
use engine::watch::{Watch, WatchMode};
use event::Timestamp;
use index::embed::worker::WorkerState;
use search::snapshot::Snapshot;
use store::own_folder;

/// The shortest time between two looks: in a storm of writes one look serves many.
const LOOK_MS_MIN: u64 = 20;

/// The same after a look that found more than is announced one by one, or could not write.
const FLOOD_MS: u64 = 1_000;

/// The longest time between two looks, in case the system reports no change.
const LOOK_MS_MAX: u64 = 2_000;

/// The same where the system reports no changes at all, while somebody listens.
const POLL_MS: u64 = 100;

/// How often a listener whose queue was full is served again.
const LAG_MS: u64 = 50;

/// How often it is checked whether new memories have been indexed, and how long without progress it takes until that is
/// given up.
const INDEX_MS: u64 = 250;
const INDEX_MS_MAX: u64 = 30_000;

/// Pieces that may wait for a listener, and the bytes of the journal in each. The last place is for `lost`.
pub const QUEUE_MAX: usize = 16;
const PIECE_BYTES: u64 = 16 * 1024;

/// How long a listener may take nothing while its queue is full. Then it is dropped.
const SLOW_MS: u64 = 10_000;

/// A new listener.
pub struct NewListener {
    /// Where it goes on; `None` for the present end.
    pub from: Option<Sequence>,
    /// Whether it may hear what is for the owner of the server.
    pub is_owner: bool,
    /// Its queue.
    pub queue: frames::Sender<Bytes>,
    /// Called if it is dropped because it is slow.
    pub on_drop: Box<dyn FnOnce() + Send>,
}

/// The handle of the thread, which ends when this is dropped.
pub struct LiveJournal(Sender<Wake>);

enum Wake {
    /// Something may have changed.
    Hint,
    /// Somebody listens.
    Listen(NewListener),
    /// The server ends.
    Stop,
}

impl LiveJournal {
    /// Starts the thread. `None` where the journal is off, or the system refused a thread.
    /// `private` is asked before anything is told to other machines.
    pub fn start(
        core: &Arc<Core>,
        watching: WatchMode,
        private: Option<Arc<PrivateMemories>>,
    ) -> Option<Self> {
        let journal = core.delivery_journal.as_ref()?.journal().clone();
        let (sender, wakes) = channel();
        let (store, config) = (core.store.clone(), core.config.clone());
        let state = LiveState {
            core: Arc::downgrade(core),
            announcer: Announcer::new(journal.clone(), store, config),
            journal,
            watching,
            watches: Vec::new(),
            inbox: sender.clone(),
            listeners: Vec::new(),
            unindexed: None,
            private,
        };
        let run = move || state.run(&wakes);
        std::thread::Builder::new().name("live".to_owned()).spawn(run).ok()?;
        Some(Self(sender))
    }

    /// Adds a listener. Returns false if the thread has ended.
    pub fn listen(&self, listening: NewListener) -> bool {
        self.0.send(Wake::Listen(listening)).is_ok()
    }
}

impl Drop for LiveJournal {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.send(Wake::Stop);
    }
}

struct LiveState {
    core: Weak<Core>,
    announcer: Announcer,
    journal: Journal,
    watching: WatchMode,
    watches: Vec<Watch>,
    inbox: Sender<Wake>,
    listeners: Vec<Listener>,
    private: Option<Arc<PrivateMemories>>,
    unindexed: Option<Unindexed>,
}

struct Listener {
    from: Option<Sequence>,
    is_owner: bool,
    queue: frames::Sender<Bytes>,
    dropped: Box<dyn FnOnce() + Send>,
    full_since: Option<Instant>,
}

/// What is known of memories that were announced and may not be indexed yet.
struct Unindexed {
    progress: Option<(usize, usize)>,
    since: Instant,
}

/// What is known when listeners are served.
struct Present {
    now: Timestamp,
    /// Nothing while the logs are being read. Then ids stay as they were told.
    snapshot: Option<Snapshot>,
    /// The last piece that was read, for the next listener.
    last: Option<WrittenPiece>,
}

/// A piece of the journal, as listeners read it.
#[derive(Clone)]
struct WrittenPiece {
    from: Sequence,
    next: Sequence,
    text: Bytes,
    /// The same without what is for the owner of the server.
    for_others: Bytes,
}

impl Present {
    /// Reads the journal on from a place. `None` if the place is gone.
    fn read_on(&mut self, journal: &Journal, from: Sequence) -> Option<WrittenPiece> {
        // Most listeners are at the same place.
        if let Some(last) = self.last.as_ref().filter(|last| last.from == from) {
            return Some(last.clone());
        }
        let piece = journal.read_on(from, PIECE_BYTES)?;
        let told = piece.lines.iter().map(|(_, line)| line);
        let memories =
            self.snapshot.as_ref().map(|snapshot| JournalMemories::look_up(told, snapshot));
        let memories = memories.unwrap_or_default();
        let (mut text, mut for_others) = (String::new(), String::new());
        for line in &piece.lines {
            let Some((kind, data)) = listener_line(line, &memories) else { continue };
            let block = written(Some(line.0), kind, &data);
            if !kind::is_for_owner(kind) {
                for_others.push_str(&block);
            }
            text.push_str(&block);
        }
        let (text, for_others) = (text.into(), for_others.into());
        let written = WrittenPiece { from, next: piece.next, text, for_others };
        // What is written meanwhile must not be missed.
        self.last = (piece.next != from).then(|| written.clone());
        Some(written)
    }
}

/// Whether a listener stays.
#[derive(PartialEq, Eq)]
enum Served {
    UpToDate,
    Lagging,
    Slow,
    Gone,
}

impl LiveState {
    fn run(mut self, wakes: &Receiver<Wake>) {
        let mut wait = Duration::ZERO;
        loop {
            let mut wake = match wakes.recv_timeout(wait) {
                Ok(wake) => Some(wake),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while let Some(one) = wake.take().or_else(|| wakes.try_recv().ok()) {
                match one {
                    Wake::Hint => {}
                    Wake::Stop => return,
                    Wake::Listen(listening) => self.listeners.push(Listener::new(listening)),
                }
            }
            let Some(core) = self.core.upgrade() else { return };
            let announced = self.announce(&core);
            let is_lagging = self.serve(&core);
            // Nothing is held during the pause: the end waits for it.
            drop(core);
            wait = self.wait(is_lagging);
            let pause_ms = if announced.lost || announced.failed { FLOOD_MS } else { LOOK_MS_MIN };
            std::thread::park_timeout(Duration::from_millis(pause_ms));
        }
    }

    fn announce(&mut self, core: &Core) -> AnnouncedLines {
        self.watch(core);
        let announced = self.announcer.announce_new_lines((core.clock)().now);
        if announced.lines > 0 || announced.lost {
            self.unindexed = Some(Unindexed { progress: None, since: Instant::now() });
        }
        self.note_if_indexed(core);
        announced
    }

    /// Watches the logs and the journal, unless that is done.
    fn watch(&mut self, core: &Core) {
        let is_watched = |watch: &Watch| watch.trouble().is_none();
        if self.watching == WatchMode::PollOnly
            || (self.watches.len() == 2 && self.watches.iter().all(is_watched))
        {
            return;
        }
        // A folder that cannot be made is not watched, and tried again.
        let _ = own_folder(self.journal.folder());
        let watch = |folder| {
            let inbox = self.inbox.clone();
            Watch::over(folder, self.watching, move || {
                // The thread may have ended.
                let _ = inbox.send(Wake::Hint);
            })
        };
        self.watches = vec![watch(core.store.root()), watch(self.journal.folder())];
    }

    fn note_if_indexed(&mut self, core: &Core) {
        let Some(unindexed) = &mut self.unindexed else { return };
        let Some(snapshot) = core.engine.snapshot_now() else { return };
        let progress = (snapshot.memories().len(), snapshot.embedded_count());
        if unindexed.progress != Some(progress) {
            *unindexed = Unindexed { progress: Some(progress), since: Instant::now() };
        }
        let worker = core.engine.embedding();
        let makes_vectors =
            worker.is_some_and(|worker| !matches!(worker.state, WorkerState::Failed(_)));
        let is_given_up = unindexed.since.elapsed() >= Duration::from_millis(INDEX_MS_MAX);
        let (memories, vectors) = progress;
        if makes_vectors && vectors < memories && !is_given_up {
            return;
        }
        self.unindexed = None;
        let now = (core.clock)().now;
        let line = json!({ "event": kind::INDEXED, "at": format!("{now:.0}"), "id": null, "repo": null,
            "agent": null, "event_type": null, "memories": memories, "vectors": vectors });
        self.journal.add(&line, now);
    }

    /// Passes new lines on. Returns whether some listener lags behind.
    fn serve(&mut self, core: &Arc<Core>) -> bool {
        let mut is_lagging = false;
        if self.listeners.is_empty() {
            return is_lagging;
        }
        // What was announced stands in a log, so the check knows of it.
        match self.private.as_ref().map(|private| private.check(core)) {
            None | Some(Ok(())) => {}
            Some(Err(Refusal::Private)) => {
                self.listeners.clear();
                return is_lagging;
            }
            Some(Err(_)) => return true,
        }
        let (now, snapshot) = ((core.clock)().now, core.engine.snapshot_now());
        let mut state = Present { now, snapshot, last: None };
        for mut listener in std::mem::take(&mut self.listeners) {
            match listener.serve(&self.journal, &mut state) {
                Served::UpToDate => self.listeners.push(listener),
                Served::Lagging => {
                    is_lagging = true;
                    self.listeners.push(listener);
                }
                Served::Slow => (listener.dropped)(),
                Served::Gone => {}
            }
        }
        is_lagging
    }

    fn wait(&self, is_lagging: bool) -> Duration {
        let is_watched =
            self.watches.len() == 2 && self.watches.iter().all(|watch| watch.trouble().is_none());
        let longest = if is_watched || self.listeners.is_empty() { LOOK_MS_MAX } else { POLL_MS };
        let lag = if is_lagging { LAG_MS } else { longest };
        let index = if self.unindexed.is_some() { INDEX_MS } else { longest };
        Duration::from_millis(longest.min(lag).min(index))
    }
}

impl Listener {
    fn new(NewListener { from, is_owner, queue, on_drop: dropped }: NewListener) -> Self {
        Self { from, is_owner, queue, dropped, full_since: None }
    }

    /// Puts into its queue what fits.
    fn serve(&mut self, journal: &Journal, present: &mut Present) -> Served {
        loop {
            if self.queue.is_closed() {
                return Served::Gone;
            }
            if self.queue.capacity() <= 1 {
                return self.wait_for_room(journal, present);
            }
            self.full_since = None;
            let Some(from) = self.from else {
                let Some(end) = journal.end_sequence() else { return Served::UpToDate };
                self.from = Some(end);
                if !self.send(beginning(end)) {
                    return Served::Gone;
                }
                continue;
            };
            let Some(piece) = present.read_on(journal, from) else {
                self.from = None;
                if !self.send(lost(None, present)) {
                    return Served::Gone;
                }
                continue;
            };
            if piece.next == from {
                return Served::UpToDate;
            }
            self.from = Some(piece.next);
            let text = if self.is_owner { piece.text } else { piece.for_others };
            if !text.is_empty() && !self.send(text) {
                return Served::Gone;
            }
        }
    }

    fn wait_for_room(&mut self, journal: &Journal, present: &Present) -> Served {
        // What is not for listeners fills no queue.
        if self.from.is_some_and(|from| journal.end_sequence() == Some(from)) {
            return Served::UpToDate;
        }
        let since = *self.full_since.get_or_insert_with(Instant::now);
        if since.elapsed() < Duration::from_millis(SLOW_MS) {
            return Served::Lagging;
        }
        self.send(lost(self.from, present));
        Served::Slow
    }

    /// Puts a piece into the queue. Returns false if nobody listens any more.
    fn send(&self, piece: Bytes) -> bool {
        // The queue has room: only this thread fills it.
        !matches!(self.queue.try_send(piece), Err(TrySendError::Closed(_)))
    }
}

/// Tells a listener where it begins, so that it can go on from there before anything has happened.
fn beginning(at: Sequence) -> Bytes {
    format!("retry: 1000\nid: {at}\n\n").into()
}

/// Tells a listener that it missed something. With a place it can go on from there.
fn lost(at: Option<Sequence>, present: &Present) -> Bytes {
    let now = format!("{:.0}", present.now);
    let nothing = json!({ "at": now, "id": null, "repo": null, "agent": null, "event_type": null });
    written(at, kind::LOST, &nothing).into()
}

fn written(at: Option<Sequence>, kind: &str, data: &Value) -> String {
    let id = at.map(|at| format!("id: {at}\n")).unwrap_or_default();
    format!("{id}event: {kind}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn present() -> Present {
        Present { now: "2026-01-02T03:04:05Z".parse().unwrap(), snapshot: None, last: None }
    }

    fn listener(from: Option<Sequence>) -> (Listener, frames::Receiver<Bytes>) {
        let (queue, pieces) = frames::channel(QUEUE_MAX);
        let listening = NewListener { from, is_owner: true, queue, on_drop: Box::new(|| {}) };
        (Listener::new(listening), pieces)
    }

    fn read(pieces: &mut frames::Receiver<Bytes>) -> String {
        let mut text = String::new();
        while let Ok(piece) = pieces.try_recv() {
            text.push_str(std::str::from_utf8(&piece).unwrap());
        }
        text
    }

    fn numbers(text: &str) -> Vec<u64> {
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str::<Value>(data).unwrap()["number"].as_u64())
            .collect()
    }

    // S-EVENT-3
    #[test]
    fn a_listener_goes_on_after_any_event() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::for_store(folder.path(), folder.path());
        let add = |number: u64| {
            journal.add(&json!({ "event": "added", "number": number }), present().now).unwrap()
        };
        let first = add(0);
        let (mut new, mut of_new) = listener(None);
        assert!(new.serve(&journal, &mut present()) == Served::UpToDate);
        assert_eq!(read(&mut of_new), format!("retry: 1000\nid: {first}\n\n"));
        for number in 1..=3_000 {
            add(number);
        }
        let (mut old, mut of_old) = listener(Some(first));
        let mut told = Vec::new();
        while old.serve(&journal, &mut present()) == Served::Lagging {
            told.extend(numbers(&read(&mut of_old)));
        }
        told.extend(numbers(&read(&mut of_old)));
        assert_eq!(told, (1..=3_000).collect::<Vec<u64>>());
        let last = add(3_001);
        old.serve(&journal, &mut present());
        let text = read(&mut of_old);
        assert_eq!(text, format!("id: {last}\nevent: added\ndata: {{\"number\":3001}}\n\n"));
        drop(of_new);
        assert!(new.serve(&journal, &mut present()) == Served::Gone);
    }

    // S-TOKEN-3
    #[test]
    fn others_hear_nothing_of_agents_and_work_trees() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::for_store(folder.path(), folder.path());
        let first = journal.add(&json!({ "event": "added", "number": 0 }), present().now).unwrap();
        let kinds = ["injected", "added", "stale", "fresh", "feedback"];
        for kind in kinds {
            journal.add(&json!({ "event": kind }), present().now).unwrap();
        }
        for (is_owner, heard) in [(true, &kinds[..]), (false, &["added", "feedback"])] {
            let (mut listener, mut pieces) = listener(Some(first));
            listener.is_owner = is_owner;
            assert!(listener.serve(&journal, &mut present()) == Served::UpToDate);
            let text = read(&mut pieces);
            let told = text.lines().filter_map(|line| line.strip_prefix("event: "));
            assert_eq!(told.collect::<Vec<_>>(), heard);
        }
    }

    // S-EVENT-4
    #[test]
    fn a_slow_listener_is_told_and_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::for_store(folder.path(), folder.path());
        let add =
            || journal.add(&json!({ "event": "added", "text": "x".repeat(999) }), present().now);
        let first = add().unwrap();
        for _ in 0..1_000 {
            add().unwrap();
        }
        let (mut slow, mut pieces) = listener(Some(first));
        assert!(slow.serve(&journal, &mut present()) == Served::Lagging);
        assert!(slow.serve(&journal, &mut present()) == Served::Lagging, "it has some time");
        slow.full_since = Instant::now().checked_sub(Duration::from_millis(SLOW_MS));
        assert!(slow.serve(&journal, &mut present()) == Served::Slow);
        drop(slow);
        let text = read(&mut pieces);
        assert!(text.len() < 2 * QUEUE_MAX * 16 * 1024, "its queue is bounded: {}", text.len());
        let last = text.trim_end().rsplit("\n\n").next().unwrap();
        assert!(last.contains("event: lost\n") && last.starts_with("id: "), "{last}");
        assert!(pieces.is_closed() || pieces.try_recv().is_err());
    }

    // S-EVENT-3
    #[test]
    fn a_place_that_is_gone_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::for_store(folder.path(), folder.path());
        let now_at = journal.add(&json!({ "event": "added" }), present().now).unwrap();
        for gone in [Sequence { generation: 1, offset: 0 }, Sequence { offset: 3, ..now_at }] {
            let (mut listener, mut pieces) = listener(Some(gone));
            assert!(listener.serve(&journal, &mut present()) == Served::UpToDate);
            let text = read(&mut pieces);
            assert!(
                text.starts_with("event: lost\ndata: {\"at\":\"2026-01-02T03:04:05Z\""),
                "{text}"
            );
            assert!(text.ends_with(&format!("\n\nretry: 1000\nid: {now_at}\n\n")), "{text}");
        }
    }
}
