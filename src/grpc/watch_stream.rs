//! Streams: what happens to memories, and which of them become stale in a work tree. A client that reads slowly holds up only
//! its own stream. Not here: one call (`grpc_service`).

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use prost_reflect::DynamicMessage;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;
use tonic::codegen::BoxFuture;
use tonic::codegen::tokio_stream::Stream;
use tonic::codegen::tokio_stream::wrappers::ReceiverStream;
use tonic::server::ServerStreamingService;

use crate::memory_watch::MemoryWatch;
use crate::rpc_event::{EventSource, RpcEvent};
use crate::stale_watch::StaleWatch;
use crate::watch_kind::WatchKind;
use crate::wire::arguments;
use access::connection_limit::HeldConnection;
use access::disconnect::Disconnect;
use daemon::guests::{GuestVisit, Guests};
use web::rest::live_journal::LiveJournal;

/// Streams at once.
const STREAMS_MAX: usize = 64;

/// Events of one stream that its client has not read yet.
const UNREAD_MAX: usize = 64;

/// The state that all streams share.
pub struct WatchState {
    guests: Guests,
    free_calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    closing: Disconnect,
    /// Announces what happens in the journal, unless the journal is off or the system refused a thread.
    _live: Option<LiveJournal>,
}

impl WatchState {
    pub fn new(guests: Guests, free_calls: Arc<Semaphore>, closing: Disconnect) -> Self {
        let live = LiveJournal::start(guests.core(), guests.core().watching, None);
        let streams = Arc::new(Semaphore::new(STREAMS_MAX));
        Self { guests, free_calls, streams, closing, _live: live }
    }
}

/// One stream that begins.
pub struct WatchStream {
    kind: WatchKind,
    is_owner: bool,
    watching: Arc<WatchState>,
    held: Option<HeldStream>,
}

/// What a stream holds: its client counts as attached, its connection stays, and whether its token still holds.
pub type HeldStream = (GuestVisit, HeldConnection, MayWatch);

/// Tells whether the token of a client still holds.
pub type MayWatch = Box<dyn Fn() -> bool + Send + Sync>;

impl WatchStream {
    /// Begins a stream, for the owner of the server or somebody else.
    pub fn new(
        (kind, is_owner): (WatchKind, bool),
        watching: Arc<WatchState>,
        held: HeldStream,
    ) -> Self {
        Self { kind, is_owner, watching, held: Some(held) }
    }
}

type Events = Pin<Box<dyn Stream<Item = Result<RpcEvent, Status>> + Send>>;

impl ServerStreamingService<DynamicMessage> for WatchStream {
    type Response = RpcEvent;
    type ResponseStream = Events;
    type Future = BoxFuture<tonic::Response<Events>, Status>;

    fn call(&mut self, request: tonic::Request<DynamicMessage>) -> Self::Future {
        let (kind, is_owner) = (self.kind, self.is_owner);
        let watching = Arc::clone(&self.watching);
        let held = self.held.take();
        Box::pin(async move {
            let given = arguments(request.get_ref())?;
            let room = Arc::clone(&watching.streams).try_acquire_owned();
            let room = room.map_err(|_| Status::resource_exhausted("too many streams"))?;
            let (events, unread) = channel(UNREAD_MAX);
            let while_open = (room, held);
            match kind {
                WatchKind::Memories => {
                    let memories = MemoryWatch::from_request(&given, is_owner, &watching.guests)?;
                    tokio::spawn(stream_events(watching, events, while_open, memories));
                }
                WatchKind::Stale => {
                    let stale = StaleWatch::from_request(&given)?;
                    tokio::spawn(stream_events(watching, events, while_open, stale));
                }
            }
            Ok(tonic::Response::new(Box::pin(ReceiverStream::new(unread)) as Events))
        })
    }
}

/// Tells a client until it leaves or the server ends.
async fn stream_events(
    watching: Arc<WatchState>,
    events: Sender<Result<RpcEvent, Status>>,
    while_open: (OwnedSemaphorePermit, Option<HeldStream>),
    mut looker: impl EventSource,
) {
    loop {
        let began = Instant::now();
        let look = async {
            let permit = Arc::clone(&watching.free_calls).acquire_owned().await.ok();
            let guests = watching.guests.clone();
            let looked = tokio::task::spawn_blocking(move || {
                // It takes a turn, and is no call of a client: the end does not wait for it.
                let _until_done = permit;
                let found = looker.poll(&guests);
                (looker, found)
            });
            looked.await
        };
        let Ok((watch, found)) = look.await else { return };
        looker = watch;
        if while_open.1.as_ref().is_some_and(|(.., may_watch)| !may_watch()) {
            let refused = Status::unauthenticated("the token was revoked or has expired");
            let _ = events.try_send(Err(refused));
            return;
        }
        let (found, is_over) = match found {
            Ok(found) => (found.into_iter().map(Ok).collect(), false),
            Err(status) => (vec![Err(status)], true),
        };
        for event in found {
            let sent = tokio::select! {
                sent = events.send(event) => sent.is_ok(),
                () = watching.closing.wait() => false,
            };
            if !sent {
                return;
            }
        }
        if is_over {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(looker.pause(began.elapsed())) => {}
            () = events.closed() => return,
            () = watching.closing.wait() => {
                // Nobody is told who does not read.
                let _ = events.try_send(Err(Status::unavailable("the retriever ends; call again")));
                return;
            }
        }
    }
}
