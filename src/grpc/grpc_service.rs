//! One call, from its head to its answer: it is checked, read whole, admitted when a call is free, and answered by the call of
//! its verb. It is read before it is admitted, so a slow sender takes no call. Not here: streams (`watch_stream`), the
//! checks (`grpc_guard`), messages (`wire`).

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Request, Response};
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Status};

use crate::contract::{Contract, PACKAGE, RpcTarget, SERVICE};
use crate::grpc_guard::check;
use crate::grpc_status::status;
use crate::watch_stream::{HeldStream, WatchState, WatchStream};
use crate::wire::{RpcAnswer, WireCodec, arguments, object};
use access::admitted_caller::{AdmittedCaller, too_many};
use access::connection_limit::Connection;
use access::disconnect::Disconnect;
use daemon::guests::{GuestCall, Guests};
use event::Problems;
use requests::fields::is_absent;
use requests::rights::Rights;
use requests::verb::{Verb, VerbKind};
use requests::{Api, ApiError, Voice};
use web::apis::Apis;
use web::http_server::ServerKeys;
use web::rest::repeated_actions::{ActionStart, RepeatedActions};
use web::rest::{idempotency_key, reply_json, request_voice};

/// Concurrent calls, as over HTTP.
pub const CALLS_MAX: usize = 16;

/// The longest message, in bytes, as over HTTP.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// The five bytes before a message.
const FRAME_BYTES: usize = 5;

/// Messages that are being read at once, each with at most [`MESSAGE_BYTES_MAX`]: many calls share a connection.
const READ_AT_ONCE_MAX: usize = 64;

/// How long a message may take, in milliseconds: it comes from this machine.
const MESSAGE_WAIT_MS: u64 = 5_000;

/// How long a call waits for its turn, in milliseconds. Then the client is refused, and may try again.
const ROOM_WAIT_MS: u64 = 2_000;

/// The state that all calls share.
pub struct GrpcService {
    /// The calls, by path.
    routes: HashMap<String, Route>,
    /// Services that are not ours, by the path of the service.
    others: Vec<(&'static str, ForeignService)>,
    apis: Apis,
    guests: Guests,
    keys: Arc<ServerKeys>,
    free_calls: Arc<Semaphore>,
    reading: Arc<Semaphore>,
    repeated: Arc<RepeatedActions<Result<RpcAnswer, Status>>>,
    requests: AtomicU64,
    watching: Arc<WatchState>,
}

/// Where a path leads.
struct Route {
    leads_to: RpcTarget,
    request: MessageDescriptor,
}

/// Answers for a service that is not ours: health, reflection.
pub type ForeignService =
    Box<dyn Fn(Request<Body>) -> BoxFuture<Response<Body>, Infallible> + Send + Sync>;

/// Wraps a service that is not ours.
pub fn foreign_service<S>(service: S) -> ForeignService
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    Box::new(move |request| Box::pin(service.clone().call(request)))
}

/// What the calls are answered from.
pub struct AnswerSources {
    pub apis: Apis,
    pub guests: Guests,
    pub keys: ServerKeys,
    pub foreign_services: Vec<(&'static str, ForeignService)>,
    pub closing: Disconnect,
}

/// What is held until a call is done.
type UnderWay = (GuestCall, OwnedSemaphorePermit);

impl GrpcService {
    /// Makes the service. `find` describes a message by its name.
    pub fn new(
        contract: &Contract,
        find: impl Fn(&str) -> Option<MessageDescriptor>,
        from: AnswerSources,
    ) -> Self {
        let routes = contract.rpcs.iter().filter_map(|rpc| {
            let request = find(&format!("{PACKAGE}.{}", rpc.request()))?;
            let path = format!("/{PACKAGE}.{SERVICE}/{}", rpc.name);
            Some((path, Route { leads_to: rpc.target, request }))
        });
        let free_calls = Arc::new(Semaphore::new(CALLS_MAX));
        let watching = WatchState::new(from.guests.clone(), Arc::clone(&free_calls), from.closing);
        Self {
            routes: routes.collect(),
            others: from.foreign_services,
            apis: from.apis,
            guests: from.guests,
            keys: Arc::new(from.keys),
            free_calls,
            reading: Arc::new(Semaphore::new(READ_AT_ONCE_MAX)),
            repeated: Arc::default(),
            requests: AtomicU64::new(0),
            watching: Arc::new(watching),
        }
    }

    /// Returns the number of admitted calls.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Answers one call.
    pub async fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Connection,
    ) -> Response<Body> {
        connection.record_activity();
        self.admit(request, connection).await.unwrap_or_else(Status::into_http)
    }

    async fn admit(
        &self,
        request: Request<Incoming>,
        connection: &Connection,
    ) -> Result<Response<Body>, Status> {
        let (parts, body) = request.into_parts();
        let now = (self.guests.core().clock)().now;
        let admitted = check(&parts, &self.keys, now)?;
        let path = parts.uri.path();
        if let Some((_, other)) = self.others.iter().find(|(of, _)| path.starts_with(of)) {
            let request = Request::from_parts(parts, Body::new(body));
            return Ok(other(request).await.unwrap_or_else(|never| match never {}));
        }
        let Some(route) = self.routes.get(path) else {
            let detail = format!("there is no call {path}; reflection lists the calls");
            return Err(Status::unimplemented(detail));
        };
        let visit = self.guests.visit();
        let body = self.read(body).await?;
        match route.leads_to {
            RpcTarget::Call(verb) => {
                admitted.check_right(verb.rights()).map_err(Status::permission_denied)?;
                let call = self.guests.call();
                let permit = turn(&self.free_calls).await?;
                self.requests.fetch_add(1, Ordering::Relaxed);
                let _in_call = connection.begin_call();
                let request = Request::from_parts(parts, Full::new(body));
                Ok(self.call((verb, route), request, admitted, (call, permit)).await)
            }
            RpcTarget::Watch(kind) => {
                admitted.check_right(kind.rights()).map_err(Status::permission_denied)?;
                self.requests.fetch_add(1, Ordering::Relaxed);
                let (keys, guests) = (Arc::clone(&self.keys), self.guests.clone());
                let is_owner = admitted.rights() == Rights::Admin;
                let may_watch = move || keys.is_current(&admitted, (guests.core().clock)().now);
                let held: HeldStream = (visit, connection.hold(), Box::new(may_watch));
                let watcher = WatchStream::new((kind, is_owner), Arc::clone(&self.watching), held);
                let request = Request::from_parts(parts, Full::new(body));
                let mut grpc = Grpc::new(WireCodec::new(route.request.clone()));
                Ok(grpc.server_streaming(watcher, request).await)
            }
        }
    }

    async fn call(
        &self,
        (verb, route): (&'static Verb, &Route),
        request: Request<Full<Bytes>>,
        admitted: AdmittedCaller,
        under_way: UnderWay,
    ) -> Response<Body> {
        let api = Arc::clone(self.apis.for_rights(admitted.rights()));
        let repeated = Arc::clone(&self.repeated);
        let (parts, body) = request.into_parts();
        let call = OneCall {
            verb,
            api,
            repeated,
            headers: parts.headers.clone(),
            under_way: Some((admitted, under_way)),
        };
        let request = Request::from_parts(parts, body);
        Grpc::new(WireCodec::new(route.request.clone())).unary(call, request).await
    }

    /// Reads a message within its bounds.
    async fn read(&self, body: Incoming) -> Result<Bytes, Status> {
        let _room = turn(&self.reading).await?;
        let body = Limited::new(body, MESSAGE_BYTES_MAX + FRAME_BYTES).collect();
        match tokio::time::timeout(Duration::from_millis(MESSAGE_WAIT_MS), body).await {
            Err(_) => Err(Status::deadline_exceeded("the message did not come")),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(Status::resource_exhausted("a message has at most 1 MiB"))
            }
            Ok(Err(_)) => Err(Status::cancelled("the message broke off")),
            Ok(Ok(body)) => Ok(body.to_bytes()),
        }
    }
}

/// Waits for a turn.
async fn turn(room: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Status> {
    let patience = Duration::from_millis(ROOM_WAIT_MS);
    match tokio::time::timeout(patience, Arc::clone(room).acquire_owned()).await {
        Ok(Ok(permit)) => Ok(permit),
        Ok(Err(_)) | Err(_) => {
            Err(Status::resource_exhausted("too many calls are under way; try again in a second"))
        }
    }
}

/// One call of an verb.
struct OneCall {
    verb: &'static Verb,
    api: Arc<dyn Api>,
    repeated: Arc<RepeatedActions<Result<RpcAnswer, Status>>>,
    headers: HeaderMap,
    under_way: Option<(AdmittedCaller, UnderWay)>,
}

impl UnaryService<DynamicMessage> for OneCall {
    type Response = RpcAnswer;
    type Future = BoxFuture<tonic::Response<RpcAnswer>, Status>;

    /// Makes the call on a thread that may block. A client that disconnects does not end it.
    fn call(&mut self, request: tonic::Request<DynamicMessage>) -> Self::Future {
        let (verb, api) = (self.verb, Arc::clone(&self.api));
        let (repeated, headers) = (Arc::clone(&self.repeated), std::mem::take(&mut self.headers));
        let under_way = self.under_way.take();
        Box::pin(async move {
            let answer = tokio::task::spawn_blocking(move || {
                let Some((admitted, _until_answered)) = under_way else {
                    return Err(Status::internal("a call is made once"));
                };
                answer((verb, &*api), &repeated, (&headers, request.get_ref()), &admitted)
            });
            let answer = answer.await.map_err(|_| Status::internal("the answer failed"))?;
            answer.map(tonic::Response::new)
        })
    }
}

fn answer(
    (verb, api): (&Verb, &dyn Api),
    repeated: &RepeatedActions<Result<RpcAnswer, Status>>,
    (headers, request): (&HeaderMap, &DynamicMessage),
    admitted: &AdmittedCaller,
) -> Result<RpcAnswer, Status> {
    let wrong = |detail: &str| Status::invalid_argument(detail);
    let given = arguments(request)?;
    if let Some((_, field)) = verb.in_path
        && given.get(field).is_none_or(is_absent)
    {
        return Err(status(&Problems::one(field, "must be given").into()));
    }
    let voice = request_voice(headers, admitted).map_err(|problem| wrong(problem.detail()))?;
    admitted
        .charge(verb, &given)
        .map_err(|seconds| Status::resource_exhausted(too_many(seconds)))?;
    let call = || answer_of(verb, api, given, &voice);
    if verb.kind == VerbKind::Read {
        return call();
    }
    let key = idempotency_key(headers).map_err(|problem| wrong(problem.detail()))?;
    let Some(key) = key else { return call() };
    match repeated.begin(&admitted.own_key(key), (verb.name, &request.encode_to_vec())) {
        ActionStart::New(turn) => {
            let answer = call();
            // A replica that lags behind knows the memory a moment later.
            let may_succeed = [Code::Internal, Code::Unavailable, Code::NotFound];
            let has_failed =
                answer.as_ref().is_err_and(|status| may_succeed.contains(&status.code()));
            turn.finish(answer, has_failed)
        }
        ActionStart::Done(answer) => answer,
        ActionStart::OtherRequest => Err(Status::already_exists(
            "idempotency-key: was used for another call; make a new one",
        )),
        ActionStart::InProgress => Err(Status::aborted(
            "idempotency-key: a call with it is under way; send it again later",
        )),
    }
}

fn answer_of(
    verb: &Verb,
    api: &dyn Api,
    given: serde_json::Map<String, serde_json::Value>,
    voice: &Voice,
) -> Result<RpcAnswer, Status> {
    let reply: Result<_, ApiError> = verb.call(api, given, voice);
    let reply = reply.map_err(|error| status(&error))?;
    let text = reply.text.clone();
    Ok(RpcAnswer { text, json: object(reply_json(reply)) })
}
