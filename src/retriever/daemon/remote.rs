//! The client's side: [`Api`] through the shared retriever. It asks the retriever, retries when the
//! retriever goes away, and answers in this process where there is none. Not here: reaching and
//! starting a retriever (`connect`), the answers (`api::local`).

use std::fs::OpenOptions;
use std::io;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::endpoint::Endpoint;
use super::process::Start;
use super::protocol::{Answer, Ask, Hello, PROTOCOL, Welcome, receive, send};
use super::stream::{LineStream, Stream};
use api::caller::Caller;
use api::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, PatternsRequest, RelatedRequest, Reply, ReviewRequest, SearchRequest, StaleRequest,
    SweepRequest, Voice,
};
use event::{Draft, EventId};
use store::private;

/// How long a retriever may take to start, in milliseconds. It listens before it reads anything, so
/// only an overloaded machine needs this long.
const START_WAIT_MS: u64 = 3_000;

/// How long its hello may take, in milliseconds. A stopped process sends none.
const WELCOME_WAIT_MS: u64 = 1_500;

/// How long an answer may take beyond the caller's local limits, in milliseconds. An append waits up
/// to two seconds for its lock.
const ANSWER_WAIT_MS: u64 = 5_000;

/// The first pause between two connection attempts, in milliseconds; it doubles up to the longest.
const PAUSE_MS_MIN: u64 = 1;
const PAUSE_MS_MAX: u64 = 25;

/// How often a request is sent again when the retriever goes away over it.
const TRIES: usize = 3;

/// How long a process without a retriever answers by itself before it tries again, in milliseconds.
const ALONE_MS: u64 = 30_000;

/// The longest file of error messages, in bytes. A longer one is emptied.
const MESSAGES_BYTES_MAX: u64 = 256 * 1024;

/// Idle connections that are reused.
const IDLE_CONNECTIONS_MAX: usize = 16;

/// Opens the memory in this process.
pub type Alone = Box<dyn Fn() -> Result<Arc<dyn Api>, ApiError> + Send + Sync>;

/// The memory, through the shared retriever.
pub struct Remote {
    /// Where the retriever listens.
    pub endpoint: Endpoint,
    /// The command that starts it.
    pub start: Start,
    /// The command this process runs.
    pub program: String,
    /// The version of this process.
    pub version: String,
    /// The caller.
    pub caller: Caller,
    /// Opens the memory in this process, where there can be no retriever.
    pub alone: Alone,
    /// Makes a unique id.
    pub fresh_id: Box<dyn Fn() -> EventId + Send + Sync>,
    /// The state between requests.
    pub state: RemoteState,
}

/// The state between requests.
#[derive(Default)]
pub struct RemoteState {
    idle: Mutex<Vec<LineStream>>,
    alone: Mutex<Option<LocalMemory>>,
}

/// The memory in this process, while there is no retriever.
struct LocalMemory {
    api: Arc<dyn Api>,
    tried_at: Instant,
}

#[cfg(test)]
impl RemoteState {
    /// Makes the last attempt look old.
    pub(super) fn expire_last_attempt(&self) {
        let before = Instant::now().checked_sub(Duration::from_millis(ALONE_MS)).unwrap();
        lock(&self.alone).as_mut().unwrap().tried_at = before;
    }
}

/// The result of a connection attempt.
enum Attempt {
    Ready(LineStream),
    /// No retriever is listening, or it is about to leave.
    Absent,
    /// It is there and cannot be used.
    Unusable,
}

impl Remote {
    /// Connects to a retriever, and starts one if needed, so that the first request need not wait
    /// for it.
    pub fn prepare(&self) {
        if let Some(lines) = self.connection() {
            self.put_back(lines);
        }
    }

    /// Attaches if the retriever is running. Otherwise it is started for later requests, and this
    /// call does not wait.
    #[must_use]
    pub fn attach_if_running(&self) -> bool {
        if self.endpoint.ensure().is_err() {
            return false;
        }
        match self.attempt() {
            Attempt::Ready(lines) => {
                self.put_back(lines);
                return true;
            }
            // A retriever that cannot be started is missing the next time too.
            Attempt::Absent => drop(self.start.run(self.messages_file())),
            Attempt::Unusable => {}
        }
        false
    }

    /// Asks the retriever. `None` where there is none.
    fn ask_retriever(&self, ask: &Ask) -> Option<Result<Reply, ApiError>> {
        if self.has_failed_recently() {
            return None;
        }
        for _ in 0..TRIES {
            let mut lines = match self.idle().pop() {
                Some(lines) => lines,
                None => self.connection()?,
            };
            match exchange(&mut lines, ask) {
                Ok(Some(answer)) => {
                    self.put_back(lines);
                    // The retriever is back, so the memory in this process is closed.
                    lock(&self.state.alone).take();
                    return Some(answer.into_result());
                }
                // It is stopped or stuck: another try would take as long.
                Err(error) if is_timeout(&error) => return None,
                // It has gone, and all idle connections lead to it.
                Ok(None) | Err(_) => self.idle().clear(),
            }
        }
        None
    }

    /// Tells whether an attempt failed recently, so that not every request waits.
    fn has_failed_recently(&self) -> bool {
        let pause = Duration::from_millis(ALONE_MS);
        match lock(&self.state.alone).as_mut() {
            Some(local) if local.tried_at.elapsed() < pause => true,
            Some(local) => {
                local.tried_at = Instant::now();
                false
            }
            None => false,
        }
    }

    /// Returns the memory in this process, which the first request opens.
    fn alone(&self) -> Result<Arc<dyn Api>, ApiError> {
        let mut alone = lock(&self.state.alone);
        if let Some(local) = &*alone {
            return Ok(Arc::clone(&local.api));
        }
        let api = (self.alone)()?;
        *alone = Some(LocalMemory { api: Arc::clone(&api), tried_at: Instant::now() });
        Ok(api)
    }

    /// Returns a connection to the retriever, and starts one if needed.
    fn connection(&self) -> Option<LineStream> {
        self.endpoint.ensure().ok()?;
        let mut started: Option<Child> = None;
        let mut pause_ms = PAUSE_MS_MIN;
        let deadline = Instant::now() + Duration::from_millis(START_WAIT_MS);
        loop {
            match self.attempt() {
                Attempt::Ready(lines) => {
                    reap(started);
                    return Some(lines);
                }
                Attempt::Unusable => return None,
                Attempt::Absent => {}
            }
            let has_failed = match &mut started {
                // Another process may have been faster; then its retriever is used.
                Some(child) => matches!(child.try_wait(), Ok(Some(exit)) if !exit.success()),
                None => {
                    started = Some(self.start.run(self.messages_file()).ok()?);
                    false
                }
            };
            if has_failed || Instant::now() >= deadline {
                reap(started);
                return None;
            }
            std::thread::park_timeout(Duration::from_millis(pause_ms));
            pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
        }
    }

    fn messages_file(&self) -> Option<std::fs::File> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        private(&mut options);
        let file = options.open(self.endpoint.messages()).ok()?;
        if file.metadata().ok()?.len() > MESSAGES_BYTES_MAX {
            file.set_len(0).ok()?;
        }
        Some(file)
    }

    fn attempt(&self) -> Attempt {
        match self.greet() {
            Ok(Some((lines, welcome))) => self.check_version(lines, &welcome),
            Err(error) if is_timeout(&error) || error.kind() == io::ErrorKind::InvalidData => {
                Attempt::Unusable
            }
            Ok(None) | Err(_) => Attempt::Absent,
        }
    }

    fn greet(&self) -> io::Result<Option<(LineStream, Welcome)>> {
        let mut lines = LineStream::over(Stream::to(&self.endpoint)?);
        lines.stream().wait_at_most(Some(Duration::from_millis(WELCOME_WAIT_MS)))?;
        let hello = Hello {
            protocol: PROTOCOL,
            version: self.version.clone(),
            pid: std::process::id(),
            program: self.program.clone(),
            caller: self.caller.clone(),
        };
        send(&mut lines, &hello)?;
        let Some(welcome) = receive(&mut lines)? else { return Ok(None) };
        let patience = self.caller.patience;
        let wait = patience.query + patience.model + patience.embed + patience.index;
        lines.stream().wait_at_most(Some(wait + Duration::from_millis(ANSWER_WAIT_MS)))?;
        Ok(Some((lines, welcome)))
    }

    /// An older retriever is asked to leave. A newer one is used, if its protocol is the same.
    fn check_version(&self, mut lines: LineStream, welcome: &Welcome) -> Attempt {
        let is_older = numbers(&welcome.version) < numbers(&self.version);
        if !is_older {
            let is_understood = welcome.protocol == PROTOCOL;
            return if is_understood { Attempt::Ready(lines) } else { Attempt::Unusable };
        }
        match send(&mut lines, &Ask::Leave) {
            Ok(()) => Attempt::Absent,
            Err(_) => Attempt::Unusable,
        }
    }

    fn put_back(&self, lines: LineStream) {
        let mut idle = self.idle();
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push(lines);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<LineStream>> {
        lock(&self.state.idle)
    }

    fn ask(
        &self,
        ask: &Ask,
        alone: impl FnOnce(&dyn Api) -> Result<Reply, ApiError>,
    ) -> Result<Reply, ApiError> {
        self.ask_retriever(ask).unwrap_or_else(|| alone(&*self.alone()?))
    }
}

/// Asks the retriever of an endpoint to stop. Returns whether there was one.
#[must_use]
pub fn ask_to_leave(remote: &Remote) -> bool {
    let is_trusted = remote.endpoint.is_trusted();
    match is_trusted.then(|| remote.greet()) {
        // This works with any version.
        Some(Ok(Some((mut lines, _)))) => send(&mut lines, &Ask::Leave).is_ok(),
        Some(Ok(None) | Err(_)) | None => false,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding a lock, so the data is valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn exchange(lines: &mut LineStream, ask: &Ask) -> io::Result<Option<Answer>> {
    send(lines, ask)?;
    receive(lines)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Waits for the end of a process we started, so that it does not stay a zombie.
fn reap(child: Option<Child>) {
    let Some(mut child) = child else { return };
    // Without a thread it stays a zombie until we end.
    let _ = std::thread::Builder::new().name("reap".to_owned()).spawn(move || child.wait());
}

/// Returns the numbers of a version for comparing; the first part that is no number ends them.
fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

impl Api for Remote {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Search(request.clone()), |api| api.search(request))
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Context(request.clone()), |api| api.context(request))
    }

    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        let mut draft = draft;
        // If the retriever goes away over it, the request is sent again; with one id that is one
        // memory.
        if draft.id.is_none() {
            draft.id = Some((self.fresh_id)().to_string());
        }
        let client_name = client.map(str::to_owned);
        let ask = Ask::Save { draft: Box::new(draft.clone()), client: client_name };
        self.ask(&ask, |api| api.save(draft, client))
    }

    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let ask = Ask::Change { request: request.clone(), voice: voice.clone() };
        // Repeating it changes nothing: the latest event counts, and one voice has one verdict.
        self.ask(&ask, |api| api.change(request, voice))
    }

    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Review(request.clone()), |api| api.review(request))
    }

    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Sweep(request.clone()), |api| api.sweep(request))
    }

    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let ask = Ask::Link { request: request.clone(), voice: voice.clone() };
        // As with a change: an existing link writes nothing.
        self.ask(&ask, |api| api.link(request, voice))
    }

    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Related(request.clone()), |api| api.related(request))
    }

    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Analyze(request.clone()), |api| api.analyze(request))
    }

    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let ask = Ask::Patterns { request: request.clone(), voice: voice.clone() };
        // An accepted pattern is no longer suggested, so repeating it writes nothing.
        self.ask(&ask, |api| api.patterns(request, voice))
    }

    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Stale(request.clone()), |api| api.stale(request))
    }

    fn list(&self, listing: &Listing) -> Result<Reply, ApiError> {
        self.ask(&Ask::List(listing.clone()), |api| api.list(listing))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        self.ask(&Ask::Show(ids.to_vec()), |api| api.show(ids))
    }

    fn recent(&self, limit: usize) -> Result<Reply, ApiError> {
        self.ask(&Ask::Recent(limit), |api| api.recent(limit))
    }

    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::Complete(request.clone()), |api| api.complete(request))
    }

    fn status(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Status, |api| api.status())
    }

    fn digest(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Digest, |api| api.digest())
    }

    fn whoami(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Whoami, |api| api.whoami())
    }
}
