//! The client's side: [`Api`] through the shared retriever. It asks the retriever, retries when the
//! retriever goes away, and answers in this process where there is none. Not here: reaching and
//! starting a retriever (`retriever_connection`), the answers (`api::local`).

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::endpoint::Endpoint;
use crate::process::RetrieverCommand;
use crate::protocol::{RetrieverRequest, WireAnswer, receive, send};
use crate::stream::{LineStream, is_timeout};
use event::EventId;
use requests::caller::Caller;
use requests::{Api, ApiError, Reply, Request, Voice};

/// How often a request is sent again when the retriever goes away over it.
const TRIES: usize = 3;

/// How long a process without a retriever answers by itself before it tries again, in milliseconds.
const ALONE_MS: u64 = 30_000;

/// Idle connections that are reused.
const IDLE_CONNECTIONS_MAX: usize = 16;

/// Opens the memory in this process, for a caller.
pub type LocalOpener = Arc<dyn Fn(&Caller) -> Result<Arc<dyn Api>, ApiError> + Send + Sync>;

/// The memory, through the shared retriever.
pub struct RetrieverClient {
    /// Where the retriever listens.
    pub endpoint: Endpoint,
    /// The command that starts it.
    pub retriever_command: RetrieverCommand,
    /// The command this process runs.
    pub program: String,
    /// The version of this process.
    pub version: String,
    /// The caller.
    pub caller: Caller,
    /// Opens the memory in this process, where there can be no retriever.
    pub open_local: LocalOpener,
    /// Makes a unique id.
    pub fresh_id: Arc<dyn Fn() -> EventId + Send + Sync>,
    /// The state between requests.
    pub state: RetrieverClientState,
}

/// The state between requests.
#[derive(Default)]
pub struct RetrieverClientState {
    idle: Mutex<Vec<LineStream>>,
    local_memory: Mutex<Option<LocalMemory>>,
}

/// The memory in this process, while there is no retriever.
struct LocalMemory {
    api: Arc<dyn Api>,
    tried_at: Instant,
}

#[cfg(test)]
impl RetrieverClientState {
    /// Makes the last attempt look old.
    pub fn expire_last_attempt(&self) {
        let before = Instant::now().checked_sub(Duration::from_millis(ALONE_MS)).unwrap();
        lock(&self.local_memory).as_mut().unwrap().tried_at = before;
    }
}

impl RetrieverClient {
    /// Returns a client for the same caller in another directory. The retriever learns the directory of a connection when it
    /// begins, so the two share none.
    #[must_use]
    pub fn in_directory(&self, directory: Option<PathBuf>) -> Self {
        Self {
            endpoint: self.endpoint.clone(),
            retriever_command: self.retriever_command.clone(),
            program: self.program.clone(),
            version: self.version.clone(),
            caller: Caller { directory, ..self.caller.clone() },
            open_local: Arc::clone(&self.open_local),
            fresh_id: Arc::clone(&self.fresh_id),
            state: RetrieverClientState::default(),
        }
    }

    /// Asks the retriever. `None` where there is none.
    fn ask_retriever(&self, request: &Request, voice: &Voice) -> Option<Result<Reply, ApiError>> {
        if self.has_failed_recently() {
            return None;
        }
        let ask = |request: Request| RetrieverRequest::Memory {
            request: Box::new(request),
            voice: voice.clone(),
        };
        let mut message = ask(request.clone());
        for _ in 0..TRIES {
            let mut lines = match self.idle().pop() {
                Some(lines) => lines,
                None => self.connection()?,
            };
            match exchange(&mut lines, &message) {
                Ok(Some(answer)) => {
                    self.return_connection(lines);
                    // The retriever is back, so the memory in this process is closed.
                    lock(&self.state.local_memory).take();
                    return Some(answer.into_result());
                }
                // It is stopped or stuck: another try would take as long.
                Err(error) if is_timeout(&error) => return None,
                // It has gone, and all idle connections lead to it.
                Ok(None) | Err(_) => {
                    message = ask(request.as_retry());
                    self.idle().clear();
                }
            }
        }
        None
    }

    /// Tells whether an attempt failed recently, so that not every request waits.
    fn has_failed_recently(&self) -> bool {
        let pause = Duration::from_millis(ALONE_MS);
        match lock(&self.state.local_memory).as_mut() {
            Some(local) if local.tried_at.elapsed() < pause => true,
            Some(local) => {
                local.tried_at = Instant::now();
                false
            }
            None => false,
        }
    }

    /// Returns the memory in this process, which the first request opens.
    fn local_memory(&self) -> Result<Arc<dyn Api>, ApiError> {
        let mut local_memory = lock(&self.state.local_memory);
        if let Some(local) = &*local_memory {
            return Ok(Arc::clone(&local.api));
        }
        let api = (self.open_local)(&self.caller)?;
        *local_memory = Some(LocalMemory { api: Arc::clone(&api), tried_at: Instant::now() });
        Ok(api)
    }

    /// Keeps a connection for the next request.
    pub fn return_connection(&self, lines: LineStream) {
        let mut idle = self.idle();
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push(lines);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<LineStream>> {
        lock(&self.state.idle)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding a lock, so the data is valid.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn exchange(lines: &mut LineStream, ask: &RetrieverRequest) -> io::Result<Option<WireAnswer>> {
    send(lines, ask)?;
    receive(lines)
}

impl Api for RetrieverClient {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        let mut request = request.clone();
        if let Request::Save(draft) = &mut request {
            // If the retriever goes away over it, the request is sent again; with one id that is one memory.
            draft.id.get_or_insert_with(|| (self.fresh_id)().to_string());
        }
        match self.ask_retriever(&request, voice) {
            Some(answer) => answer,
            None => self.local_memory()?.ask_as(&request.as_retry(), voice),
        }
    }
}
