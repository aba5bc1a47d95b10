//! Streams: what happens to memories, and which of them become stale in a work tree. A client that reads slowly holds up only
//! its own stream. Not here: one call (`grpc_service`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prost::Message;
use prost_reflect::DynamicMessage;
use prost_types::Struct;
use serde_json::{Map, Value};
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;
use tonic::codegen::BoxFuture;
use tonic::codegen::tokio_stream::Stream;
use tonic::codegen::tokio_stream::wrappers::ReceiverStream;
use tonic::server::ServerStreamingService;

use super::grpc_status::status;
use super::watch_kind::WatchKind;
use super::wire::{arguments, object};
use crate::daemon::{Guests, Visit};
use crate::http::caller;
use crate::mcp::Disconnect;
use api::local::Local;
use api::{Api, StaleRequest};
use event::Problems;

/// Streams at once.
const STREAMS_MAX: usize = 64;

/// Events of one stream that its client has not read yet.
const UNREAD_MAX: usize = 64;

/// How often a work tree is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A look that takes longer is repeated later, so that looking takes at most a twentieth of a processor.
const REST_PER_LOOK: u32 = 19;

/// An event of any stream.
#[derive(Clone, PartialEq, Message)]
pub(super) struct RpcEvent {
    /// Its sequence, or the memory.
    #[prost(string, tag = "1")]
    name: String,
    /// What happened.
    #[prost(string, tag = "2")]
    event: String,
    /// All of it.
    #[prost(message, optional, tag = "3")]
    json: Option<Struct>,
}

/// The state that all streams share.
pub(super) struct Watching {
    guests: Guests,
    free_calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    closing: Disconnect,
}

impl Watching {
    pub(super) fn new(guests: Guests, free_calls: Arc<Semaphore>, closing: Disconnect) -> Self {
        Self { guests, free_calls, streams: Arc::new(Semaphore::new(STREAMS_MAX)), closing }
    }
}

/// One stream that begins. Its client counts as attached.
pub(super) struct Watcher {
    kind: WatchKind,
    watching: Arc<Watching>,
    visit: Option<Visit>,
}

impl Watcher {
    pub(super) fn new(kind: WatchKind, watching: Arc<Watching>, visit: Visit) -> Self {
        Self { kind, watching, visit: Some(visit) }
    }
}

type Events = Pin<Box<dyn Stream<Item = Result<RpcEvent, Status>> + Send>>;

impl ServerStreamingService<DynamicMessage> for Watcher {
    type Response = RpcEvent;
    type ResponseStream = Events;
    type Future = BoxFuture<tonic::Response<Events>, Status>;

    fn call(&mut self, request: tonic::Request<DynamicMessage>) -> Self::Future {
        let (kind, watching) = (self.kind, Arc::clone(&self.watching));
        let visit = self.visit.take();
        Box::pin(async move {
            let given = arguments(request.get_ref())?;
            let room = Arc::clone(&watching.streams).try_acquire_owned();
            let room = room.map_err(|_| Status::resource_exhausted("too many streams"))?;
            let (events, unread) = channel(UNREAD_MAX);
            match kind {
                WatchKind::Stale => {
                    let stale = StaleWatch::of(&given)?;
                    tokio::spawn(told(watching, events, (room, visit), stale));
                }
            }
            Ok(tonic::Response::new(Box::pin(ReceiverStream::new(unread)) as Events))
        })
    }
}

/// Tells a client until it leaves or the server ends.
async fn told(
    watching: Arc<Watching>,
    events: Sender<Result<RpcEvent, Status>>,
    _while_open: (OwnedSemaphorePermit, Option<Visit>),
    mut stale: StaleWatch,
) {
    loop {
        let began = Instant::now();
        let look = async {
            let permit = Arc::clone(&watching.free_calls).acquire_owned().await.ok();
            let (guests, call) = (watching.guests.clone(), watching.guests.call());
            let looked = tokio::task::spawn_blocking(move || {
                let _until_done = (permit, call);
                let found = stale.look(&guests);
                (stale, found)
            });
            looked.await
        };
        let Ok((watch, found)) = look.await else { return };
        stale = watch;
        let (found, is_over) = match found {
            Ok(found) => (found.into_iter().map(Ok).collect(), false),
            Err(status) => (vec![Err(status)], true),
        };
        for event in found {
            let sent = tokio::select! {
                sent = events.send(event) => sent.is_ok(),
                () = watching.closing.happened() => false,
            };
            if !sent {
                return;
            }
        }
        if is_over {
            return;
        }
        let rest = LOOK_EVERY.max(began.elapsed() * REST_PER_LOOK);
        tokio::select! {
            () = tokio::time::sleep(rest) => {}
            () = events.closed() => return,
            () = watching.closing.happened() => {
                // Nobody is told who does not read.
                let _ = events.try_send(Err(Status::unavailable("the retriever ends; call again")));
                return;
            }
        }
    }
}

/// What is known of the work tree that a client watches.
struct StaleWatch {
    directory: PathBuf,
    only_new: bool,
    /// The memories that are stale, as JSON.
    known: Option<BTreeMap<String, Value>>,
}

impl StaleWatch {
    fn of(given: &Map<String, Value>) -> Result<Self, Status> {
        let directory = given.get("directory").and_then(Value::as_str).unwrap_or_default();
        let directory = PathBuf::from(directory);
        if !directory.is_absolute() {
            let problem = Problems::one("directory", "must be an absolute path of a work tree");
            return Err(status(&problem.into()));
        }
        let only_new = given.get("only_new").and_then(Value::as_bool).unwrap_or_default();
        Ok(Self { directory, only_new, known: None })
    }

    /// Returns what changed since the last look. Blocks.
    fn look(&mut self, guests: &Guests) -> Result<Vec<RpcEvent>, Status> {
        let mut caller = caller(None);
        caller.directory = Some(self.directory.clone());
        let local = Local::new(Arc::clone(guests.core()), caller);
        let reply = local.stale(&StaleRequest { repo: None }).map_err(|error| status(&error))?;
        let memories = reply.json.get("stale").and_then(Value::as_array).cloned();
        let now: BTreeMap<String, Value> = memories
            .unwrap_or_default()
            .into_iter()
            .filter_map(|one| Some((one.pointer("/memory/id")?.as_str()?.to_owned(), one)))
            .collect();
        let is_first = self.known.is_none();
        let before = self.known.take().unwrap_or_default();
        let event = |event: &str, (id, memory): (&String, &Value)| RpcEvent {
            name: id.clone(),
            event: event.to_owned(),
            json: object(memory.clone()),
        };
        let is_told = !(is_first && self.only_new);
        let stale = now.iter().filter(|(id, _)| is_told && !before.contains_key(*id));
        let fresh = before.iter().filter(|(id, _)| !now.contains_key(*id));
        let stale = stale.map(|one| event("stale", one));
        let found = stale.chain(fresh.map(|one| event("fresh", one))).collect();
        self.known = Some(now);
        Ok(found)
    }
}
