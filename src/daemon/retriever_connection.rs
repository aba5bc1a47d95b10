//! Connects a client to the shared retriever: the connection, the exchange of hellos, and the start of a retriever where there is none.
//! Not here: sending requests (`retriever_client`), the process itself (`process`).

use requests::{Request, Voice};
use std::fs::OpenOptions;
use std::io;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::protocol::{Hello, PROTOCOL, RetrieverRequest, Welcome, WireAnswer, receive, send};
use crate::retriever_client::RetrieverClient;
use crate::stream::{LineStream, Stream, is_timeout};
use reply::Reply;
use store::open_private;

/// How long a retriever may take to start, in milliseconds. It listens before it reads anything, so
/// only an overloaded machine needs this long.
const START_WAIT_MS: u64 = 3_000;

/// How long its hello may take, in milliseconds. A stopped process sends none.
const WELCOME_WAIT_MS: u64 = 1_500;

/// How long an answer may take beyond the caller's own limits, in milliseconds. An append waits up
/// to two seconds for its lock.
const ANSWER_WAIT_MS: u64 = 5_000;

/// The first pause between two connection attempts, in milliseconds; it doubles up to the longest.
const PAUSE_MS_MIN: u64 = 1;
const PAUSE_MS_MAX: u64 = 25;

/// The longest file of error messages, in bytes. A longer one is emptied.
const MESSAGES_BYTES_MAX: u64 = 256 * 1024;

/// The result of a connection attempt.
enum Attempt {
    Ready(LineStream),
    /// No retriever is listening, or it is about to leave.
    Absent,
    /// It is there and cannot be used.
    Unusable,
}

impl RetrieverClient {
    /// Connects to a retriever, and starts one if needed, so that the first request need not wait
    /// for it.
    pub fn prepare(&self) {
        if let Some(lines) = self.connection() {
            self.return_connection(lines);
        }
    }

    /// Attaches if the retriever is running. Otherwise it is started for later requests, and this
    /// call does not wait.
    #[must_use]
    pub fn attach_if_running(&self) -> bool {
        if self.endpoint.create_folder().is_err() {
            return false;
        }
        match self.attempt() {
            Attempt::Ready(lines) => {
                self.return_connection(lines);
                return true;
            }
            // A retriever that cannot be started is missing the next time too.
            Attempt::Absent => drop(self.retriever_command.run(self.messages_file())),
            Attempt::Unusable => {}
        }
        false
    }

    /// Returns the status of the running retriever; `None` where none answers. None is started.
    #[must_use]
    pub fn status_if_running(&self) -> Option<Reply> {
        let attempt = self.endpoint.is_trusted().then(|| self.attempt());
        let Some(Attempt::Ready(mut lines)) = attempt else { return None };
        send(
            &mut lines,
            &RetrieverRequest::Memory { request: Box::new(Request::Status), voice: Voice::Caller },
        )
        .ok()?;
        let answer: WireAnswer = receive(&mut lines).ok()??;
        answer.into_result().ok()
    }

    /// Starts a retriever, whether one is running or not.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn start_another(&self) -> io::Result<Child> {
        self.endpoint.create_folder().map_err(io::Error::other)?;
        self.retriever_command.run(self.messages_file())
    }

    /// Returns a connection to the retriever, and starts one if needed.
    pub fn connection(&self) -> Option<LineStream> {
        self.endpoint.create_folder().ok()?;
        let mut started: Option<Child> = None;
        let mut pause_ms = PAUSE_MS_MIN;
        let deadline = Instant::now() + Duration::from_millis(START_WAIT_MS);
        loop {
            match self.attempt() {
                Attempt::Ready(lines) => {
                    wait_for_exit(started);
                    return Some(lines);
                }
                Attempt::Unusable => return None,
                Attempt::Absent => {}
            }
            let has_failed = match &mut started {
                // Another process may have been faster; then its retriever is used.
                Some(child) => matches!(child.try_wait(), Ok(Some(exit)) if !exit.success()),
                None => {
                    started = Some(self.retriever_command.run(self.messages_file()).ok()?);
                    false
                }
            };
            if has_failed || Instant::now() >= deadline {
                wait_for_exit(started);
                return None;
            }
            std::thread::park_timeout(Duration::from_millis(pause_ms));
            pause_ms = (pause_ms * 2).min(PAUSE_MS_MAX);
        }
    }

    fn messages_file(&self) -> Option<std::fs::File> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        let file = open_private(&mut options, &self.endpoint.message_log()).ok()?;
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
        let mut lines = LineStream::new(Stream::connect(&self.endpoint)?);
        lines.set_timeout(Some(Duration::from_millis(WELCOME_WAIT_MS)))?;
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
        lines.set_timeout(Some(wait + Duration::from_millis(ANSWER_WAIT_MS)))?;
        Ok(Some((lines, welcome)))
    }

    /// An older retriever is asked to leave. A newer one is used, if its protocol is the same.
    fn check_version(&self, mut lines: LineStream, welcome: &Welcome) -> Attempt {
        let is_older = numbers(&welcome.version) < numbers(&self.version);
        if !is_older {
            let is_understood = welcome.protocol == PROTOCOL;
            return if is_understood { Attempt::Ready(lines) } else { Attempt::Unusable };
        }
        match send(&mut lines, &RetrieverRequest::Leave) {
            Ok(()) => Attempt::Absent,
            Err(_) => Attempt::Unusable,
        }
    }
}

/// Asks the retriever of an endpoint to stop. Returns whether there was one.
#[must_use]
pub fn ask_to_leave(remote: &RetrieverClient) -> bool {
    let is_trusted = remote.endpoint.is_trusted();
    match is_trusted.then(|| remote.greet()) {
        // This works with any version.
        Some(Ok(Some((mut lines, _)))) => send(&mut lines, &RetrieverRequest::Leave).is_ok(),
        Some(Ok(None) | Err(_)) | None => false,
    }
}

/// Waits for the end of a process we started, so that it does not stay a zombie.
fn wait_for_exit(child: Option<Child>) {
    let Some(mut child) = child else { return };
    // Without a thread it stays a zombie until we end.
    let _ = std::thread::Builder::new().name("reap".to_owned()).spawn(move || child.wait());
}

/// Returns the numbers of a version for comparing; the first part that is no number ends them.
fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}
