//! `GET /api/v1/events`: the journal as server-sent events, or over a WebSocket. A listener uses no slot for calls, and the end of the
//! server does not wait for it; it counts as attached while it listens. Not here: what is sent (`live_journal`), the messages of a WebSocket
//! (`event_socket`).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Interval;

use crate::private_memories::PrivateMemories;
use crate::rest::event_pieces::{EventPieces, MayListen, keep_alive};
use crate::rest::event_socket;
use crate::rest::event_socket::SocketUpgrade;
use crate::rest::live_journal::{LiveJournal, NewListener, QUEUE_MAX};
use crate::rest::problem::RestProblem;
use crate::rest::rest_content::{NO_SNIFF, content_answer};
use crate::rest::rest_paths::EVENTS_PATH;
use access::admitted_caller::AdmittedCaller;
use access::connection_limit::Connection;
use access::disconnect::Disconnect;
use api::journal::sequence::Sequence;
use daemon::guests::{GuestVisit, Guests};
use requests::rest_forms::PREFIX;
use requests::rights::Rights;

/// Most listeners at a time: a few pages in a few browsers.
const LISTENERS_MAX: usize = 16;

/// How long a listener that was dropped may still read what waits for it, in milliseconds.
const LAST_MS: u64 = 2_000;

/// Where a listener goes on after a broken connection.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Answers listeners.
pub struct EventService {
    live: Option<LiveJournal>,
    free: Arc<Semaphore>,
    ended: Disconnect,
}

impl EventService {
    /// Starts to announce what happens.
    pub fn start(guests: &Guests, private: Option<Arc<PrivateMemories>>) -> Self {
        let live = LiveJournal::start(guests.core(), guests.core().watching, private);
        let free = Arc::new(Semaphore::new(LISTENERS_MAX));
        Self { live, free, ended: Disconnect::new() }
    }

    /// Tells whether a request is for this service.
    pub fn is_asked(parts: &Parts) -> bool {
        parts.uri.path().strip_prefix(PREFIX) == Some(EVENTS_PATH)
    }

    /// Ends all streams, because the server ends.
    pub fn end(&self) {
        self.ended.signal();
    }

    /// Answers a request. `visit` counts the listener as attached, as long as it may listen.
    pub fn answer(
        &self,
        parts: &mut Parts,
        visit: GuestVisit,
        may_listen: MayListen,
        connection: &Arc<Connection>,
    ) -> Response<BoxBody<Bytes, Infallible>> {
        let answer = match SocketUpgrade::from_request(parts) {
            None => self.listen(parts, visit, may_listen, connection).map(stream),
            Some(opening) => opening.and_then(|opening| {
                let pieces = self.listen(parts, visit, may_listen, connection)?;
                let answer = opening.answer();
                tokio::spawn(event_socket::serve_socket(opening, pieces, Arc::clone(connection)));
                Ok(answer.map(BodyExt::boxed))
            }),
        };
        answer.unwrap_or_else(|problem| {
            let mut answer = content_answer(&problem.content());
            if parts.method != Method::GET {
                answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
            }
            answer.map(BodyExt::boxed)
        })
    }

    /// Begins to listen.
    fn listen(
        &self,
        parts: &Parts,
        visit: GuestVisit,
        may_listen: MayListen,
        connection: &Connection,
    ) -> Result<EventPieces, RestProblem> {
        if parts.method != Method::GET {
            return Err(RestProblem::new(StatusCode::METHOD_NOT_ALLOWED, "this path takes GET"));
        }
        let from = start_place(parts)?;
        let unavailable = |detail: &str| RestProblem::new(StatusCode::SERVICE_UNAVAILABLE, detail);
        let off = "there are no events: the journal is off; journal = true in the configuration turns it on";
        let live = self.live.as_ref().ok_or_else(|| unavailable(off))?;
        let slot = Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            unavailable(&format!(
                "{LISTENERS_MAX} listeners are connected, which is the most; close one"
            ))
        })?;
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let (slow, is_slow) = oneshot::channel();
        let dropped = Box::new(move || {
            // Its connection may be gone.
            let _ = slow.send(());
        });
        let rights = parts.extensions.get::<AdmittedCaller>().map(AdmittedCaller::rights);
        let is_owner = rights == Some(Rights::Admin);
        if !live.listen(NewListener { from, is_owner, queue, on_drop: dropped }) {
            return Err(unavailable("there are no events: the retriever is ending"));
        }
        close_if_slow(is_slow, connection);
        let ended = self.ended.clone();
        let ended = Box::pin(async move { ended.wait().await });
        Ok(EventPieces::new(waiting, ended, may_listen, (visit, slot, connection.hold())))
    }
}

/// Answers with a stream of server-sent events.
fn stream(pieces: EventPieces) -> Response<BoxBody<Bytes, Infallible>> {
    let mut answer = Response::new(EventBody { pieces, keep_alive: keep_alive() }.boxed());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_SNIFF, HeaderValue::from_static("nosniff"));
    answer
}

/// Closes the connection of a listener that was dropped, which may never read again.
fn close_if_slow(is_slow: oneshot::Receiver<()>, connection: &Connection) {
    let closer = connection.closer();
    tokio::spawn(async move {
        if is_slow.await.is_ok() {
            tokio::time::sleep(Duration::from_millis(LAST_MS)).await;
            closer.signal();
        }
    });
}

/// Returns where a listener goes on: `?after=`, else the header that a browser sends.
fn start_place(parts: &Parts) -> Result<Option<Sequence>, RestProblem> {
    let wrong = |detail: String| RestProblem::new(StatusCode::BAD_REQUEST, detail);
    let mut given = None;
    for pair in parts.uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("after", place)) => given = Some(("after", place)),
            _ => return Err(wrong("the only field of this path is after".to_owned())),
        }
    }
    let header = parts.headers.get(&LAST_EVENT_ID).map(|place| place.to_str().unwrap_or("?"));
    let header = header.filter(|place| !place.is_empty());
    let read = |(name, place)| {
        Sequence::parse(place)
            .ok_or_else(|| wrong(format!("{name}: must be the id of an earlier event")))
    };
    let header = header.map(|place| read(("Last-Event-ID", place))).transpose()?;
    Ok(given.map(read).transpose()?.or(header))
}

/// The stream of one listener.
struct EventBody {
    pieces: EventPieces,
    keep_alive: Interval,
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.pieces.server_end.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(piece) = this.pieces.waiting.poll_recv(context) {
            this.keep_alive.reset();
            let piece = piece.filter(|_| (this.pieces.may_listen)());
            return Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))));
        }
        if this.keep_alive.poll_tick(context).is_ready() {
            if !(this.pieces.may_listen)() {
                return Poll::Ready(None);
            }
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": still here\n\n")))));
        }
        Poll::Pending
    }
}
