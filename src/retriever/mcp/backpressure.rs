//! The pace of one client: no more is read from it while much is under way, so that what it sends
//! without reading our answers waits in its own pipe and not in our memory. Also keeps away from the
//! session what is nobody's business before there is one. Not here: the streams (`stdio`), what is
//! answered (`mcp`).

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::watch;

use crate::mcp::Disconnect;

/// Most calls and unread answers under way at once. An answer has at most 32 kB and clients ask a few
/// things at a time; the largest line has 16 MB, but a call that long is refused before it waits.
const UNDER_WAY_MAX: usize = 64;

/// How long a client may leave that many answers unread, in milliseconds. One that is busy for so long
/// will not come back, and its end of input could not be seen behind what it sent.
const UNREAD_MS_MAX: u64 = 60_000;

/// Counts what is under way. Copies count together.
#[derive(Debug, Clone)]
pub struct Load(Arc<watch::Sender<usize>>);

/// One thing under way, until dropped.
#[derive(Debug)]
pub struct UnderWay(Load);

impl Load {
    /// Returns a count of nothing.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Counts one more, until what is returned is dropped.
    #[must_use]
    pub fn one_more(&self) -> UnderWay {
        self.0.send_modify(|count| *count += 1);
        UnderWay(self.clone())
    }

    /// Waits until there is room for one more.
    async fn has_room(&self) {
        // The sender lives as long as this borrow of it, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count < UNDER_WAY_MAX).await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

/// A transport that is read only while there is room.
pub struct Backpressure<T> {
    inner: T,
    load: Load,
    gone: Disconnect,
    is_open: bool,
}

impl<T> Backpressure<T> {
    /// Paces a transport by what `load` counts; `gone` is told of a client that has stopped reading.
    pub fn new(inner: T, load: Load, gone: Disconnect) -> Self {
        Self { inner, load, gone, is_open: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Backpressure<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let unread = self.load.one_more();
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
                tracing::error!("the client reads no answers; leaving it");
                self.gone.happen();
                return None;
            }
            let message = self.inner.receive().await?;
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

/// Before a session rmcp takes requests only, and ends at anything else.
fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(message) = message else { return false };
    match &message.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().protocol_version().is_some(),
    }
}
