//! The state that all connections of a retriever share, and its part of `status`. Not here: serving a
//! connection (`host`).

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::attached::Attached;
use super::stream::Stream;
use api::local::Core;
use event::Timestamp;
use reply::Reply;

pub(super) enum HostEvent {
    /// A client attached or left.
    Attached,
    Stop,
}

pub(super) struct HostState {
    pub(super) core: Arc<Core>,
    pub(super) version: String,
    pub(super) began: Timestamp,
    pub(super) clients: Attached,
    pub(super) streams: Mutex<BTreeMap<u64, Stream>>,
    pub(super) calls: Mutex<usize>,
    pub(super) is_closing: AtomicBool,
    pub(super) events: Sender<HostEvent>,
    pub(super) guest_status: Mutex<Vec<StatusPart>>,
    pub(super) token: Option<String>,
}

/// Adds another server's lines to a status.
pub(super) type StatusPart = Arc<dyn Fn(Reply) -> Reply + Send + Sync>;

pub(super) fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding a lock, so the data is valid.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostState {
    /// Adds the facts of this process to the JSON of a status. Its text is about the memory; only other servers, such as
    /// HTTP, add the line where they can be reached.
    pub(super) fn add_to_status(&self, status: Reply) -> Reply {
        let json = json!({ "pid": std::process::id(), "version": self.version, "resident_mib": resident_mib(),
            "since": self.began.to_string() });
        let status = self.clients.add_to_status(status.with("retriever", json));
        let others = lock(&self.guest_status).clone();
        others.iter().fold(status, |status, add| add(status))
    }
}

/// Returns the resident memory of this process, where the system reports it.
fn resident_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1_024)
}

/// Counts one call under way, until dropped.
pub(super) struct CallCount<'a>(&'a HostState);

impl<'a> CallCount<'a> {
    pub(super) fn one_more(shared: &'a HostState) -> Self {
        *lock(&shared.calls) += 1;
        Self(shared)
    }
}

impl Drop for CallCount<'_> {
    fn drop(&mut self) {
        *lock(&self.0.calls) -= 1;
    }
}
