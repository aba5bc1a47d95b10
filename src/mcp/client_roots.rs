//! Asks a client for its roots, the folders that it works in, where it offers them: once it is ready, and again when it says that
//! they changed. Only clients with `initialize` can be asked; rmcp refuses it with others. Not here: what roots mean for a session
//! (`session_place`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::service::{Peer, RoleServer};
use tokio::sync::watch;

use crate::session_place::SessionPlace;

/// How long a call waits for roots, in milliseconds, counted from the question. A client answers at once or never, and a call must
/// not hang for one that never does.
const CALL_WAIT_MS: u64 = 1_000;

/// How long the answer is waited for, in milliseconds: a client may first ask a person.
const ANSWER_WAIT_MS: u64 = 120_000;

/// Most roots that are looked at.
const ROOTS_MAX: usize = 64;

/// The roots of one client. Copies share them.
#[derive(Clone)]
pub struct ClientRoots {
    place: Arc<dyn SessionPlace>,
    state: Arc<watch::Sender<RootsState>>,
}

/// How far the question is.
#[derive(Debug, Clone, Copy)]
enum RootsState {
    Unasked,
    /// It was asked then, and is not answered.
    Asked(Instant),
    Settled,
}

impl ClientRoots {
    /// Makes it for a session that has not begun.
    pub fn new(place: Arc<dyn SessionPlace>) -> Self {
        Self { place, state: Arc::new(watch::Sender::new(RootsState::Unasked)) }
    }

    /// Returns the place that learns the roots.
    pub fn place(&self) -> &Arc<dyn SessionPlace> {
        &self.place
    }

    /// Asks for the roots, if the client offers them, and waits a bounded time for the answer.
    pub async fn settle(&self, peer: &Peer<RoleServer>) {
        if matches!(*self.state.borrow(), RootsState::Unasked) {
            self.ask(peer);
        }
        let asked = *self.state.borrow();
        let RootsState::Asked(since) = asked else { return };
        let left = Duration::from_millis(CALL_WAIT_MS).saturating_sub(since.elapsed());
        let mut state = self.state.subscribe();
        let is_settled = state.wait_for(|state| !matches!(state, RootsState::Asked(_)));
        // The call then goes on with what is known.
        let _ = tokio::time::timeout(left, is_settled).await;
    }

    /// Asks for the roots in the background, if the client offers them. A later question counts before an earlier one.
    pub fn ask(&self, peer: &Peer<RoleServer>) {
        let offers = |peer: &Peer<RoleServer>| Some(peer.peer_info()?.capabilities.roots.is_some());
        if offers(peer) != Some(true) {
            return;
        }
        let asked = Instant::now();
        self.state.send_replace(RootsState::Asked(asked));
        let (roots, peer) = (self.clone(), peer.clone());
        tokio::spawn(async move { roots.learn(&peer, asked).await });
    }

    async fn learn(&self, peer: &Peer<RoleServer>, asked: Instant) {
        let is_last =
            |state: &RootsState| matches!(state, RootsState::Asked(last) if *last == asked);
        let wait = Duration::from_millis(ANSWER_WAIT_MS);
        let answer = tokio::time::timeout(wait, listed_roots(peer)).await;
        let uris = answer.ok().flatten().filter(|_| is_last(&self.state.borrow()));
        if let Some(uris) = uris {
            let place = Arc::clone(&self.place);
            // A failure leaves the place as it is.
            let _ = tokio::task::spawn_blocking(move || place.learn_roots(&uris)).await;
        }
        self.state.send_if_modified(|state| {
            let settles = is_last(state);
            if settles {
                *state = RootsState::Settled;
            }
            settles
        });
    }
}

#[expect(deprecated, reason = "clients with `initialize` have no other way to say where they work")]
async fn listed_roots(peer: &Peer<RoleServer>) -> Option<Vec<String>> {
    let answer = peer.list_roots().await.ok()?;
    Some(answer.roots.into_iter().take(ROOTS_MAX).map(|root| root.uri).collect())
}
