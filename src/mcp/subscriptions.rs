//! Tells a client that a resource which it subscribed to has changed. Every two seconds each of these resources is read
//! and compared with what it was, so whatever makes a resource differ counts: a save of another process, a file of the
//! work tree, a checkout. Not here: reading a resource (`resources`).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionSink};

use crate::mcp_server::McpServer;
use crate::resources;
use event::Problems;
use requests::ApiError;

/// The shortest time between two looks, in milliseconds.
const LOOK_MS: u64 = 2_000;

/// A look that takes long, such as one at a big work tree, is followed by a pause of so many times its length.
const PAUSE_PER_LOOK: u32 = 20;

/// Most resources that one client may subscribe to: each look reads all of them.
const RESOURCES_MAX: usize = 32;

/// The content of a resource, as a number; `None` while it cannot be read.
type Mark = Option<u64>;

/// The resources that a client subscribed to by `resources/subscribe`.
#[derive(Debug, Clone, Default)]
pub struct Subscriptions(Arc<Mutex<Watched>>);

#[derive(Debug, Default)]
struct Watched {
    marks: BTreeMap<String, Mark>,
    is_running: bool,
}

impl Subscriptions {
    fn watched<T>(&self, with: impl FnOnce(&mut Watched) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl McpServer {
    /// Adds a resource, and starts to look if it is the first one.
    ///
    /// # Errors
    /// [`ApiError`] if it does not exist, or there are too many.
    pub async fn subscribe_to(&self, uri: String, peer: Peer<RoleServer>) -> Result<(), ApiError> {
        let named = uri.clone();
        let read = self.ask(move |api| resources::read_resource(api, &named)).await?;
        let mark = Some(mark_of(&read.text));
        let begins = self.subscriptions.watched(|watched| {
            if watched.marks.len() >= RESOURCES_MAX && !watched.marks.contains_key(&uri) {
                let message =
                    format!("too many subscriptions; at most {RESOURCES_MAX} are allowed");
                return Err(Problems::one("uri", message));
            }
            watched.marks.insert(uri, mark);
            Ok(!std::mem::replace(&mut watched.is_running, true))
        })?;
        if begins {
            let server = self.clone();
            tokio::spawn(async move { server.look_for(peer).await });
        }
        Ok(())
    }

    /// Removes a resource.
    pub fn unsubscribe_from(&self, uri: &str) {
        self.subscriptions.watched(|watched| watched.marks.remove(uri));
    }

    /// Looks until nothing is left to look for, or the client is gone.
    async fn look_for(self, peer: Peer<RoleServer>) {
        let mut took = Duration::ZERO;
        while self.is_time_to_look(took).await {
            let began = Instant::now();
            let before = self.subscriptions.watched(|watched| {
                watched.is_running = !watched.marks.is_empty();
                watched.marks.clone()
            });
            if before.is_empty() {
                return;
            }
            for (uri, mark) in before {
                let now = self.mark(&uri).await;
                let is_news = self.subscriptions.watched(|watched| {
                    let held = watched.marks.get_mut(&uri);
                    held.is_some_and(|held| std::mem::replace(held, now) == mark && now != mark)
                });
                let about = ResourceUpdatedNotificationParam::new(uri);
                if is_news && peer.notify_resource_updated(about).await.is_err() {
                    return;
                }
            }
            took = began.elapsed();
        }
    }

    /// Looks at the resources of one `subscriptions/listen`, as long as its client listens.
    pub async fn look_for_listener(&self, uris: &[String], sink: &SubscriptionSink) {
        let mut marks: Vec<(&String, Mark)> = Vec::new();
        for uri in uris.iter().take(RESOURCES_MAX) {
            marks.push((uri, self.mark(uri).await));
        }
        let mut took = Duration::ZERO;
        while self.is_time_to_look(took).await {
            let began = Instant::now();
            for (uri, mark) in &mut marks {
                let now = self.mark(uri).await;
                let is_news = std::mem::replace(mark, now) != now;
                if is_news && sink.notify_resource_updated(uri.as_str()).await.is_err() {
                    return;
                }
            }
            took = began.elapsed();
        }
    }

    /// Waits until the next look, after one that took so long; returns false once the client is gone.
    async fn is_time_to_look(&self, took: Duration) -> bool {
        let pause = Duration::from_millis(LOOK_MS).max(took.saturating_mul(PAUSE_PER_LOOK));
        tokio::select! {
            () = self.gone.wait() => false,
            () = tokio::time::sleep(pause) => true,
        }
    }

    async fn mark(&self, uri: &str) -> Mark {
        let uri = uri.to_owned();
        let read = self.ask(move |api| resources::read_resource(api, &uri)).await;
        read.ok().map(|read| mark_of(&read.text))
    }
}

fn mark_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}
