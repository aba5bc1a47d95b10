//! Who is connected. There is always room for one more: where all seats are taken, the one that has been silent for
//! longest and is in no call gives up its own. So slow connections, however many, keep nobody out. Not here: what
//! is said on a connection.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::mcp::Disconnect;

/// Connections at once. An agent has one or two; and with a body of at most 1 MiB on each, whoever wants to fill our
/// memory gets to 128 MiB of it and no further.
pub(super) const CONNECTIONS_MAX: usize = 128;

/// Everybody who is connected.
#[derive(Debug, Clone)]
pub(super) struct ConnectionLimit(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    seats_max: usize,
    state: Mutex<LimitState>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct LimitState {
    next: u64,
    members: BTreeMap<u64, Member>,
}

#[derive(Debug)]
struct Member {
    /// When it last did something, by a count of such things.
    seen: u64,
    is_in_call: bool,
    taken: Disconnect,
}

/// A place in the crowd, until dropped.
#[derive(Debug)]
pub(super) struct Connection {
    crowd: ConnectionLimit,
    number: u64,
    taken: Disconnect,
}

/// A call, during which the seat is kept.
pub(super) struct InCall<'a>(&'a Connection);

impl ConnectionLimit {
    pub(super) fn of(seats_max: usize) -> Self {
        let count = watch::Sender::new(0);
        Self(Arc::new(Inside { seats_max, state: Mutex::default(), count }))
    }

    /// Takes a seat; nobody's is free only where everybody is in a call.
    pub(super) fn enter(&self) -> Option<Connection> {
        let mut state = self.state();
        if state.members.len() >= self.0.seats_max {
            let silent = state.members.iter().filter(|(_, member)| !member.is_in_call);
            let (number, _) = silent.min_by_key(|(_, member)| member.seen)?;
            let number = *number;
            if let Some(member) = state.members.remove(&number) {
                member.taken.happen();
            }
        }
        let number = state.tick();
        let taken = Disconnect::new();
        let member = Member { seen: number, is_in_call: false, taken: taken.clone() };
        state.members.insert(number, member);
        self.0.count.send_replace(state.members.len());
        Some(Connection { crowd: self.clone(), number, taken })
    }

    /// Waits until nobody is here.
    pub(super) async fn is_empty(&self) {
        // The sender lives as long as this borrow of it, so waiting cannot fail.
        let _ = self.0.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn state(&self) -> MutexGuard<'_, LimitState> {
        // Nobody panics while holding it; what is there counts.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LimitState {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn note(&mut self, number: u64, is_in_call: bool) {
        let seen = self.tick();
        if let Some(member) = self.members.get_mut(&number) {
            (member.seen, member.is_in_call) = (seen, is_in_call);
        }
    }
}

impl Connection {
    /// Takes note that it did something.
    pub(super) fn stir(&self) {
        self.crowd.state().note(self.number, false);
    }

    /// Keeps it until what is returned is dropped.
    pub(super) fn keep(&self) -> InCall<'_> {
        self.crowd.state().note(self.number, true);
        InCall(self)
    }

    /// Waits until somebody else has it.
    pub(super) async fn is_taken(&self) {
        self.taken.happened().await;
    }
}

impl Drop for InCall<'_> {
    fn drop(&mut self) {
        self.0.stir();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut state = self.crowd.state();
        state.members.remove(&self.number);
        self.crowd.0.count.send_replace(state.members.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_out(seat: &Connection) -> bool {
        !seat.crowd.state().members.contains_key(&seat.number)
    }

    // S-HTTP-3
    #[test]
    fn the_one_that_was_silent_for_longest_makes_room() {
        let crowd = ConnectionLimit::of(3);
        let seats: Vec<Connection> = (0..3).map(|_| crowd.enter().unwrap()).collect();
        seats[0].stir();
        let fourth = crowd.enter().unwrap();
        assert_eq!(seats.iter().map(is_out).collect::<Vec<_>>(), [false, true, false]);
        drop(fourth);
        let fifth = crowd.enter().unwrap();
        assert!(!is_out(&fifth) && !is_out(&seats[2]), "there was room");
    }

    // S-HTTP-3
    #[test]
    fn nobody_in_a_call_loses_a_seat() {
        let crowd = ConnectionLimit::of(2);
        let (one, other) = (crowd.enter().unwrap(), crowd.enter().unwrap());
        let call = one.keep();
        let third = crowd.enter().unwrap();
        assert!(is_out(&other) && !is_out(&one));
        let another_call = third.keep();
        assert!(crowd.enter().is_none());
        drop((call, another_call));
        assert!(crowd.enter().is_some());
    }

    #[test]
    fn the_end_is_when_the_last_has_left() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let crowd = ConnectionLimit::of(1);
            crowd.is_empty().await;
            let seat = crowd.enter().unwrap();
            let next = crowd.enter().unwrap();
            seat.is_taken().await;
            drop(seat);
            assert_eq!(*crowd.0.count.borrow(), 1);
            drop(next);
            crowd.is_empty().await;
        });
    }
}
