//! The handle by which another server (HTTP, gRPC) answers from this retriever. Its clients count as attached
//! while a request is under way. Not here: those servers (`http`, `grpc`).

use std::sync::Arc;

use crate::host_state::{HostEvent, HostState, lock_unpoisoned};
use api::local::Core;
use reply::Reply;

/// The handle through which another server (HTTP, gRPC) answers its clients. Its clients keep the
/// retriever running, and shutdown waits for their calls.
#[derive(Clone)]
pub struct Guests(pub Arc<HostState>);

/// Counts one guest, until dropped.
pub struct GuestVisit(Arc<HostState>);

/// Counts one call of a guest, until dropped.
pub struct GuestCall(Arc<HostState>);

impl Guests {
    /// Returns the core that all answers come from.
    #[must_use]
    pub fn core(&self) -> &Arc<Core> {
        &self.0.core
    }

    /// Adds what another server adds to a status.
    pub fn add_status(&self, add: impl Fn(Reply) -> Reply + Send + Sync + 'static) {
        lock_unpoisoned(&self.0.guest_status).push(Arc::new(add));
    }

    /// Counts a guest as attached.
    #[must_use]
    pub fn visit(&self) -> GuestVisit {
        self.0.clients.guest_entered();
        GuestVisit(Arc::clone(&self.0))
    }

    /// Counts a call.
    #[must_use]
    pub fn call(&self) -> GuestCall {
        self.0.clients.count_call();
        *lock_unpoisoned(&self.0.calls) += 1;
        GuestCall(Arc::clone(&self.0))
    }
}

impl Drop for GuestVisit {
    fn drop(&mut self) {
        self.0.clients.guest_left();
        // The idle time starts now.
        let _ = self.0.events.send(HostEvent::Attached);
    }
}

impl Drop for GuestCall {
    fn drop(&mut self) {
        *lock_unpoisoned(&self.0.calls) -= 1;
    }
}
