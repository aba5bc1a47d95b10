//! The HTTP server: a thread that accepts connections, and the tokens that it knows. Not here: one request (`service`), the checks of
//! its head (`request_guard`).

use access::http_bounds::{HEAD_BYTES_MAX, HEAD_WAIT_MS, MCP_PATH};
use guard::secrets::RedactedText;

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

use access::byte_stream::BoxedStream;
use access::disconnect::Disconnect;
use daemon::guests::Guests;
use event::Timestamp;
use reply::Reply;

use access::server_thread::{ServerThread, ShutdownSignals, accept};

use access::admitted_caller::AdmittedCaller;

use access::connection_limit::Connection;

use access::known_tokens::KnownTokens;
use access::named_token::TokensFile;
use access::server_names::ServerNames;

use access::peer::Peer;

use crate::replica_health::ReplicaHealth;
use crate::request_guard::AccessKeys;
use crate::request_guard::Refusal;

use crate::service::HttpService;
use access::tls::TlsIdentity;

use access::token::{SecretSource, Token, TokenError};

/// Threads that may block at once: one for each call, and as many for the checks of private memories, which never wait for a
/// call.
const BLOCKING_THREADS_MAX: usize = 2 * crate::service::CALLS_MAX;

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
    keys: AccessKeys,
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
        secret: SecretSource,
    ) -> Result<Self, TokenError> {
        let has_token = token.is_some();
        Ok(Self { has_token, keys: AccessKeys::new(token, KnownTokens::load(named)?, secret) })
    }

    /// Says who sent a request.
    pub fn admit(&self, parts: &Parts, now: Timestamp) -> Result<AdmittedCaller, Refusal> {
        self.keys.admit(parts, now)
    }

    /// Tells whether somebody who was let in would be again.
    pub fn is_current(&self, admitted: &AdmittedCaller, now: Timestamp) -> bool {
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
        host: Option<RedactedText>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let HttpAccess { keys: ServerKeys { has_token, keys }, token_file, tls, replica } = access;
        let tls = tls.map(Arc::new);
        let names =
            tls.clone().map_or(ServerNames::Loopback(address.port()), ServerNames::Certificate);
        let ending = ShutdownSignals::default();
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
                    ending.closing.wait().await;
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
        format!("{}://{}{MCP_PATH}", self.name(), self.address)
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
            let status = status.with_line(name, &line).with_field(name, json);
            let status = match service.upgrade().and_then(|service| service.problem()) {
                Some(problem) => {
                    status.with_line("tokens", &format!("none is accepted: {problem}"))
                }
                None => status,
            };
            match tls.as_ref().and_then(|tls| tls.problem()) {
                Some(problem) => {
                    status.with_line("tls", &format!("the old certificate is used: {problem}"))
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
    let peer = Peer::from_stream(&stream);
    let stream: BoxedStream = match tls {
        None => Box::new(stream),
        Some(tls) => {
            let accepted = tokio::select! {
                accepted = tls.accept(stream, service.now()) => accepted,
                () = connection.is_replaced() => None,
                () = closing.wait() => None,
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
        () = closing.wait() => http.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = http => {}
        () = connection.is_replaced() => {}
    }
}
