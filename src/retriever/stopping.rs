//! Stops the shared retriever, also one that is just starting. Not here: how it ends (`daemon`).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::options::GlobalOptions;
use crate::options::MemoryNeed;
use crate::startup::Retriever;
use daemon::host::HostEnd;
use daemon::process::STARTED_VARIABLE;
use daemon::retriever_connection::ask_to_leave;
use reply::Reply;
use requests::ApiError;
use store::StoreError;
use writer::exit::Exit;

/// How long a stop waits for a retriever that is starting, and the pause between two attempts, in milliseconds.
const STOP_WAIT_MS: u64 = 5_000;
const STOP_PAUSE_MS: u64 = 20;

impl Retriever<'_> {
    /// Stops the retriever, also one that is just starting.
    pub fn stop(&self, settings: &GlobalOptions) -> Result<Reply, ApiError> {
        let reply = |has_ended: bool, text: &str| {
            Ok(Reply::new(text.to_owned(), json!({ "stopped": has_ended })))
        };
        let endpoint = self.endpoint(&self.resolve_settings(settings)?);
        let Some(remote) = self.retriever_client(settings, MemoryNeed::Words, "serve")? else {
            return reply(false, "No retriever is running.");
        };
        endpoint.request_stop();
        let until = Instant::now() + Duration::from_millis(STOP_WAIT_MS);
        loop {
            if ask_to_leave(&remote) {
                return reply(true, "The retriever is ending.");
            }
            // Whoever holds the lock is about to listen, or is suspended.
            if !matches!(endpoint.elect_now(), Err(StoreError::Busy { .. })) {
                return reply(false, "No retriever is running.");
            }
            if Instant::now() >= until {
                return Err(unresponsive(endpoint.holder()));
            }
            std::thread::park_timeout(Duration::from_millis(STOP_PAUSE_MS));
        }
    }

    /// Returns when this process was started, as the client that started it says.
    pub fn started(&self) -> SystemTime {
        let said = (self.surroundings.lookup)(STARTED_VARIABLE);
        let said = said.and_then(|said| said.to_str()?.parse().ok());
        let nanos: i128 = said.unwrap_or_else(|| (self.surroundings.clock)().now.as_nanosecond());
        UNIX_EPOCH + Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }
}

/// The error about a retriever that holds its lock and does not answer.
fn unresponsive(holder: Option<u32>) -> ApiError {
    let process = holder.map_or_else(|| "PID".to_owned(), |process| process.to_string());
    let message = format!(
        "a retriever of this store is running and does not answer; if it is suspended, continue it with \
         kill -CONT {process}, or end it with kill -KILL {process}: nothing that was saved is lost"
    );
    ApiError::Failed { exit: Exit::Busy, message }
}

/// Says that another retriever serves.
pub fn not_elected_reply() -> Reply {
    Reply::new("Another retriever started first.".to_owned(), json!({ "served": false }))
}

/// Says why a retriever ended.
pub fn end_reply(why: HostEnd) -> Reply {
    let text = match why {
        HostEnd::Idle => "Stopped: no client was connected.",
        HostEnd::StopRequested => "Stopped on request.",
        HostEnd::Unreachable => "The socket is gone; the next client starts another retriever.",
    };
    Reply::new(text.to_owned(), json!({ "served": true, "ended": text }))
}
