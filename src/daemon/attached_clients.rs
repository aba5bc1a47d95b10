//! The clients that are attached, for the idle shutdown and for `status`. Not here: talking to them
//! (`host`).

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::protocol::Hello;
use event::Timestamp;
use requests::Reply;

/// Events that `status` shows.
const EVENTS_MAX: usize = 8;

/// The attached clients.
#[derive(Debug, Default)]
pub struct AttachedClients {
    state: Mutex<AttachedState>,
}

#[derive(Debug, Default)]
struct AttachedState {
    next: u64,
    connections: BTreeMap<u64, (Hello, Timestamp)>,
    guests: usize,
    events: Vec<(Timestamp, String)>,
    calls: u64,
}

impl AttachedClients {
    /// Registers a connection and returns its number.
    pub fn add(&self, hello: Hello, now: Timestamp) -> u64 {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        state.event(now, format!("{} of process {} connected", hello.program, hello.pid));
        state.connections.insert(number, (hello, now));
        number
    }

    /// Unregisters a connection.
    pub fn remove(&self, number: u64, now: Timestamp) {
        let mut state = self.state();
        if let Some((hello, _)) = state.connections.remove(&number) {
            state.event(now, format!("{} of process {} disconnected", hello.program, hello.pid));
        }
    }

    /// Counts a call.
    pub fn count_call(&self) {
        self.state().calls += 1;
    }

    /// Counts a guest: a client of another server (HTTP), for one request.
    pub fn guest_entered(&self) {
        self.state().guests += 1;
    }

    /// Counts the end of a guest.
    pub fn guest_left(&self) {
        self.state().guests -= 1;
    }

    /// Returns the number of connections and guests.
    pub fn len(&self) -> usize {
        let state = self.state();
        state.connections.len() + state.guests
    }

    /// Adds the clients to the JSON of a status.
    pub fn add_to_status(&self, status: Reply) -> Reply {
        let state = self.state();
        let mut processes: BTreeMap<u32, (&Hello, usize)> = BTreeMap::new();
        for (hello, _) in state.connections.values() {
            processes.entry(hello.pid).or_insert((hello, 0)).1 += 1;
        }
        let clients: Vec<Value> = processes
            .values()
            .map(|(hello, connections)| {
                json!({ "pid": hello.pid, "program": hello.program, "agent": hello.caller.agent_id,
                    "directory": hello.caller.directory, "version": hello.version, "connections": connections })
            })
            .collect();
        let events: Vec<String> =
            state.events.iter().map(|(when, what)| format!("{when:.0} {what}")).collect();
        let json = json!({ "attached": clients, "calls": state.calls, "events": events });
        status.with_field("clients", json)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, AttachedState> {
        // No code panics while holding the lock, so the state is valid.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl AttachedState {
    fn event(&mut self, now: Timestamp, what: String) {
        if self.events.len() == EVENTS_MAX {
            self.events.remove(0);
        }
        self.events.push((now, what));
    }
}
