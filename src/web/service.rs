//! One HTTP request, from its head to its answer. The head is checked, the body is read whole, and then the request waits for a free
//! call, so a slow sender takes none. MCP or REST answers it; a file of the page is answered at once. Not here: the checks
//! (`request_guard`), the protocol (rmcp).

mod embeddings_call;
mod page_answer;

use crate::response_body::Body;
use guard::secrets::RedactedText;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::accepted_types::accept_json;
use crate::apis::{Apis, Audience};
use crate::http_caller::http_caller;
use crate::mcp_services::{McpServices, delivery_recorder};
use crate::private_memories::PrivateMemories;
use crate::replica_health::{HEALTH_PATH, ReplicaHealth};
use crate::request_guard::{AccessKeys, Destination, Refusal, check_head};
use crate::rest::event_pieces::MayListen;
use crate::rest::events::EventService;
use access::admitted_caller::AdmittedCaller;
use access::client_name::ClientName;
use access::connection_limit::Connection;
use access::disconnect::Disconnect;
use access::http_bounds::BODY_BYTES_MAX;
use access::server_names::ServerNames;
use daemon::guests::{GuestCall, Guests};
use event::Timestamp;
use mcp::message;
use requests::rights::Rights;

/// Concurrent calls. They take milliseconds on two cores or eight; more at a time would not finish
/// sooner.
pub const CALLS_MAX: usize = 16;

/// The longest body of a request to sign in.
const SIGN_IN_BYTES_MAX: usize = 4 * 1024;

/// How long a body may take, in milliseconds: it comes from this machine, or over a network with 2 Mbit/s.
const BODY_WAIT_MS: u64 = 5_000;

/// How long a request waits for a free call, in milliseconds. Then the client is refused, and may
/// try again.
const ROOM_WAIT_MS: u64 = 2_000;

/// The idle time that clients are told: a little less than the real one, so that no client sends a
/// request while its connection is being closed.
const KEEP_ALIVE: HeaderValue = HeaderValue::from_static("timeout=8");

/// What is held until a call is done.
struct CallUnderWay {
    _call: GuestCall,
    _permit: OwnedSemaphorePermit,
}

/// The state that all requests share.
pub struct HttpService {
    mcp: McpServices,
    rest: crate::rest::RestService,
    events: EventService,
    guests: Guests,
    names: ServerNames,
    keys: Arc<AccessKeys>,
    free_calls: Arc<Semaphore>,
    requests: AtomicU64,
    /// Asked where other machines are answered.
    private: Option<Arc<PrivateMemories>>,
    /// The answers to balancers, if this is a replica.
    replica: Option<Arc<ReplicaHealth>>,
}

impl HttpService {
    pub fn new(
        guests: Guests,
        host: Option<RedactedText>,
        names: ServerNames,
        keys: AccessKeys,
        replica: Option<Arc<ReplicaHealth>>,
        stop_waiting: &Disconnect,
    ) -> Self {
        let audience = match (&replica, &names) {
            (Some(_), _) => Audience::Team,
            (None, ServerNames::Certificate(_)) => Audience::OtherMachines,
            (None, ServerNames::Loopback(_)) => Audience::Owner,
        };
        let caller = http_caller(host, audience);
        let apis = Apis::new(&guests, &caller, audience);
        let recorder = delivery_recorder(&guests, &caller);
        let mcp = McpServices::new(&apis, recorder.as_ref(), &names, stop_waiting);
        let rest = crate::rest::RestService::new(apis, Arc::clone(&keys.sign_in));
        let free_calls = Arc::new(Semaphore::new(CALLS_MAX));
        let private = (audience != Audience::Owner).then(Arc::default);
        Self {
            mcp,
            rest,
            events: EventService::start(&guests, private.clone()),
            guests,
            names,
            keys: Arc::new(keys),
            free_calls,
            requests: AtomicU64::new(0),
            private,
            replica,
        }
    }

    /// Returns the number of admitted requests.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns why the named tokens are not used, if so.
    pub fn problem(&self) -> Option<String> {
        self.keys.problem()
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        (self.guests.core().clock)().now
    }

    /// Ends the streams of listeners, which have no end of their own.
    pub fn end_streams(&self) {
        self.events.end();
    }

    /// Cancels the calls under way.
    pub fn cancel(&self) {
        self.mcp.cancel();
    }

    /// Answers one request.
    pub async fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Response<Body> {
        connection.record_activity();
        let mut answer = match self.admit(request, connection).await {
            Ok(answer) => answer,
            Err(refusal) => refusal_response(refusal),
        };
        let headers = answer.headers_mut();
        headers.insert(HeaderName::from_static("keep-alive"), KEEP_ALIVE);
        // No page of another site may show or load an answer.
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        let for_whom = HeaderName::from_static("cross-origin-resource-policy");
        headers.insert(for_whom, HeaderValue::from_static("same-origin"));
        answer
    }

    async fn admit(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Result<Response<Body>, Refusal> {
        let (mut parts, body) = request.into_parts();
        // A balancer has no token, and often names no host.
        if let Some(replica) = self.replica.as_ref().filter(|_| parts.uri.path() == HEALTH_PATH) {
            return Ok(replica.answer().map(BodyExt::boxed));
        }
        let now = self.now();
        let destination = check_head(&parts, &self.names, &self.keys, now)?;
        let is_rest = matches!(destination, Destination::Rest(_));
        let rights = match destination {
            Destination::Page => return page_answer::page(&parts, &body),
            // Whoever has no token yet takes no call and keeps no retriever running.
            Destination::SignIn => {
                let body = read_body(body, SIGN_IN_BYTES_MAX).await?;
                return self.answer_sign_in(&parts, &body, now);
            }
            Destination::Embeddings(admitted) => {
                return self.answer_embeddings(parts.method, body, admitted, connection).await;
            }
            Destination::Mcp(admitted) | Destination::Rest(admitted) => {
                let rights = admitted.rights();
                parts.extensions.insert(admitted);
                rights
            }
        };
        if !is_rest {
            accept_json(&parts.method, &mut parts.headers)?;
        }
        // The token is not needed after the check.
        parts.headers.remove(AUTHORIZATION);
        let visit = self.guests.visit();
        let body = read_body(body, BODY_BYTES_MAX).await?;
        self.refuse_while_private().await?;
        if EventService::is_asked(&parts) {
            self.requests.fetch_add(1, Ordering::Relaxed);
            let may_listen = self.may_listen(&parts);
            return Ok(self.events.answer(&mut parts, visit, may_listen, connection));
        }
        // From here on shutdown waits for this request, also while it waits for a free call.
        let call = self.guests.call();
        let permit = self.wait_for_free_call().await?;
        let under_way = CallUnderWay { _call: call, _permit: permit };
        self.requests.fetch_add(1, Ordering::Relaxed);
        if is_rest {
            let _in_call = connection.begin_call();
            let answer = self.answer_rest(parts, body, now, under_way).await?;
            return self.refuse_if_private_now().await.map(|()| answer);
        }
        let body = match Self::readable(&parts.method, body) {
            Ok(body) => body,
            Err(answer) => return Ok(*answer),
        };
        let new_client = ClientName::from_first_request(&parts.headers, &body);
        if let Some(introduced) = ClientName::from_session(&parts.headers) {
            parts.extensions.insert(introduced);
        }
        let _in_call = connection.begin_call();
        let request = Request::from_parts(parts, Full::new(body));
        let mut answer = self.ask(request, rights, under_way).await?;
        self.refuse_if_private_now().await?;
        if let Some(new_client) = new_client.filter(|_| answer.status().is_success()) {
            new_client.stamp(answer.headers_mut(), (self.guests.core().clock)().random);
        }
        if answer.body().size_hint().exact().is_some() {
            return Ok(answer);
        }
        // The answer is a stream: the client counts as attached while it listens.
        Ok(answer.map(|body| {
            let held = body.map_frame(move |frame| {
                let _ = &visit;
                frame
            });
            held.boxed()
        }))
    }

    /// Returns a check whether the token of a listener still holds, since it may listen for days.
    fn may_listen(&self, parts: &Parts) -> MayListen {
        let admitted = parts.extensions.get::<AdmittedCaller>().cloned();
        let (keys, guests) = (Arc::clone(&self.keys), self.guests.clone());
        Box::new(move || {
            let now = (guests.core().clock)().now;
            admitted.as_ref().is_some_and(|admitted| keys.is_current(admitted, now))
        })
    }

    /// Returns the body of a call as rmcp can read it, or the error that JSON-RPC has for it.
    fn readable(method: &Method, body: Bytes) -> Result<Bytes, Box<Response<Body>>> {
        if method != Method::POST {
            return Ok(body);
        }
        match message::readable_body(&body) {
            Ok(corrected) => Ok(corrected.map_or(body, Bytes::from)),
            Err(unreadable) => {
                let error = serde_json::to_vec(&unreadable.answer()).unwrap_or_default();
                let mut answer = Response::new(Full::new(Bytes::from(error)).boxed());
                *answer.status_mut() = StatusCode::BAD_REQUEST;
                let json = HeaderValue::from_static("application/json");
                answer.headers_mut().insert(CONTENT_TYPE, json);
                Err(Box::new(answer))
            }
        }
    }

    /// Answers the request. A client that disconnects does not end its call, which counts until it
    /// is done.
    async fn ask(
        &self,
        request: Request<Full<Bytes>>,
        rights: Rights,
        under_way: CallUnderWay,
    ) -> Result<Response<Body>, Refusal> {
        let service = self.mcp.for_rights(rights);
        let answer = tokio::spawn(async move {
            let _until_answered = under_way;
            service.handle(request).await
        });
        answer.await.map_err(|_| Refusal::Failed)
    }

    /// Answers a request to REST, on a thread that may block. A client that disconnects does not end its call.
    async fn answer_rest(
        &self,
        parts: Parts,
        body: Bytes,
        now: Timestamp,
        under_way: CallUnderWay,
    ) -> Result<Response<Body>, Refusal> {
        let rest = self.rest.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let _until_answered = under_way;
            rest.answer(&parts, &body, now)
        });
        answer.await.map(|answer| answer.map(BodyExt::boxed)).map_err(|_| Refusal::Failed)
    }

    /// Answers a request to sign in.
    fn answer_sign_in(
        &self,
        parts: &Parts,
        body: &Bytes,
        now: Timestamp,
    ) -> Result<Response<Body>, Refusal> {
        Ok(self.rest.answer(parts, body, now).map(BodyExt::boxed))
    }

    /// Refuses other machines while the store holds private memories.
    async fn refuse_while_private(&self) -> Result<(), Refusal> {
        let Some(private) = self.private.clone() else { return Ok(()) };
        let core = Arc::clone(self.guests.core());
        let checked = tokio::task::spawn_blocking(move || private.check(&core)).await;
        checked.unwrap_or(Err(Refusal::Failed))
    }

    /// Refuses an answer if the store holds private memories by now. The call is done, so the refusal does not ask to try again.
    async fn refuse_if_private_now(&self) -> Result<(), Refusal> {
        self.refuse_while_private().await.map_err(|refusal| match refusal {
            Refusal::Busy => Refusal::Failed,
            other => other,
        })
    }

    /// Waits for a free call.
    async fn wait_for_free_call(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let permit = Arc::clone(&self.free_calls).acquire_owned();
        let patience = Duration::from_millis(ROOM_WAIT_MS);
        match tokio::time::timeout(patience, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(Refusal::Busy),
        }
    }
}

/// Reads a body within its bounds.
async fn read_body(body: Incoming, bytes_max: usize) -> Result<Bytes, Refusal> {
    let body = Limited::new(body, bytes_max).collect();
    match tokio::time::timeout(Duration::from_millis(BODY_WAIT_MS), body).await {
        Err(_) => Err(Refusal::Slow),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::Long),
        Ok(Err(_)) => Err(Refusal::Broken),
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
}

fn refusal_response(refusal: Refusal) -> Response<Body> {
    let mut answer =
        Response::new(Full::new(Bytes::from_static(refusal.text().as_bytes())).boxed());
    *answer.status_mut() = refusal.status();
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    match refusal {
        Refusal::Token => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // The rest of the body is not read.
        Refusal::Slow | Refusal::Long | Refusal::Broken => {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
    if let Some(seconds) = refusal.retry_after_s() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}
