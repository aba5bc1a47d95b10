//! Who is attached at present, for the retriever that ends when nobody is and for `status`. Not here: talking to
//! them (`host`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::protocol::Hello;
use api::Reply;
use event::Timestamp;

/// Events that are remembered.
const EVENTS_MAX: usize = 8;

/// Everybody who is attached.
#[derive(Debug, Default)]
pub(super) struct Attached {
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

impl Attached {
    /// Takes note of a new connection; returns its number.
    pub(super) fn came(&self, hello: Hello, now: Timestamp) -> u64 {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        state.event(now, format!("{} of process {} came", hello.program, hello.pid));
        state.connections.insert(number, (hello, now));
        number
    }

    /// Takes note of its end.
    pub(super) fn left(&self, number: u64, now: Timestamp) {
        let mut state = self.state();
        if let Some((hello, _)) = state.connections.remove(&number) {
            state.event(now, format!("{} of process {} left", hello.program, hello.pid));
        }
    }

    /// Takes note of a call.
    pub(super) fn called(&self) {
        self.state().calls += 1;
    }

    /// Takes note of somebody who came by another way in, for one question.
    pub(super) fn guest_came(&self) {
        self.state().guests += 1;
    }

    /// Takes note of its end.
    pub(super) fn guest_left(&self) {
        self.state().guests -= 1;
    }

    /// Counts the connections, and the questions of guests.
    pub(super) fn len(&self) -> usize {
        let state = self.state();
        state.connections.len() + state.guests
    }

    /// Adds what is known of them to a status.
    pub(super) fn told(&self, status: Reply) -> Reply {
        let state = self.state();
        let mut processes: BTreeMap<u32, (&Hello, usize)> = BTreeMap::new();
        for (hello, _) in state.connections.values() {
            processes.entry(hello.pid).or_insert((hello, 0)).1 += 1;
        }
        let mut status = status;
        let count = processes.len();
        status = status.and("clients", &format!("{count} attached, {} calls so far", state.calls));
        for (pid, (hello, _)) in &processes {
            let directory = hello.caller.directory.as_deref().map(Path::display);
            let place = directory.map_or_else(String::new, |place| format!(", in {place}"));
            status = status
                .and("", &format!("{} {pid} ({}){place}", hello.program, hello.caller.agent_id));
        }
        for (when, what) in &state.events {
            status = status.and("", &format!("{when:.0} {what}"));
        }
        let clients: Vec<Value> = processes
            .values()
            .map(|(hello, connections)| {
                json!({ "pid": hello.pid, "program": hello.program, "agent": hello.caller.agent_id,
                    "version": hello.version, "connections": connections })
            })
            .collect();
        status.with("clients", json!({ "attached": clients, "calls": state.calls }))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, AttachedState> {
        // Nobody panics while holding it; what is there counts.
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
