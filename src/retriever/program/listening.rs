//! The servers with an address that answer beside the retriever: HTTP, HTTPS, and gRPC where it is built. Not here: each of them
//! (`http`, `grpc`).

use guard::secrets::Redacted;
use std::io::Write;
use std::sync::Arc;

use super::grpc::GrpcSocket;
use super::http::HttpSocket;
use super::{GlobalOptions, Program};
use crate::args::Serve;
use crate::daemon::{Endpoint, Host};
use crate::grpc::GrpcServer;
use crate::http::{HttpServer, ReplicaHealth};
use api::ApiError;

/// What is listened on, before the retriever can answer.
pub(super) struct ListeningSockets {
    http: Option<HttpSocket>,
    https: Option<HttpSocket>,
    grpc: Option<GrpcSocket>,
}

/// The servers that run.
pub(super) struct OpenServers {
    http: Option<HttpServer>,
    https: Option<HttpServer>,
    grpc: Option<GrpcServer>,
}

impl Program<'_> {
    /// Listens on the addresses that the command names; nothing is answered yet.
    pub(super) fn listening(
        &self,
        command: &Serve,
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
    pub(super) fn of_replica(mut self, health: Option<&Arc<ReplicaHealth>>) -> Self {
        for socket in self.http.iter_mut().chain(&mut self.https) {
            socket.of_replica(health.cloned());
        }
        self
    }

    /// Answers from the retriever from now on, and says where. `machine` is the name of this machine.
    pub(super) fn open(
        self,
        host: &mut Host,
        machine: Option<&Redacted>,
        command: &Serve,
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
    pub(super) fn end(self) {
        self.http.into_iter().chain(self.https).for_each(HttpServer::end);
        self.grpc.into_iter().for_each(GrpcServer::end);
    }
}
