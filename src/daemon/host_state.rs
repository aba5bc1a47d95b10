//! The state that all connections of a retriever share, and its part of `status`. Not here: serving a
//! connection (`host`).

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::attached_clients::AttachedClients;
use crate::stream::Stream;
use api::local::Core;
use event::Timestamp;
use reply::Reply;

pub enum HostEvent {
    /// A client attached or left.
    Attached,
    Stop,
}

pub struct HostState {
    pub core: Arc<Core>,
    pub version: String,
    pub began_at: Timestamp,
    pub clients: AttachedClients,
    pub streams: Mutex<BTreeMap<u64, Stream>>,
    pub calls: Mutex<usize>,
    pub is_closing: AtomicBool,
    pub events: Sender<HostEvent>,
    pub guest_status: Mutex<Vec<StatusPart>>,
    pub token: Option<String>,
}

/// Adds another server's lines to a status.
pub type StatusPart = Arc<dyn Fn(Reply) -> Reply + Send + Sync>;

pub fn lock_unpoisoned<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while holding a lock, so the data is valid.
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostState {
    /// Adds the facts of this process to the JSON of a status. Its text is about the memory; only other servers, such as
    /// HTTP, add the line where they can be reached.
    pub fn add_to_status(&self, status: Reply) -> Reply {
        let json = json!({ "pid": std::process::id(), "version": self.version, "resident_mib": resident_mib(),
            "since": self.began_at.to_string() });
        let status = self.clients.add_to_status(status.with_field("retriever", json));
        let others = lock_unpoisoned(&self.guest_status).clone();
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
pub struct CallCount<'a>(&'a HostState);

impl<'a> CallCount<'a> {
    pub fn increment(shared: &'a HostState) -> Self {
        *lock_unpoisoned(&shared.calls) += 1;
        Self(shared)
    }
}

impl Drop for CallCount<'_> {
    fn drop(&mut self) {
        *lock_unpoisoned(&self.0.calls) -= 1;
    }
}
