//! Starts the HTTP server beside the retriever, where `serve --http` asks for one. Not here: the server (`http`).

use std::io::{ErrorKind, Write};
use std::net::TcpListener;

use serde_json::json;

use super::shared::running_already;
use super::{GlobalOptions, Program};
use crate::args::Serve;
use crate::daemon::{Host, Meeting};
use crate::http::{Address, HttpServer, Token, TokenError};
use api::ApiError;
use writer::exit::{Exit, complain};

/// The variable that holds the token, unless a file does.
const TOKEN: &str = "AGENT_KNOWLEDGE_TOKEN";

/// The listening socket and its token, before the retriever can answer.
pub(super) struct Door {
    listener: TcpListener,
    token: Option<Token>,
}

impl Program<'_> {
    /// Listens on the address that the command names, if it does; nothing is answered yet.
    pub(super) fn http_door(
        &self,
        command: &Serve,
        settings: &GlobalOptions,
        meeting: &Meeting,
    ) -> Result<Option<Door>, ApiError> {
        let Some(address) = &command.http else { return Ok(None) };
        let address = Address::parse(address)?.socket();
        let token = self.token(command).map_err(|error| ApiError::Failed {
            exit: exit_of(&error),
            message: format!("failed to {error}"),
        })?;
        let listener = TcpListener::bind(address).map_err(|error| {
            let is_taken = error.kind() == ErrorKind::AddrInUse;
            // Another port would be of no use, whichever process holds this one.
            if is_taken && self.has_address(settings, meeting) {
                return running_already();
            }
            let remedy = "choose another port with --http, or 0 for any free port";
            let remedy = if is_taken { format!("; {remedy}") } else { String::new() };
            let message = format!("failed to listen on {address}: {error}{remedy}");
            ApiError::Failed { exit: if is_taken { Exit::Busy } else { Exit::Io }, message }
        })?;
        Ok(Some(Door { listener, token }))
    }

    fn token(&self, command: &Serve) -> Result<Option<Token>, TokenError> {
        if let Some(file) = &command.token_file {
            let path = self.surroundings.directory.join(file);
            return Token::in_file(&path, self.surroundings.secret).map(Some);
        }
        // An empty token is a mistake, and would open what should be closed.
        let told = (self.surroundings.lookup)(TOKEN);
        told.map(|token| Token::of(&token.to_string_lossy(), TOKEN)).transpose()
    }
}

impl Door {
    /// Answers from the retriever from now on, and prints the address.
    pub(super) fn open(
        self,
        host: &mut Host,
        machine: Option<String>,
        command: &Serve,
        messages: &mut dyn Write,
    ) -> Result<HttpServer, ApiError> {
        let has_token = self.token.is_some();
        let server = HttpServer::start(self.listener, &host.guests(), self.token, machine);
        let server = server.map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to start the HTTP server: {error}"),
        })?;
        host.at_end(server.closer());
        let url = server.url();
        let who = if has_token {
            "for callers with the token"
        } else {
            "for every user of this machine; --token-file restricts it"
        };
        if command.form.json {
            // A message that cannot be delivered changes nothing about the outcome.
            let _ = writeln!(messages, "{}", json!({ "http": { "url": url, "token": has_token } }));
        } else {
            complain(messages, "agent-knowledge", &format!("MCP over HTTP at {url}, {who}"));
        }
        Ok(server)
    }
}

fn exit_of(error: &TokenError) -> Exit {
    match error {
        TokenError::Io { .. } => Exit::Io,
        TokenError::Untrusted { .. } | TokenError::Malformed { .. } => Exit::Config,
        TokenError::NoRandomness => Exit::Internal,
    }
}
