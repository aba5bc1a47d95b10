//! The connection limit. At the limit a new connection replaces the one that has been silent for
//! longest and is in no call, so slow connections cannot keep others out. Not here: what is sent on
//! a connection.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::disconnect::Disconnect;

/// The limit. An agent has one or two connections. With a body of at most 1 MiB each, a flood of
/// requests takes at most 128 MiB.
pub const CONNECTIONS_MAX: usize = 128;

/// All connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimit(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    connections_max: usize,
    state: Mutex<LimitState>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct LimitState {
    next: u64,
    entries: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Its last activity, as a count of activities.
    last_activity: u64,
    /// Over HTTP/2 there may be several.
    calls: usize,
    replaced: Disconnect,
}

/// One connection, until dropped.
#[derive(Debug)]
pub struct Connection {
    limit: ConnectionLimit,
    number: u64,
    replaced: Disconnect,
}

/// A stream, during which the connection is not replaced either. It may outlive the borrow of a call.
pub struct HeldConnection {
    limit: ConnectionLimit,
    number: u64,
}

/// A call, during which the connection is not replaced.
pub struct ActiveCall<'a>(&'a Connection);

impl ConnectionLimit {
    /// Makes a limit of so many open connections.
    pub fn new(connections_max: usize) -> Self {
        let count = watch::Sender::new(0);
        Self(Arc::new(Inside { connections_max, state: Mutex::default(), count }))
    }

    /// Adds a connection. `None` where the limit is reached and all are in a call.
    pub fn admit(&self) -> Option<Connection> {
        let mut state = self.state();
        if state.entries.len() >= self.0.connections_max {
            let silent = state.entries.iter().filter(|(_, entry)| entry.calls == 0);
            let (number, _) = silent.min_by_key(|(_, entry)| entry.last_activity)?;
            let number = *number;
            if let Some(entry) = state.entries.remove(&number) {
                entry.replaced.signal();
            }
        }
        let number = state.tick();
        let replaced = Disconnect::new();
        let entry = Entry { last_activity: number, calls: 0, replaced: replaced.clone() };
        state.entries.insert(number, entry);
        self.0.count.send_replace(state.entries.len());
        Some(Connection { limit: self.clone(), number, replaced })
    }

    /// Waits until there are no connections.
    pub async fn is_empty(&self) {
        // The sender outlives this borrow, so waiting cannot fail.
        let _ = self.0.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn state(&self) -> MutexGuard<'_, LimitState> {
        // No code panics while holding the lock, so the state is valid.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LimitState {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Records an activity of a connection; `calls` tells how many it is in, from how many it was in.
    fn update(&mut self, number: u64, calls: impl FnOnce(usize) -> usize) {
        let last_activity = self.tick();
        if let Some(entry) = self.entries.get_mut(&number) {
            (entry.last_activity, entry.calls) = (last_activity, calls(entry.calls));
        }
    }
}

impl Connection {
    /// Records an activity.
    pub fn record_activity(&self) {
        self.limit.state().update(self.number, |calls| calls);
    }

    /// Protects it from being replaced until the returned value is dropped.
    pub fn begin_call(&self) -> ActiveCall<'_> {
        self.limit.state().update(self.number, |calls| calls + 1);
        ActiveCall(self)
    }

    /// Protects it from being replaced as long as a stream lasts.
    pub fn hold(&self) -> HeldConnection {
        self.limit.state().update(self.number, |calls| calls + 1);
        HeldConnection { limit: self.limit.clone(), number: self.number }
    }

    /// Returns the signal that closes it, as if another one had replaced it.
    pub fn closer(&self) -> Disconnect {
        self.replaced.clone()
    }

    /// Waits until another connection has replaced it.
    pub async fn is_replaced(&self) {
        self.replaced.wait().await;
    }
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        self.limit.state().update(self.number, |calls| calls.saturating_sub(1));
    }
}

impl Drop for ActiveCall<'_> {
    fn drop(&mut self) {
        self.0.limit.state().update(self.0.number, |calls| calls.saturating_sub(1));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut state = self.limit.state();
        state.entries.remove(&self.number);
        self.limit.0.count.send_replace(state.entries.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn was_replaced(connection: &Connection) -> bool {
        !connection.limit.state().entries.contains_key(&connection.number)
    }

    // S-HTTP-3
    #[test]
    fn the_longest_silent_connection_is_replaced() {
        let limit = ConnectionLimit::new(3);
        let connections: Vec<Connection> = (0..3).map(|_| limit.admit().unwrap()).collect();
        connections[0].record_activity();
        let fourth = limit.admit().unwrap();
        assert_eq!(connections.iter().map(was_replaced).collect::<Vec<_>>(), [false, true, false]);
        drop(fourth);
        let fifth = limit.admit().unwrap();
        assert!(!was_replaced(&fifth) && !was_replaced(&connections[2]), "there was room");
    }

    // S-HTTP-3
    #[test]
    fn a_connection_in_a_call_is_not_replaced() {
        let limit = ConnectionLimit::new(2);
        let (one, other) = (limit.admit().unwrap(), limit.admit().unwrap());
        let call = one.begin_call();
        let third = limit.admit().unwrap();
        assert!(was_replaced(&other) && !was_replaced(&one));
        let another_call = third.begin_call();
        assert!(limit.admit().is_none());
        // Over HTTP/2 one connection has several calls.
        drop(one.begin_call());
        one.record_activity();
        assert!(limit.admit().is_none(), "its first call goes on");
        drop((call, another_call));
        assert!(limit.admit().is_some());
    }

    // S-HTTP-3
    #[test]
    fn a_connection_with_a_stream_is_not_replaced() {
        let limit = ConnectionLimit::new(2);
        let (one, other) = (limit.admit().unwrap(), limit.admit().unwrap());
        let held = (one.hold(), other.hold());
        assert!(limit.admit().is_none());
        drop(held);
        assert!(limit.admit().is_some());
    }

    #[test]
    fn it_is_empty_when_the_last_connection_ends() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let limit = ConnectionLimit::new(1);
            limit.is_empty().await;
            let connection = limit.admit().unwrap();
            let next = limit.admit().unwrap();
            connection.is_replaced().await;
            drop(connection);
            assert_eq!(*limit.0.count.borrow(), 1);
            drop(next);
            limit.is_empty().await;
        });
    }
}
