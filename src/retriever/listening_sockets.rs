//! The servers with an address that answer beside the retriever: HTTP, HTTPS, and gRPC where it is built. Not here: each of them
//! (`http`, `grpc`).

use guard::secrets::RedactedText;
use std::io::Write;
use std::sync::Arc;

use crate::grpc_socket::GrpcSocket;
use crate::http_socket::HttpSocket;
use crate::options::GlobalOptions;
use crate::serve_options::ServeOptions;
use crate::startup::Retriever;
use daemon::endpoint::Endpoint;
use daemon::host::Host;
use grpc::grpc_server::GrpcServer;
use requests::ApiError;
use web::http_server::HttpServer;
use web::replica_health::ReplicaHealth;

/// What is listened on, before the retriever can answer.
pub struct ListeningSockets {
    http: Option<HttpSocket>,
    https: Option<HttpSocket>,
    grpc: Option<GrpcSocket>,
}

/// The servers that run.
pub struct OpenServers {
    http: Option<HttpServer>,
    https: Option<HttpServer>,
    grpc: Option<GrpcServer>,
}

impl Retriever<'_> {
    /// Listens on the addresses that the command names; nothing is answered yet.
    pub fn listening_sockets(
        &self,
        command: &ServeOptions,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
    ) -> Result<ListeningSockets, ApiError> {
        Ok(ListeningSockets {
            http: self.http_socket(command, settings, endpoint)?,
            https: self.https_socket(command, settings, endpoint)?,
            grpc: self.grpc_socket(command, settings, endpoint)?,
        })
    }
}

impl ListeningSockets {
    /// Lets the servers answer as a replica, if this is one.
    pub fn with_replica_health(mut self, health: Option<&Arc<ReplicaHealth>>) -> Self {
        for socket in self.http.iter_mut().chain(&mut self.https) {
            socket.set_replica_health(health.cloned());
        }
        self
    }

    /// Answers from the retriever from now on, and says where. `machine` is the name of this machine.
    pub fn open(
        self,
        host: &mut Host,
        machine: Option<&RedactedText>,
        command: &ServeOptions,
        messages: &mut dyn Write,
    ) -> Result<OpenServers, ApiError> {
        let machine = machine.cloned();
        let http = self.http.map(|http| http.open(host, machine.clone(), command, messages));
        let https = self.https.map(|https| https.open(host, machine.clone(), command, messages));
        let grpc = self.grpc.map(|grpc| grpc.open(host, machine, command, messages));
        Ok(OpenServers {
            http: http.transpose()?,
            https: https.transpose()?,
            grpc: grpc.transpose()?,
        })
    }
}

impl OpenServers {
    /// Stops them, once the calls under way have ended.
    pub fn end(self) {
        self.http.into_iter().chain(self.https).for_each(HttpServer::end);
        self.grpc.into_iter().for_each(GrpcServer::end);
    }
}
