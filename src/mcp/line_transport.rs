//! The transport of a client that sends one message per line: every line that is not blank is served or answered with
//! an error. The last line counts also without its line break. After the end of input it waits for the answers that are still to be
//! sent. Not here: reading a message (`message`), how much may
//! be in flight (`backpressure`).

use std::collections::HashSet;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcError, JsonRpcMessage,
    JsonRpcResponse, RequestId,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::message;
use crate::message::UnreadableMessage;

/// Longest line of a client, in bytes. It is far longer than a call may be, so that a call that is too long is told
/// which field is.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What is kept of a longer line, in bytes: enough to find the id of the request.
const HEAD_BYTES: usize = 4096;

type PendingWrite = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Reads and writes messages as lines.
pub struct LineTransport<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    is_too_long: bool,
    writer: Arc<Mutex<Option<W>>>,
    /// The requests without an answer so far. rmcp answers one request of each id.
    unanswered: HashSet<RequestId>,
    /// The error being written. It stands here, because `receive` is dropped and called again at any time.
    answering: Option<PendingWrite>,
    /// The requests that last as long as their client listens.
    listening: HashSet<RequestId>,
    /// How long answers may take after the end of input.
    last_answers: Duration,
    /// Until when they are waited for, once the input has ended.
    ends_at: Option<Instant>,
}

/// A line, or the beginning of one over the limit.
enum Line {
    Whole(Vec<u8>),
    TooLong(Vec<u8>),
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub fn new(reader: R, writer: W, last_answers: Duration) -> Self {
        let writer = Arc::new(Mutex::new(Some(writer)));
        let reader = BufReader::new(reader);
        Self {
            reader,
            line: Vec::new(),
            is_too_long: false,
            writer,
            unanswered: HashSet::new(),
            answering: None,
            listening: HashSet::new(),
            last_answers,
            ends_at: None,
        }
    }

    /// Refuses a request whose id another one still has.
    fn admit(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> Result<ClientJsonRpcMessage, UnreadableMessage> {
        match &message {
            JsonRpcMessage::Request(request) if !self.unanswered.insert(request.id.clone()) => {
                Err(UnreadableMessage::id_in_use(request.id.clone()))
            }
            JsonRpcMessage::Request(request) => {
                if matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) {
                    self.listening.insert(request.id.clone());
                }
                Ok(message)
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                {
                    cancelled
                        .params
                        .request_id
                        .iter()
                        .for_each(|id| drop(self.unanswered.take(id)));
                }
                Ok(message)
            }
            _ => Ok(message),
        }
    }

    /// Waits until all requests are answered, or for a bounded time. It is dropped and called again whenever an answer is sent.
    async fn answers_sent(&mut self) {
        let end = *self.ends_at.get_or_insert_with(|| Instant::now() + self.last_answers);
        if self.unanswered.iter().any(|id| !self.listening.contains(id)) {
            tokio::time::sleep_until(end).await;
        }
    }

    /// Reads up to the next line break or the end of input. Dropped while it waits, it loses nothing.
    async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let bytes = self.reader.fill_buf().await?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(bytes.len(), |end| end + 1);
            let is_last = bytes.is_empty();
            if !self.is_too_long {
                self.line.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            }
            self.reader.consume(taken);
            if self.line.len() > LINE_BYTES_MAX {
                self.is_too_long = true;
                self.line.truncate(HEAD_BYTES);
                self.line.shrink_to_fit();
            }
            if end.is_none() && !is_last {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            return Ok(match (std::mem::take(&mut self.is_too_long), is_last && line.is_empty()) {
                (true, _) => Some(Line::TooLong(line)),
                (false, true) => None,
                (false, false) => Some(Line::Whole(line)),
            });
        }
    }
}

impl<R, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    fn write(
        &self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + use<R, W> {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Response(JsonRpcResponse { id, .. })
        | JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) = &item
        {
            self.unanswered.remove(id);
            self.listening.remove(id);
        }
        self.write(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answering) = &mut self.answering {
                let answered = answering.await;
                self.answering = None;
                answered.ok()?;
            }
            let read = match self.next().await {
                Ok(Some(Line::Whole(line))) if line.trim_ascii().is_empty() => continue,
                Ok(Some(Line::Whole(line))) => message::read_message(line.trim_ascii()),
                Ok(Some(Line::TooLong(head))) => {
                    Err(UnreadableMessage::too_long(&head, LINE_BYTES_MAX))
                }
                Ok(None) => {
                    self.answers_sent().await;
                    return None;
                }
                Err(error) => {
                    tracing::error!("failed to read from the client: {error}");
                    return None;
                }
            };
            let admitted =
                read.and_then(|message| message.map(|message| self.admit(message)).transpose());
            match admitted {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(unreadable) => {
                    self.answering = Some(Box::pin(self.write(unreadable.answer())));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.take();
        Ok(())
    }
}
