//! Serves MCP, REST and the dashboard over HTTP, for clients that are configured with a URL. Without a certificate it listens
//! on the loopback interface alone; with one (`--listen`) on any address, inside TLS. Connections, heads, bodies, concurrent
//! calls and waits are bounded.
//!
//! In reading order: [`address`] (where it listens), [`token`] (the server's own), [`rights`], [`named_token`] (those of
//! others), [`known_tokens`], [`guesses`] and [`expensive_calls`] (what a client may do how often), `admitted` (who asks),
//! `accept` (new connections), [`tls`], [`peer`], [`own_names`], [`request_guard`] (checks of a request's head), [`connection_limit`], [`service`] (one request),
//! [`client_name`] (the name of a client), `rest`, `static_files` (the page). Not here: the answers (`mcp`), the retriever's idle
//! shutdown (`daemon`).

mod accept;
mod address;
mod admitted;
mod apis;
mod byte_stream;
mod client_name;
mod code_request;
mod connection_limit;
mod embeddings;
mod expensive_calls;
mod guesses;
mod http_bounds;
mod http_caller;
mod known_tokens;
mod mcp_services;
mod named_token;
mod own_names;
mod peer;
mod private_memories;
mod replica_health;
mod request_guard;
mod response_body;
pub mod rest;
pub(crate) mod rest_forms;
mod rights;
mod service;
mod static_files;
mod tls;
mod tls_files;
mod token;

use guard::secrets::Redacted;
use http_bounds::{BODY_BYTES_MAX, HEAD_BYTES_MAX, HEAD_WAIT_MS, PATH};
pub(crate) use http_caller::caller;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::TcpStream;

use super::mcp::Disconnect;
use crate::daemon::Guests;
pub(crate) use byte_stream::BoxedStream;
use event::Timestamp;
use reply::Reply;

pub(crate) use accept::{Ending, ServerThread, accept};
pub use address::{ADDRESS_DEFAULT, Address};
pub(crate) use admitted::{Admitted, admitted, too_many};
pub(crate) use apis::Apis;
pub(crate) use apis::Audience;
pub use client_name::introduced;
pub use code_request::new_code;
pub(crate) use connection_limit::Connection;
pub(crate) use connection_limit::HeldConnection;
use known_tokens::KnownTokens;
pub use named_token::{NamedToken, NamedTokenError, TokensFile};
use own_names::OwnNames;
pub(crate) use own_names::is_loopback;
pub(crate) use peer::Peer;
pub(crate) use private_memories::PrivateMemories;
pub use replica_health::{Lag, ReplicaHealth, ReplicaState};
use request_guard::Keys;
pub(crate) use request_guard::Refusal;
pub use rights::Rights;
use service::HttpService;
pub use tls::TlsIdentity;
pub use tls_files::TlsError;
pub use token::{Secret, Token, TokenError};

/// How long finished answers may take to reach their clients at shutdown, in milliseconds.
const LAST_BYTES_MS: u64 = 200;

/// Threads that may block at once: one for each call, and as many for the checks of private memories, which never wait for a
/// call.
const BLOCKING_THREADS_MAX: usize = 2 * service::CALLS_MAX;

/// What callers show to be answered.
pub struct HttpAccess {
    /// What requests are compared with.
    pub keys: ServerKeys,
    /// The file that holds the server's token, unless the environment does, or there is none.
    pub token_file: Option<PathBuf>,
    /// What makes it HTTPS. Without it the listener must be on the loopback interface.
    pub tls: Option<TlsIdentity>,
    /// What a replica tells balancers; `None` for a server that is none.
    pub replica: Option<Arc<ReplicaHealth>>,
}

/// The tokens that a server accepts.
pub struct ServerKeys {
    has_token: bool,
    keys: Keys,
}

impl ServerKeys {
    /// Reads the named tokens. Without a token of its own the server answers every user of this machine. `secret` makes
    /// codes and sessions.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn new(
        token: Option<Token>,
        named: TokensFile,
        secret: Secret,
    ) -> Result<Self, TokenError> {
        let has_token = token.is_some();
        Ok(Self { has_token, keys: Keys::new(token, KnownTokens::begin(named)?, secret) })
    }

    /// Says who sent a request.
    pub(crate) fn admit(&self, parts: &Parts, now: Timestamp) -> Result<Admitted, Refusal> {
        self.keys.admit(parts, now)
    }

    /// Tells whether somebody who was let in would be again.
    pub(crate) fn is_current(&self, admitted: &Admitted, now: Timestamp) -> bool {
        self.keys.is_current(admitted, now)
    }

    /// Tells whether a token is asked for.
    #[must_use]
    pub fn has_token(&self) -> bool {
        self.has_token
    }
}

/// A running server. Stopping it never cuts off an answer under way.
pub struct HttpServer {
    address: SocketAddr,
    has_token: bool,
    token_file: Option<PathBuf>,
    tls: Option<Arc<TlsIdentity>>,
    running: ServerThread,
}

impl HttpServer {
    /// Serves whoever shows a token, on a thread of its own. `host` is the name of this machine.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn start(
        listener: TcpListener,
        guests: &Guests,
        access: HttpAccess,
        host: Option<Redacted>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let HttpAccess { keys: ServerKeys { has_token, keys }, token_file, tls, replica } = access;
        let tls = tls.map(Arc::new);
        let names = tls.clone().map_or(OwnNames::Loopback(address.port()), OwnNames::Certificate);
        let ending = Ending::default();
        let stop_waiting = ending.stop_waiting.clone();
        let service =
            HttpService::new((guests.clone(), host), names, (keys, replica), &stop_waiting);
        let service = Arc::new(service);
        let status = Arc::downgrade(&service);
        let inside = tls.clone();
        let running =
            ServerThread::start("http", ending, BLOCKING_THREADS_MAX, async move |ending| {
                let serve = |stream, connection| {
                    let service = Arc::clone(&service);
                    begin_connection(
                        stream,
                        connection,
                        (service, inside.clone()),
                        ending.closing.clone(),
                    )
                };
                let end_streams = async {
                    ending.closing.happened().await;
                    service.end_streams();
                };
                tokio::join!(accept(listener, ending, serve, || service.cancel()), end_streams).0
            })?;
        let server = Self { address, has_token, token_file, tls, running };
        server.show_in_status(guests, status);
        Ok(server)
    }

    /// Returns its URL.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}://{}{PATH}", self.name(), self.address)
    }

    /// Returns its name in a status: `http`, or `https` inside TLS.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Returns a function that stops accepting connections, from any thread and without waiting.
    pub fn closer(&self) -> impl FnOnce() + Send + 'static {
        self.running.closer()
    }

    /// Stops it, once the calls under way have ended. This takes at most a fifth of a second.
    pub fn end(self) {
        self.running.end();
    }

    fn show_in_status(&self, guests: &Guests, service: Weak<HttpService>) {
        let (name, url, has_token) = (self.name(), self.url(), self.has_token);
        let tls = self.tls.clone();
        let token_file = self.token_file.as_ref().map(|file| file.display().to_string());
        // A strong reference would make a cycle: the retriever holds this closure, and the service
        // holds the retriever.
        guests.add_status(move |status: Reply| {
            let requests = service.upgrade().map_or(0, |service| service.requests());
            let who =
                if has_token { "clients that show a token" } else { "every user of this machine" };
            let line = format!("{url} for {who}, {requests} requests so far");
            let json = json!({ "url": url, "token": has_token, "token_file": token_file,
                "requests": requests });
            let status = status.and(name, &line).with(name, json);
            let status = match service.upgrade().and_then(|service| service.problem()) {
                Some(problem) => status.and("tokens", &format!("none is accepted: {problem}")),
                None => status,
            };
            match tls.as_ref().and_then(|tls| tls.problem()) {
                Some(problem) => {
                    status.and("tls", &format!("the old certificate is used: {problem}"))
                }
                None => status,
            }
        });
    }
}

/// Shakes hands where there is TLS, and then serves.
async fn begin_connection(
    stream: TcpStream,
    connection: Connection,
    (service, tls): (Arc<HttpService>, Option<Arc<TlsIdentity>>),
    closing: Disconnect,
) {
    let peer = Peer::of(&stream);
    let stream: BoxedStream = match tls {
        None => Box::new(stream),
        Some(tls) => {
            let accepted = tokio::select! {
                accepted = tls.accept(stream, service.now()) => accepted,
                () = connection.is_replaced() => None,
                () = closing.happened() => None,
            };
            let Some(stream) = accepted else { return };
            stream
        }
    };
    serve_connection(stream, (connection, peer), service, closing).await;
}

async fn serve_connection(
    stream: BoxedStream,
    (connection, peer): (Connection, Peer),
    service: Arc<HttpService>,
    closing: Disconnect,
) {
    let connection = Arc::new(connection);
    let answering = Arc::clone(&connection);
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let (service, connection) = (Arc::clone(&service), Arc::clone(&answering));
        async move { Ok::<_, std::convert::Infallible>(service.answer(request, &connection).await) }
    });
    let http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(HEAD_WAIT_MS))
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    let mut http = pin!(http);
    tokio::select! {
        // A broken connection ends like a closed one.
        _ = http.as_mut() => return,
        () = connection.is_replaced() => return,
        () = closing.happened() => http.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = http => {}
        () = connection.is_replaced() => {}
    }
}
