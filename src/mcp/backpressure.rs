//! Backpressure for one client: while many calls are in flight nothing more is read from it. What it sends without
//! reading the answers then waits in its own pipe, not in our memory. This also drops messages that may not come
//! before the session is open. Not here: the streams (`stdio`), the answers (`mcp`).

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

use access::disconnect::Disconnect;

/// Most calls and unread answers in flight. An answer has at most 32 kB, and clients send a few calls at a time. The
/// longest line has 16 MB, but a call that long is refused before it waits.
const UNDER_WAY_MAX: usize = 64;

/// How long a client may leave that many answers unread, in milliseconds. A client that does not read for so long
/// will not come back, and its end of input is hidden behind what it sent.
const UNREAD_MS_MAX: u64 = 60_000;

/// Counts calls and answers in flight. Copies share one count.
#[derive(Debug, Clone)]
pub struct CallsInFlight(Arc<watch::Sender<usize>>);

/// One call or answer in flight, until dropped.
#[derive(Debug)]
pub struct CallInFlight(CallsInFlight);

impl CallsInFlight {
    /// Returns a count of zero.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Counts one more until the returned value is dropped.
    #[must_use]
    pub fn add(&self) -> CallInFlight {
        self.0.send_modify(|count| *count += 1);
        CallInFlight(self.clone())
    }

    /// Waits until there is room for one more.
    async fn has_room(&self) {
        // The sender lives as long as this borrow of it, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count < UNDER_WAY_MAX).await;
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// A transport that is read only while there is room.
pub struct Backpressure<T> {
    inner: T,
    load: CallsInFlight,
    gone: Disconnect,
    is_open: bool,
}

impl<T> Backpressure<T> {
    /// Wraps a transport. `load` is what it counts; `gone` is signalled when nothing more comes from the client, or it has stopped
    /// reading.
    pub fn new(inner: T, load: CallsInFlight, gone: Disconnect) -> Self {
        Self { inner, load, gone, is_open: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Backpressure<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let unread = self.load.add();
        let sent = self.inner.send(item);
        async move {
            let _until_sent = unread;
            sent.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let patience = Duration::from_millis(UNREAD_MS_MAX);
            if tokio::time::timeout(patience, self.load.has_room()).await.is_err() {
                tracing::error!("the client does not read answers; closing the session");
                self.gone.signal();
                return None;
            }
            let Some(message) = self.inner.receive().await else {
                // rmcp itself would wait seconds for calls in flight, and a subscription stays in flight as long as its client lives.
                self.gone.signal();
                return None;
            };
            self.is_open |= opens_session(&message);
            if self.is_open || matches!(message, JsonRpcMessage::Request(_)) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Before a session is open, rmcp accepts requests only and ends at anything else.
fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(message) = message else { return false };
    match &message.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().protocol_version().is_some(),
    }
}
