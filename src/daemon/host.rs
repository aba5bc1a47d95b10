//! The retriever's side of a connection: accepts clients, answers each on a thread of its own, and
//! stops when no client was attached for a while, when it is asked to, or when its socket file was
//! removed. Not here: which process is the retriever (`endpoint`), the answers (`api::local`).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::attached_clients::AttachedClients;
use crate::endpoint::Endpoint;
use crate::guests::Guests;
use crate::host_state::{CallCount, HostEvent, HostState, lock_unpoisoned};
use crate::panic_guard::catch_panic;
use crate::protocol::{
    Hello, PROTOCOL, ProtocolVersion, RetrieverRequest, Welcome, WireAnswer, receive, send,
};
use crate::stream::{AgentListener, LineStream, ListenerTransport, SocketFile, Stream};
use api::local::{Core, Local};
use requests::{Api, ApiError, Request};
use writer::exit::Exit;

/// The connection limit. A client has one connection for each of its concurrent requests.
const CONNECTIONS_MAX: usize = 1_024;

/// How long a client may take to send its hello, in milliseconds.
const HELLO_WAIT_MS: u64 = 5_000;

/// How often the socket file is checked, in milliseconds. Without it a second retriever can start,
/// and one of the two must stop.
const SOCKET_CHECK_MS: u64 = 10_000;

/// How long calls under way may take at shutdown, in milliseconds.
const END_MS: u64 = 2_000;

/// How often shutdown checks whether they are done, in milliseconds.
const END_CHECK_MS: u64 = 5;

/// A retriever that clients attach to.
pub struct Host {
    shared: Arc<HostState>,
    endpoint: Endpoint,
    socket_file: SocketFile,
    events: Receiver<HostEvent>,
    idle: Option<Duration>,
    at_end: Vec<Box<dyn FnOnce() + Send>>,
}

/// Why it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostEnd {
    /// No client was attached for a while.
    Idle,
    /// A client asked for it.
    StopRequested,
    /// Its socket file was removed.
    Unreachable,
}

impl Host {
    /// Listens at an endpoint whose lock the caller holds. It stops by itself when no client was
    /// attached for `idle`. `version` is sent to clients.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn listen(
        endpoint: Endpoint,
        core: Arc<Core>,
        version: &str,
        idle: Option<Duration>,
    ) -> io::Result<Self> {
        Self::listen_with(ListenerTransport::Best, endpoint, core, version, idle)
    }

    /// Listens for clients; `clock` tells how long nobody has asked.
    pub fn listen_with(
        transport: ListenerTransport,
        endpoint: Endpoint,
        core: Arc<Core>,
        version: &str,
        idle: Option<Duration>,
    ) -> io::Result<Self> {
        let random = [(core.clock)().random, (core.clock)().random];
        let listener = AgentListener::bind(&endpoint, transport, random)?;
        let socket_file = SocketFile::from_listener(&listener, &endpoint);
        let (sender, events) = mpsc::channel();
        let shared = Arc::new(HostState {
            began_at: (core.clock)().now,
            core,
            version: version.to_owned(),
            clients: AttachedClients::default(),
            streams: Mutex::default(),
            calls: Mutex::default(),
            is_closing: AtomicBool::new(false),
            events: sender,
            guest_status: <_>::default(),
            token: listener.token(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("accept".to_owned())
            .spawn(move || accept(&listener, &accepting))?;
        Ok(Self { shared, endpoint, socket_file, events, idle, at_end: Vec::new() })
    }

    /// Returns the handle through which another server answers its clients.
    #[must_use]
    pub fn guests(&self) -> Guests {
        Guests(Arc::clone(&self.shared))
    }

    /// Returns a function that tells whether a client is attached. It does not keep the retriever.
    pub fn attendance(&self) -> impl Fn() -> bool + Send + 'static {
        let shared = Arc::downgrade(&self.shared);
        move || shared.upgrade().is_some_and(|shared| shared.clients.len() > 0)
    }

    /// Registers what to call when shutdown begins, so that another server stops accepting. It must
    /// not block.
    pub fn on_end(&mut self, then: impl FnOnce() + Send + 'static) {
        self.at_end.push(Box::new(then));
    }

    /// Returns a function that stops it, from any thread.
    pub fn stopper(&self) -> impl FnOnce() + Send + 'static {
        let events = self.shared.events.clone();
        move || {
            // It may have stopped already.
            let _ = events.send(HostEvent::Stop);
        }
    }

    /// Serves until it stops, and returns why.
    #[must_use]
    pub fn run(self) -> HostEnd {
        let mut idle_since = Instant::now();
        let why = loop {
            match self.events.recv_timeout(
                Duration::from_millis(SOCKET_CHECK_MS).min(self.idle_left(idle_since)),
            ) {
                Ok(HostEvent::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    break HostEnd::StopRequested;
                }
                Ok(HostEvent::Attached) => idle_since = Instant::now(),
                Err(RecvTimeoutError::Timeout) if !self.socket_file.is_up() => {
                    break HostEnd::Unreachable;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.shared.clients.len() == 0 && self.idle_left(idle_since).is_zero() {
                        break HostEnd::Idle;
                    }
                }
            }
        };
        self.end();
        why
    }

    /// Returns how long it stays without clients.
    fn idle_left(&self, idle_since: Instant) -> Duration {
        let idle = self.idle.unwrap_or(Duration::MAX);
        match self.shared.clients.len() {
            0 => idle.saturating_sub(idle_since.elapsed()),
            _ => Duration::MAX,
        }
    }

    /// Stops accepting, and lets calls under way finish.
    fn end(self) {
        self.shared.is_closing.store(true, Ordering::SeqCst);
        self.at_end.into_iter().for_each(|then| then());
        // This connection wakes the accepting thread, which then ends.
        if self.socket_file.is_up() {
            drop(Stream::connect(&self.endpoint));
        }
        self.socket_file.remove();
        let deadline = Instant::now() + Duration::from_millis(END_MS);
        while *lock_unpoisoned(&self.shared.calls) > 0 && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(END_CHECK_MS));
        }
        lock_unpoisoned(&self.shared.streams).values().for_each(Stream::shut_down);
    }
}

fn accept(listener: &AgentListener, shared: &Arc<HostState>) {
    loop {
        let accepted = listener.accept();
        if shared.is_closing.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok(stream) if lock_unpoisoned(&shared.streams).len() < CONNECTIONS_MAX => {
                admit(stream, shared)
            }
            // Above the limit: the client is disconnected and answers in its own process.
            Ok(_) => {}
            Err(_) => std::thread::park_timeout(Duration::from_millis(END_CHECK_MS)),
        }
    }
}

fn admit(stream: Stream, shared: &Arc<HostState>) {
    let shared = Arc::clone(shared);
    // Without a thread the connection is closed, which the client handles.
    let _ = std::thread::Builder::new().name("client".to_owned()).spawn(move || {
        // A broken connection ends like a closed one.
        let _ = serve(stream, &shared);
    });
}

/// Serves one connection until it ends.
fn serve(mut stream: Stream, shared: &HostState) -> io::Result<()> {
    if let Some(token) = &shared.token {
        stream.check(token)?;
    }
    let second = stream.try_clone()?;
    let mut lines = LineStream::new(stream);
    lines.set_timeout(Some(Duration::from_millis(HELLO_WAIT_MS)))?;
    let Some(first) = receive::<Value>(&mut lines)? else { return Ok(()) };
    let (version, pid) = (shared.version.clone(), std::process::id());
    send(&mut lines, &Welcome { protocol: PROTOCOL, version, pid })?;
    if ProtocolVersion::deserialize(&first)?.protocol != PROTOCOL {
        // Another protocol: it can only ask this retriever to leave.
        if matches!(receive::<RetrieverRequest>(&mut lines), Ok(Some(RetrieverRequest::Leave))) {
            let _ = shared.events.send(HostEvent::Stop);
        }
        return Ok(());
    }
    let hello = Hello::deserialize(first)?;
    lines.set_timeout(None)?;
    let local = Local::new(Arc::clone(&shared.core), hello.caller.clone());
    let number = shared.clients.add(hello, (shared.core.clock)().now);
    lock_unpoisoned(&shared.streams).insert(number, second);
    let _ = shared.events.send(HostEvent::Attached);
    let ended = answer_all(&mut lines, &local, shared);
    lock_unpoisoned(&shared.streams).remove(&number);
    shared.clients.remove(number, (shared.core.clock)().now);
    let _ = shared.events.send(HostEvent::Attached);
    ended
}

fn answer_all(lines: &mut LineStream, local: &Local, shared: &HostState) -> io::Result<()> {
    while let Some(ask) = receive::<RetrieverRequest>(lines)? {
        let _counted = CallCount::increment(shared);
        shared.clients.count_call();
        let RetrieverRequest::Memory { request, voice } = ask else {
            // This comes before the answer, because the client may not wait for it.
            let _ = shared.events.send(HostEvent::Stop);
            let text = "leaving".to_owned();
            send(lines, &WireAnswer::Reply { text, json: json!({ "leaving": true }) })?;
            continue;
        };
        let answered = catch_panic(|| {
            let reply = local.ask_as(&request, &voice)?;
            Ok(if *request == Request::Status { shared.add_to_status(reply) } else { reply })
        });
        let has_panicked = matches!(&answered, Err(ApiError::Failed { exit: Exit::Internal, .. }));
        send(lines, &WireAnswer::from_result(answered))?;
        if has_panicked && local.engine().snapshot().is_err() {
            // The panic also stopped the engine. The next request starts another retriever.
            let _ = shared.events.send(HostEvent::Stop);
        }
    }
    Ok(())
}
