//! The retriever's side: waits for those who attach, answers each on a thread of its own, and ends when nobody
//! has been there for a while, when it is asked to, or when its socket_file was taken down. Not here: who may be the
//! retriever (`endpoint`), what is answered (`local`).

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::attached::Attached;
use super::endpoint::Endpoint;
use super::protocol::{Answer, Ask, Hello, PROTOCOL, ProtocolVersion, Welcome, hear, say};
use super::stream::{AgentListener, LineStream, SocketFile, Stream, Transport};
use crate::survive::survive;
use api::local::{Core, Local};
use api::{Api, ApiError};
use event::Timestamp;
use reply::Reply;
use writer::exit::Exit;

/// Connections at once. A client has one, or as many as it asks things at a time.
const CONNECTIONS_MAX: usize = 1_024;

/// How long somebody may take to introduce itself, in milliseconds.
const HELLO_WAIT_MS: u64 = 5_000;

/// How often it is looked whether the socket_file is still up, in milliseconds: who cleans the runtime directory
/// makes room for another retriever, and of two one is too many.
const SIGN_LOOK_MS: u64 = 10_000;

/// How long calls under way may go on at the end, in milliseconds.
const END_MS: u64 = 2_000;

/// How often the end looks whether they are done, in milliseconds.
const END_LOOK_MS: u64 = 5;

/// A retriever that others attach to.
pub struct Host {
    shared: Arc<HostState>,
    endpoint: Endpoint,
    socket_file: SocketFile,
    events: Receiver<HostEvent>,
    idle: Option<Duration>,
    at_end: Vec<Box<dyn FnOnce() + Send>>,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Nobody was attached for long.
    Idle,
    /// Somebody said so.
    Asked,
    /// Its socket_file was taken down.
    Unreachable,
}

enum HostEvent {
    /// Somebody came or left.
    Attached,
    Stop,
}

struct HostState {
    core: Arc<Core>,
    version: String,
    began: Timestamp,
    clients: Attached,
    streams: Mutex<BTreeMap<u64, Stream>>,
    calls: Mutex<usize>,
    is_closing: AtomicBool,
    events: Sender<HostEvent>,
    other_way: OnceLock<Told>,
    token: Option<String>,
}

/// What another way in adds to a status.
type Told = Box<dyn Fn(Reply) -> Reply + Send + Sync>;

impl Host {
    /// Listens at a endpoint place whose lock the caller holds; ends by itself when nobody has been attached
    /// for `idle`. `version` is what it says of itself.
    ///
    /// # Errors
    /// What the system said.
    pub fn listen(
        endpoint: Endpoint,
        core: Arc<Core>,
        version: &str,
        idle: Option<Duration>,
    ) -> io::Result<Self> {
        Self::listen_by(Transport::Best, endpoint, core, version, idle)
    }

    pub(super) fn listen_by(
        way: Transport,
        endpoint: Endpoint,
        core: Arc<Core>,
        version: &str,
        idle: Option<Duration>,
    ) -> io::Result<Self> {
        let random = [(core.clock)().random, (core.clock)().random];
        let listener = AgentListener::at(&endpoint, way, random)?;
        let socket_file = SocketFile::of(&listener, &endpoint);
        let (sender, events) = mpsc::channel();
        let shared = Arc::new(HostState {
            began: (core.clock)().now,
            core,
            version: version.to_owned(),
            clients: Attached::default(),
            streams: Mutex::default(),
            calls: Mutex::default(),
            is_closing: AtomicBool::new(false),
            events: sender,
            other_way: OnceLock::new(),
            token: listener.token(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("accept".to_owned())
            .spawn(move || accept(&listener, &accepting))?;
        Ok(Self { shared, endpoint, socket_file, events, idle, at_end: Vec::new() })
    }

    /// Lets another way in lead here.
    #[must_use]
    pub fn guests(&self) -> Guests {
        Guests(Arc::clone(&self.shared))
    }

    /// Has this done when the end begins: another way in lets nobody in any more. It may not wait.
    pub fn at_end(&mut self, then: impl FnOnce() + Send + 'static) {
        self.at_end.push(Box::new(then));
    }

    /// Returns what ends it, from any thread.
    pub fn stopper(&self) -> impl FnOnce() + Send + 'static {
        let events = self.shared.events.clone();
        move || {
            // It may have ended already.
            let _ = events.send(HostEvent::Stop);
        }
    }

    /// Serves until the end, which is told.
    #[must_use]
    pub fn run(self) -> Served {
        let mut alone_since = Instant::now();
        let why = loop {
            match self
                .events
                .recv_timeout(Duration::from_millis(SIGN_LOOK_MS).min(self.left(alone_since)))
            {
                Ok(HostEvent::Stop) | Err(RecvTimeoutError::Disconnected) => break Served::Asked,
                Ok(HostEvent::Attached) => alone_since = Instant::now(),
                Err(RecvTimeoutError::Timeout) if !self.socket_file.is_up() => {
                    break Served::Unreachable;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.shared.clients.len() == 0 && self.left(alone_since).is_zero() {
                        break Served::Idle;
                    }
                }
            }
        };
        self.end();
        why
    }

    /// How long it stays while nobody comes.
    fn left(&self, alone_since: Instant) -> Duration {
        let idle = self.idle.unwrap_or(Duration::MAX);
        match self.shared.clients.len() {
            0 => idle.saturating_sub(alone_since.elapsed()),
            _ => Duration::MAX,
        }
    }

    /// Lets nobody in any more, and those who are here have their answers.
    fn end(self) {
        self.shared.is_closing.store(true, Ordering::SeqCst);
        self.at_end.into_iter().for_each(|then| then());
        // Whoever waits at the door looks up, and goes.
        if self.socket_file.is_up() {
            drop(Stream::to(&self.endpoint));
        }
        self.socket_file.take_down();
        let deadline = Instant::now() + Duration::from_millis(END_MS);
        while *lock(&self.shared.calls) > 0 && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(END_LOOK_MS));
        }
        lock(&self.shared.streams).values().for_each(Stream::end);
    }
}

fn lock<T>(held: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nobody panics while holding one; what is there counts.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &AgentListener, shared: &Arc<HostState>) {
    loop {
        let accepted = listener.accept();
        if shared.is_closing.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok(stream) if lock(&shared.streams).len() < CONNECTIONS_MAX => admit(stream, shared),
            // Too many: whoever finds the door shut answers by itself.
            Ok(_) => {}
            Err(_) => std::thread::park_timeout(Duration::from_millis(END_LOOK_MS)),
        }
    }
}

fn admit(stream: Stream, shared: &Arc<HostState>) {
    let shared = Arc::clone(shared);
    // Without a thread the connection is dropped, which its other side understands.
    let _ = std::thread::Builder::new().name("client".to_owned()).spawn(move || {
        // A connection that breaks ends as one that is closed.
        let _ = serve(stream, &shared);
    });
}

/// Serves one connection until it ends.
fn serve(mut stream: Stream, shared: &HostState) -> io::Result<()> {
    if let Some(token) = &shared.token {
        stream.check(token)?;
    }
    let second = stream.again()?;
    let mut lines = LineStream::over(stream);
    lines.stream().wait_at_most(Some(Duration::from_millis(HELLO_WAIT_MS)))?;
    let Some(said) = hear::<Value>(&mut lines)? else { return Ok(()) };
    let (version, pid) = (shared.version.clone(), std::process::id());
    say(&mut lines, &Welcome { protocol: PROTOCOL, version, pid })?;
    if ProtocolVersion::deserialize(&said)?.protocol != PROTOCOL {
        // Of another version; what it can ask for is that we make room.
        if matches!(hear::<Ask>(&mut lines), Ok(Some(Ask::Leave))) {
            let _ = shared.events.send(HostEvent::Stop);
        }
        return Ok(());
    }
    let hello = Hello::deserialize(said)?;
    lines.stream().wait_at_most(None)?;
    let local = Local::new(Arc::clone(&shared.core), hello.caller.clone());
    let number = shared.clients.came(hello, (shared.core.clock)().now);
    lock(&shared.streams).insert(number, second);
    let _ = shared.events.send(HostEvent::Attached);
    let ended = answer_all(&mut lines, &local, shared);
    lock(&shared.streams).remove(&number);
    shared.clients.left(number, (shared.core.clock)().now);
    let _ = shared.events.send(HostEvent::Attached);
    ended
}

fn answer_all(lines: &mut LineStream, local: &Local, shared: &HostState) -> io::Result<()> {
    while let Some(ask) = hear::<Ask>(lines)? {
        let _under_way = UnderWay::one_more(shared);
        shared.clients.called();
        if ask == Ask::Leave {
            // Before the answer: whoever asks may not stay to hear it.
            let _ = shared.events.send(HostEvent::Stop);
            let text = "leaving".to_owned();
            say(lines, &Answer::Reply { text, json: json!({ "leaving": true }) })?;
            continue;
        }
        let answered = survive(|| answer(local, ask, shared));
        let met_a_bug = matches!(&answered, Err(ApiError::Failed { exit: Exit::Internal, .. }));
        say(lines, &Answer::of(answered))?;
        if met_a_bug && local.engine().snapshot().is_err() {
            // The engine is gone too. The next request starts another retriever.
            let _ = shared.events.send(HostEvent::Stop);
        }
    }
    Ok(())
}

fn answer(local: &Local, ask: Ask, shared: &HostState) -> Result<Reply, ApiError> {
    match ask {
        Ask::Search(request) => local.search(&request),
        Ask::Context(request) => local.context(&request),
        Ask::Save { draft, client } => local.save(*draft, client.as_deref()),
        Ask::Change { request, voice } => local.change(&request, &voice),
        Ask::Review(request) => local.review(&request),
        Ask::Sweep(request) => local.sweep(&request),
        Ask::Link { request, voice } => local.link(&request, &voice),
        Ask::Related(request) => local.related(&request),
        Ask::Analyze(request) => local.analyze(&request),
        Ask::Patterns { request, voice } => local.patterns(&request, &voice),
        Ask::Stale(request) => local.stale(&request),
        Ask::List(listing) => local.list(&listing),
        Ask::Show(ids) => local.show(&ids),
        Ask::Recent(limit) => local.recent(limit),
        Ask::Complete(request) => local.complete(&request),
        Ask::Status => local.status().map(|status| shared.told(status)),
        Ask::Digest => local.digest(),
        Ask::Whoami | Ask::Leave => local.whoami(),
    }
}

impl HostState {
    /// Adds to a status what this process is.
    fn told(&self, status: Reply) -> Reply {
        let pid = std::process::id();
        let memory = resident_mib().map_or_else(String::new, |mib| format!(", {mib} MiB"));
        let line = format!(
            "shared, process {pid}, version {}{memory}, since {:.0}",
            self.version, self.began
        );
        let status = status.and("retriever", &line);
        let json = json!({ "pid": pid, "version": self.version, "resident_mib": resident_mib(),
            "since": self.began.to_string() });
        let status = self.clients.told(status.with("retriever", json));
        self.other_way.get().map_or_else(|| status.clone(), |told| told(status.clone()))
    }
}

/// How much memory this process has, where the system tells it.
fn resident_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1_024)
}

/// One call, until dropped.
struct UnderWay<'a>(&'a HostState);

impl<'a> UnderWay<'a> {
    fn one_more(shared: &'a HostState) -> Self {
        *lock(&shared.calls) += 1;
        Self(shared)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        *lock(&self.0.calls) -= 1;
    }
}

/// Where another way in leads to. Its callers keep the retriever there, and their calls are waited for at the end.
#[derive(Clone)]
pub struct Guests(Arc<HostState>);

/// One guest, until dropped.
pub struct Visit(Arc<HostState>);

/// One call of a guest, until dropped.
pub struct GuestCall(Arc<HostState>);

impl Guests {
    /// Returns what they share with all others.
    #[must_use]
    pub fn core(&self) -> &Arc<Core> {
        &self.0.core
    }

    /// Says once what is added to a status.
    pub fn tell(&self, told: impl Fn(Reply) -> Reply + Send + Sync + 'static) {
        // There is one other way in; the first to say so stays.
        let _ = self.0.other_way.set(Box::new(told));
    }

    /// Counts somebody as attached.
    #[must_use]
    pub fn visit(&self) -> Visit {
        self.0.clients.guest_came();
        Visit(Arc::clone(&self.0))
    }

    /// Counts a call.
    #[must_use]
    pub fn call(&self) -> GuestCall {
        self.0.clients.called();
        *lock(&self.0.calls) += 1;
        GuestCall(Arc::clone(&self.0))
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.clients.guest_left();
        // How long nobody has been there counts from now on.
        let _ = self.0.events.send(HostEvent::Attached);
    }
}

impl Drop for GuestCall {
    fn drop(&mut self) {
        *lock(&self.0.calls) -= 1;
    }
}
