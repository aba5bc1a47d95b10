//! The client's side: [`Api`] through the shared retriever. It asks the retriever, retries when the
//! retriever goes away, and answers in this process where there is none. Not here: reaching and
//! starting a retriever (`connect`), the answers (`api::local`).

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::endpoint::Endpoint;
use crate::process::Start;
use crate::protocol::{Answer, Ask, receive, send};
use crate::stream::{LineStream, is_timeout};
use api::caller::Caller;
use api::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, LogEventsRequest, PatternsRequest, RelatedRequest, Reply, ReviewRequest,
    SearchRequest, SessionSearchRequest, StaleRequest, SweepRequest, Voice,
};
use event::{Draft, EventId};

/// How often a request is sent again when the retriever goes away over it.
const TRIES: usize = 3;

/// How long a process without a retriever answers by itself before it tries again, in milliseconds.
const ALONE_MS: u64 = 30_000;

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
    pub fn expire_last_attempt(&self) {
        let before = Instant::now().checked_sub(Duration::from_millis(ALONE_MS)).unwrap();
        lock(&self.alone).as_mut().unwrap().tried_at = before;
    }
}

impl Remote {
    /// Asks the retriever. `None` where there is none.
    fn ask_retriever(&self, ask: &Ask) -> Option<Result<Reply, ApiError>> {
        if self.has_failed_recently() {
            return None;
        }
        let mut again = None;
        for _ in 0..TRIES {
            let mut lines = match self.idle().pop() {
                Some(lines) => lines,
                None => self.connection()?,
            };
            let ask = again.as_ref().unwrap_or(ask);
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
                Ok(None) | Err(_) => {
                    again = Some(ask.sent_again());
                    self.idle().clear();
                }
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

    /// Keeps a connection for the next request.
    pub fn put_back(&self, lines: LineStream) {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding a lock, so the data is valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn exchange(lines: &mut LineStream, ask: &Ask) -> io::Result<Option<Answer>> {
    send(lines, ask)?;
    receive(lines)
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
        self.ask(&ask, |api| api.save(Draft { is_retry: true, ..draft }, client))
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

    fn search_sessions(&self, request: &SessionSearchRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::SearchSessions(request.clone()), |api| api.search_sessions(request))
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

    fn log_events(&self, request: &LogEventsRequest) -> Result<Reply, ApiError> {
        self.ask(&Ask::LogEvents(request.clone()), |api| api.log_events(request))
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

    fn doctor(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Doctor, |api| api.doctor())
    }

    fn whoami(&self) -> Result<Reply, ApiError> {
        self.ask(&Ask::Whoami, |api| api.whoami())
    }
}
