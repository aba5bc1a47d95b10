//! Starts the gRPC server beside the retriever, where `serve --grpc` asks for one. Not here: the server (`grpc`), who may ask
//! (`http_socket`).

use guard::secrets::RedactedText;
use std::io::Write;
use std::net::TcpListener;

use serde_json::json;

use crate::http_socket::{audience_text, token_notice};
use crate::options::GlobalOptions;
use crate::serve_options::ServeOptions;
use crate::startup::Retriever;
use access::address::Address;
use daemon::endpoint::Endpoint;
use daemon::host::Host;
use grpc::grpc_server::GrpcServer;
use requests::ApiError;
use web::http_server::HttpAccess;
use writer::exit::{Exit, complain};

/// The listening socket and its token, before the retriever can answer.
pub struct GrpcSocket {
    listener: TcpListener,
    access: HttpAccess,
}

impl Retriever<'_> {
    /// Listens on the address that the command names, if it does; nothing is answered yet.
    pub fn grpc_socket(
        &self,
        command: &ServeOptions,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
    ) -> Result<Option<GrpcSocket>, ApiError> {
        let Some(address) = &command.grpc else { return Ok(None) };
        let address = Address::parse(address, "grpc")?.socket();
        let access = self.access(command)?;
        let listener = self.listener(address, "--grpc", (settings, endpoint))?;
        Ok(Some(GrpcSocket { listener, access }))
    }
}

impl GrpcSocket {
    /// Answers from the retriever from now on, and says where.
    pub fn open(
        self,
        host: &mut Host,
        machine: Option<RedactedText>,
        command: &ServeOptions,
        messages: &mut dyn Write,
    ) -> Result<GrpcServer, ApiError> {
        let told = token_notice(&self.access);
        let server = GrpcServer::start(self.listener, &host.guests(), self.access.keys, machine);
        let server = server.map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to start the gRPC server: {error}"),
        })?;
        host.on_end(server.closer());
        let address = server.address().to_string();
        if command.is_json {
            let (has_token, file) = &told;
            let line =
                json!({ "grpc": { "address": address, "token": has_token, "token_file": file } });
            // A message that cannot be delivered changes nothing about what happens.
            let _ = writeln!(messages, "{line}");
        } else {
            complain(
                messages,
                "agent-knowledge",
                &format!("gRPC at {address}, {}", audience_text(&told)),
            );
        }
        Ok(server)
    }
}
