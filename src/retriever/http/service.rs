//! One request over HTTP, from its head to its answer: turned away, or read whole, then let in where there is room, then
//! answered by the MCP server. Reading comes before the room, so that who sends slowly takes none. Not here: what turns
//! it away (`request_guard`), the protocol (rmcp).

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Request, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client_name::ClientName;
use super::connection_limit::Connection;
use super::request_guard::{Refusal, judge};
use super::token::Token;
use crate::daemon::{GuestCall, Guests};
use crate::mcp::backpressure::Load;
use crate::mcp::{Disconnect, McpServer};
use api::Api;
use api::caller::Caller;
use api::local::Local;

/// Calls at once. They take milliseconds on two cores or eight; more at a time would not be done sooner.
pub(super) const CALLS_MAX: usize = 16;

/// Longest body, in bytes. An event has at most 64 kB, a query 8 kB; escaped, several times as much.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// How long a body may take, in milliseconds: it comes from this machine.
const BODY_WAIT_MS: u64 = 5_000;

/// How long a request waits for room, in milliseconds. Then its client is told, and may ask again.
const ROOM_WAIT_MS: u64 = 2_000;

/// What clients are told of how long an idle connection is kept: a little less than it is, so that none sends its
/// next request just when it is closed.
const KEEP_ALIVE: HeaderValue = HeaderValue::from_static("timeout=8");

type Body = BoxBody<Bytes, Infallible>;

/// What all requests share.
pub(super) struct HttpService {
    service: StreamableHttpService<McpServer, NeverSessionManager>,
    guests: Guests,
    address: SocketAddr,
    token: Option<Token>,
    room: Arc<Semaphore>,
    requests: AtomicU64,
    gone: Disconnect,
}

impl HttpService {
    pub(super) fn new(
        guests: Guests,
        caller: Caller,
        address: SocketAddr,
        token: Option<Token>,
        gone: Disconnect,
    ) -> Self {
        let api: Arc<dyn Api> = Arc::new(Local::new(Arc::clone(guests.core()), caller));
        let server = McpServer::new(api, gone.clone(), Load::none());
        // Nothing is pushed to a client that it does not listen for, so no session is kept for any. Its checks of Host
        // and Origin come after ours, and would hold without them.
        let own = ["127.0.0.1", "localhost", "[::1]"];
        let origins = own.map(|host| format!("http://{host}:{}", address.port()));
        let settings = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .enforce_origin_validation()
            .with_allowed_origins(origins)
            .with_max_request_body_bytes(BODY_BYTES_MAX);
        let sessions = Arc::new(NeverSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, settings);
        let room = Arc::new(Semaphore::new(CALLS_MAX));
        Self { service, guests, address, token, room, requests: AtomicU64::new(0), gone }
    }

    /// Counts the requests that were let in.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Returns what tells that nobody is waited for any more.
    pub(super) fn gone(&self) -> &Disconnect {
        &self.gone
    }

    /// Ends what is under way.
    pub(super) fn cancel(&self) {
        self.service.config.cancellation_token.cancel();
    }

    /// Answers one request.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        seat: &Connection,
    ) -> Response<Body> {
        seat.stir();
        let mut answer = match self.admit(request, seat).await {
            Ok(answer) => answer,
            Err(refusal) => refused(refusal),
        };
        answer.headers_mut().insert(HeaderName::from_static("keep-alive"), KEEP_ALIVE);
        answer
    }

    async fn admit(
        &self,
        request: Request<Incoming>,
        seat: &Connection,
    ) -> Result<Response<Body>, Refusal> {
        let (mut parts, body) = request.into_parts();
        judge(&parts, self.address, self.token.as_ref())?;
        // It has done its work; nobody behind the request_guard needs to know it.
        parts.headers.remove(AUTHORIZATION);
        let visit = self.guests.visit();
        let body = whole(body).await?;
        // From here on it is waited for at the end, also while it waits.
        let call = self.guests.call();
        let room = self.room().await?;
        self.requests.fetch_add(1, Ordering::Relaxed);
        let newcomer = ClientName::told(&parts.headers, &body);
        if let Some(introduced) = ClientName::shown(&parts.headers) {
            parts.extensions.insert(introduced);
        }
        let _kept = seat.keep();
        let request = Request::from_parts(parts, Full::new(body));
        let mut answer = self.ask(request, (call, room)).await?;
        if let Some(newcomer) = newcomer.filter(|_| answer.status().is_success()) {
            newcomer.stamp(answer.headers_mut(), (self.guests.core().clock)().random);
        }
        if answer.body().size_hint().exact().is_some() {
            return Ok(answer);
        }
        // A stream: who listens is there until it no longer does.
        Ok(answer.map(|body| {
            let held = body.map_frame(move |frame| {
                let _ = &visit;
                frame
            });
            held.boxed()
        }))
    }

    /// Has the request answered. A client that leaves does not end its call, which counts until it is done.
    async fn ask(
        &self,
        request: Request<Full<Bytes>>,
        under_way: (GuestCall, OwnedSemaphorePermit),
    ) -> Result<Response<Body>, Refusal> {
        let service = self.service.clone();
        let answer = tokio::spawn(async move {
            let _until_answered = under_way;
            service.handle(request).await
        });
        answer.await.map_err(|_| Refusal::Failed)
    }

    /// Waits for room for one more call.
    async fn room(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let room = Arc::clone(&self.room).acquire_owned();
        let patience = Duration::from_millis(ROOM_WAIT_MS);
        match tokio::time::timeout(patience, room).await {
            Ok(Ok(room)) => Ok(room),
            Ok(Err(_)) | Err(_) => Err(Refusal::Busy),
        }
    }
}

/// Reads a body, within its bounds.
async fn whole(body: Incoming) -> Result<Bytes, Refusal> {
    let body = Limited::new(body, BODY_BYTES_MAX).collect();
    match tokio::time::timeout(Duration::from_millis(BODY_WAIT_MS), body).await {
        Err(_) => Err(Refusal::Slow),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::Long),
        Ok(Err(_)) => Err(Refusal::Broken),
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
}

fn refused(refusal: Refusal) -> Response<Body> {
    let mut answer =
        Response::new(Full::new(Bytes::from_static(refusal.text().as_bytes())).boxed());
    *answer.status_mut() = refusal.status();
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    match refusal {
        Refusal::Token => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Refusal::Busy => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        // What is left of the body is not worth reading.
        Refusal::Slow | Refusal::Long | Refusal::Broken => {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Refusal::Host | Refusal::Origin | Refusal::Path | Refusal::Failed => {}
    }
    answer
}
