//! What waits for one listener, and when it hears something although nothing happened. Not here: how it is sent (`events`,
//! `event_socket`).

use std::pin::Pin;
use std::time::Duration;

use hyper::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, Interval, MissedTickBehavior};

use access::connection_limit::HeldConnection;
use daemon::guests::GuestVisit;

/// How often a listener hears something when nothing happens, in seconds, so that both sides notice when the other is gone.
const KEEP_ALIVE_SECONDS: u64 = 15;

/// Happens when the server ends.
pub type ServerEnd = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// Tells whether the token of a listener still holds.
pub type MayListen = Box<dyn Fn() -> bool + Send + Sync>;

/// What waits for one listener.
pub struct EventPieces {
    /// Blocks of server-sent events.
    pub waiting: mpsc::Receiver<Bytes>,
    /// The end of the server.
    pub server_end: ServerEnd,
    /// Asked before each piece.
    pub may_listen: MayListen,
    /// Until the connection ends.
    _held: Held,
}

/// What a listener holds: it counts as attached, it has a place among the listeners, and its connection stays.
type Held = (GuestVisit, OwnedSemaphorePermit, HeldConnection);

impl EventPieces {
    /// Makes the pieces of one stream.
    pub fn new(
        waiting: mpsc::Receiver<Bytes>,
        (ended, may_listen): (ServerEnd, MayListen),
        held: Held,
    ) -> Self {
        Self { waiting, server_end: ended, may_listen, _held: held }
    }
}

/// Returns when a listener is sent something although nothing happened.
pub fn keep_alive() -> Interval {
    let every = Duration::from_secs(KEEP_ALIVE_SECONDS);
    let mut interval = tokio::time::interval_at(Instant::now() + every, every);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
