//! MCP over HTTP, for clients that are configured with an address: the same answers from the same memory, on the
//! loopback interface alone. Everything that comes in is bounded: connections, heads, bodies, calls at once, waits.
//!
//! In reading order: [`address`] (where), [`token`] (who may ask), [`request_guard`] (what is turned away before anything is
//! read of it), [`connection_limit`] (who is connected), [`service`] (one request), [`client_name`] (who asks). Not here: what is
//! answered (`mcp`), who else keeps the retriever (`attach`).

mod address;
mod client_name;
mod connection_limit;
mod request_guard;
mod service;
mod token;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use tokio::net::TcpStream;

use super::mcp::Disconnect;
use crate::daemon::Guests;
use api::caller::{Caller, Patience};
use reply::Reply;

pub use address::{ADDRESS_DEFAULT, Address};
pub use client_name::introduced;
use connection_limit::{CONNECTIONS_MAX, Connection, ConnectionLimit};
use service::HttpService;
pub use token::{Token, TokenError};

/// The one path.
const PATH: &str = "/mcp";

/// How long a connection may take over the head of a request, and be idle between two, in milliseconds. Clients send
/// a head at once; those that keep a connection for later are told of it (`Keep-Alive`).
const HEAD_WAIT_MS: u64 = 10_000;

/// Most bytes of a head: MCP needs a few hundred. A body is read in pieces of at most as many.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// How long no connection is accepted after the system could not give one, in milliseconds.
const ACCEPT_WAIT_MS: u64 = 20;

/// How long answers that are done may take on their way to clients at the end, in milliseconds.
const LAST_BYTES_MS: u64 = 200;

/// Threads that may block at once: as many as calls.
const BLOCKING_THREADS_MAX: usize = service::CALLS_MAX;

/// What a caller over HTTP is called that does not say who it is.
const NOBODY: &str = "unknown";

/// A running server. Its end is asked for, never forced on an answer under way.
pub struct HttpServer {
    address: SocketAddr,
    has_token: bool,
    closing: Disconnect,
    gone: Disconnect,
    ended: Receiver<()>,
}

impl HttpServer {
    /// Serves on a listener of the loopback interface, on a thread of its own. `host` names this machine.
    ///
    /// # Errors
    /// What the system said.
    pub fn start(
        listener: TcpListener,
        guests: &Guests,
        token: Option<Token>,
        host: Option<String>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .enable_all()
            .build()?;
        let (closing, gone) = (Disconnect::new(), Disconnect::new());
        let has_token = token.is_some();
        let caller = caller(host);
        let face = Arc::new(HttpService::new(guests.clone(), caller, address, token, gone.clone()));
        let (tells, ended) = channel();
        let server = Self { address, has_token, closing: closing.clone(), gone, ended };
        server.show_in_status(guests, &face);
        std::thread::Builder::new().name("http".to_owned()).spawn(move || {
            // It fails only where the runtime has no reactor, and this one has.
            let _ = runtime.block_on(serve(listener, face, closing));
            runtime.shutdown_background();
            // Nobody may be waiting.
            let _ = tells.send(());
        })?;
        Ok(server)
    }

    /// Returns where it answers.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Returns what has it let nobody in any more, from any thread and without waiting.
    pub fn closer(&self) -> impl FnOnce() + Send + 'static {
        let closing = self.closing.clone();
        move || closing.happen()
    }

    /// Ends it, once the calls under way have ended. Takes at most a fifth of a second.
    pub fn end(self) {
        self.closing.happen();
        self.gone.happen();
        // Late is an end as well: the process goes next.
        let _ = self.ended.recv_timeout(Duration::from_millis(2 * LAST_BYTES_MS));
    }

    fn show_in_status(&self, guests: &Guests, face: &Arc<HttpService>) {
        let (url, has_token) = (self.url(), self.has_token);
        // The retriever has what it tells, and the face has the retriever.
        let face = Arc::downgrade(face);
        guests.tell(move |status: Reply| {
            let requests = face.upgrade().map_or(0, |face| face.requests());
            let who = if has_token {
                "clients that send the token"
            } else {
                "every user of this machine"
            };
            let line = format!("{url} for {who}, {requests} requests so far");
            let json = json!({ "url": url, "token": has_token, "requests": requests });
            status.and("http", &line).with("http", json)
        });
    }
}

/// Who asks over HTTP: an agent in no directory of ours.
fn caller(host: Option<String>) -> Caller {
    Caller {
        directory: None,
        agent_id: NOBODY.to_owned(),
        session_id: None,
        source: Some("agent".to_owned()),
        host,
        patience: Patience::OF_AN_AGENT,
    }
}

async fn serve(
    listener: TcpListener,
    face: Arc<HttpService>,
    closing: Disconnect,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let crowd = ConnectionLimit::of(CONNECTIONS_MAX);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closing.happened() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                // Where all are in a call, which there are never so many of, this one is turned away.
                let Some(seat) = crowd.enter() else { continue };
                tokio::spawn(connection(stream, seat, Arc::clone(&face), closing.clone()));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(ACCEPT_WAIT_MS)).await,
        }
    }
    drop(listener);
    tokio::select! {
        () = crowd.is_empty() => {}
        () = face.gone().happened() => {
            face.cancel();
            let last = Duration::from_millis(LAST_BYTES_MS);
            // Who does not read answers gets none.
            let _ = tokio::time::timeout(last, crowd.is_empty()).await;
        }
    }
    Ok(())
}

async fn connection(
    stream: TcpStream,
    seat: Connection,
    face: Arc<HttpService>,
    closing: Disconnect,
) {
    // An answer is one small packet; waiting for more of it helps nobody.
    let _ = stream.set_nodelay(true);
    let seat = Arc::new(seat);
    let answering = Arc::clone(&seat);
    let service = service_fn(move |request| {
        let (face, seat) = (Arc::clone(&face), Arc::clone(&answering));
        async move { Ok::<_, std::convert::Infallible>(face.answer(request, &seat).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_millis(HEAD_WAIT_MS))
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // A connection that breaks ends as one that is closed.
        _ = connection.as_mut() => return,
        () = seat.is_taken() => return,
        () = closing.happened() => connection.as_mut().graceful_shutdown(),
    }
    tokio::select! {
        _ = connection => {}
        () = seat.is_taken() => {}
    }
}
