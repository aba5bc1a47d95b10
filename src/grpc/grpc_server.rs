//! The gRPC server: a thread that accepts connections on the loopback interface. Not here: one call (`grpc_service`), its messages
//! (`wire`).

use guard::secrets::RedactedText;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use prost::Message;
use prost_types::FileDescriptorSet;
use serde_json::json;
use tokio::net::TcpStream;
use tonic_health::ServingStatus;

use crate::contract::{Contract, PACKAGE, SERVICE};
use crate::descriptors::contract_descriptors;
use crate::grpc_service::{AnswerSources, CALLS_MAX, ForeignService, GrpcService, foreign_service};
use access::connection_limit::Connection;
use access::disconnect::Disconnect;
use access::peer::Peer;
use access::server_thread::{ServerThread, ShutdownSignals, accept};
use daemon::guests::Guests;
use reply::Reply;
use web::apis::{Apis, Audience};
use web::http_caller::http_caller;
use web::http_server::ServerKeys;

/// The default address: the port after that of HTTP.
pub const GRPC_ADDRESS_DEFAULT: &str = "127.0.0.1:7422";

/// Calls under way on one connection.
const STREAMS_MAX: u32 = 64;

/// The longest head, in bytes, as over HTTP.
const HEAD_BYTES_MAX: u32 = 16 * 1024;

/// How often a silent client is asked whether it is there, and how long it may take to answer.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_WAIT: Duration = Duration::from_secs(10);

/// Returns the file that describes the contract of this build.
#[must_use]
pub fn proto() -> String {
    crate::proto_text::proto_text(&Contract::current())
}

/// A running server. Stopping it never cuts off an answer under way.
pub struct GrpcServer {
    address: SocketAddr,
    has_token: bool,
    running: ServerThread,
}

impl GrpcServer {
    /// Serves on a loopback listener, on a thread of its own. `host` is the name of this machine.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn start(
        listener: TcpListener,
        guests: &Guests,
        keys: ServerKeys,
        host: Option<RedactedText>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let has_token = keys.has_token();
        let ending = ShutdownSignals::default();
        let contract = Contract::current();
        let (pool, files) = contract_descriptors(&contract).map_err(io::Error::other)?;
        let others = other_services(&files)?;
        let apis = Apis::new(guests, &http_caller(host, Audience::Owner), Audience::Owner);
        let (guests, closing) = (guests.clone(), ending.closing.clone());
        let from =
            AnswerSources { apis, guests: guests.clone(), keys, foreign_services: others, closing };
        let find = |name: &str| pool.get_message_by_name(name);
        let service = Arc::new(GrpcService::new(&contract, find, from));
        let status = Arc::downgrade(&service);
        let running = ServerThread::start("grpc", ending, CALLS_MAX, async move |ending| {
            let serve = |stream, connection| {
                serve_connection(stream, connection, Arc::clone(&service), ending.closing.clone())
            };
            accept(listener, ending, serve, || {}).await
        })?;
        let server = Self { address, has_token, running };
        server.show_in_status(&guests, status);
        Ok(server)
    }

    /// Returns its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a function that stops accepting connections, from any thread and without waiting.
    pub fn closer(&self) -> impl FnOnce() + Send + 'static {
        self.running.closer()
    }

    /// Stops it, once the calls under way have ended. This takes at most a fifth of a second.
    pub fn end(self) {
        self.running.end();
    }

    fn show_in_status(&self, guests: &Guests, service: Weak<GrpcService>) {
        let (address, has_token) = (self.address.to_string(), self.has_token);
        // A strong reference would make a cycle, as in HTTP.
        guests.add_status(move |status: Reply| {
            let requests = service.upgrade().map_or(0, |service| service.requests());
            let who =
                if has_token { "clients that show a token" } else { "every user of this machine" };
            let line = format!("{address} for {who}, {requests} calls so far");
            let json = json!({ "address": address, "token": has_token, "requests": requests });
            status.with_line("grpc", &line).with_field("grpc", json)
        });
    }
}

/// Health and reflection, each with the path of its service.
fn other_services(files: &FileDescriptorSet) -> io::Result<Vec<(&'static str, ForeignService)>> {
    let (reporter, health) = tonic_health::server::health_reporter();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let name = format!("{PACKAGE}.{SERVICE}");
    runtime.block_on(reporter.set_service_status(name, ServingStatus::Serving));
    let ours = files.encode_to_vec();
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(&ours)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let v1 = reflection().build_v1().map_err(io::Error::other)?;
    let v1alpha = reflection().build_v1alpha().map_err(io::Error::other)?;
    Ok(vec![
        ("/grpc.health.v1.Health/", foreign_service(health)),
        ("/grpc.reflection.v1.ServerReflection/", foreign_service(v1)),
        ("/grpc.reflection.v1alpha.ServerReflection/", foreign_service(v1alpha)),
    ])
}

async fn serve_connection(
    stream: TcpStream,
    connection: Connection,
    service: Arc<GrpcService>,
    closing: Disconnect,
) {
    let connection = Arc::new(connection);
    let answering = Arc::clone(&connection);
    let peer = Peer::from_stream(&stream);
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let (service, connection) = (Arc::clone(&service), Arc::clone(&answering));
        async move { Ok::<_, std::convert::Infallible>(service.answer(request, &connection).await) }
    });
    let http = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX)
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE_WAIT)
        .serve_connection(TokioIo::new(stream), answer);
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
