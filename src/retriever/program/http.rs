//! Starts the HTTP server beside the retriever, where `serve --http` asks for one, and says who may ask. Not here: the server
//! (`http`).

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use serde_json::json;

use super::shared::running_already;
use super::{GlobalOptions, Program, failed};
use crate::args::Serve;
use crate::daemon::{Endpoint, Host};
use crate::http::{Address, HttpAccess, HttpServer, Secret, Token, TokenError};
use api::ApiError;
use store::{PlatformDirs, StoreError};
use writer::exit::{Exit, complain};

/// The variable that holds the token, unless a file does.
pub(super) const TOKEN: &str = "AGENT_KNOWLEDGE_TOKEN";

/// The listening socket and its token, before the retriever can answer.
pub(super) struct HttpSocket {
    listener: TcpListener,
    access: Access,
    secret: Secret,
}

/// The callers that HTTP accepts.
pub(super) enum Access {
    /// Whoever sends the token; with the file that holds it, unless the environment does.
    Token(Token, Option<PathBuf>),
    /// Every user of this machine.
    Everybody,
}

impl Program<'_> {
    /// Listens on the address that the command names, if it does; nothing is answered yet.
    pub(super) fn http_socket(
        &self,
        command: &Serve,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
    ) -> Result<Option<HttpSocket>, ApiError> {
        let Some(address) = &command.http else { return Ok(None) };
        let address = Address::parse(address, "http")?.socket();
        let access = self.access(command)?;
        let listener = self.listener(address, "--http", (settings, endpoint))?;
        Ok(Some(HttpSocket { listener, access, secret: self.surroundings.secret }))
    }

    /// Listens on an address that this option named.
    pub(super) fn listener(
        &self,
        address: SocketAddr,
        option: &str,
        (settings, endpoint): (&GlobalOptions, &Endpoint),
    ) -> Result<TcpListener, ApiError> {
        TcpListener::bind(address).map_err(|error| {
            let is_taken = error.kind() == ErrorKind::AddrInUse;
            // Another port would be of no use, whichever process holds this one.
            if is_taken && self.has_address(settings, endpoint) {
                return running_already();
            }
            let remedy = format!("; choose another port with {option}, or 0 for any free port");
            let remedy = if is_taken { remedy } else { String::new() };
            let message = format!("failed to listen on {address}: {error}{remedy}");
            ApiError::Failed { exit: if is_taken { Exit::Busy } else { Exit::Io }, message }
        })
    }

    /// The token: from `--token-file`, else from the environment, else from the default file.
    pub(super) fn access(&self, command: &Serve) -> Result<Access, ApiError> {
        if command.no_token {
            return Ok(Access::Everybody);
        }
        let failed = |error: TokenError| ApiError::Failed {
            exit: exit_of(&error),
            message: format!("failed to {error}"),
        };
        // An empty variable is refused: somebody meant to set a token.
        let variable = (self.surroundings.lookup)(TOKEN).filter(|_| command.token_file.is_none());
        if let Some(token) = variable {
            let token = Token::of(&token.to_string_lossy(), TOKEN).map_err(failed)?;
            return Ok(Access::Token(token, None));
        }
        let path = match &command.token_file {
            Some(file) => self.surroundings.directory.join(file),
            None => self.default_token_file()?,
        };
        let token = Token::in_file(&path, self.surroundings.secret).map_err(failed)?;
        Ok(Access::Token(token, Some(path)))
    }

    /// The file `token` beside the configuration file.
    fn default_token_file(&self) -> Result<PathBuf, ApiError> {
        let named = (self.surroundings.lookup)("AGENT_KNOWLEDGE_CONFIG");
        let named = named.filter(|file| !file.is_empty()).map(PathBuf::from);
        let config_file =
            named.or_else(|| PlatformDirs::of_platform().map(|places| places.config_file));
        let config_file = config_file.ok_or_else(|| failed(&StoreError::NoPlace))?;
        Ok(self.surroundings.directory.join(config_file).with_file_name("token"))
    }
}

impl HttpSocket {
    /// Answers from the retriever from now on, and says where.
    pub(super) fn open(
        self,
        host: &mut Host,
        machine: Option<String>,
        command: &Serve,
        messages: &mut dyn Write,
    ) -> Result<HttpServer, ApiError> {
        let told = self.access.told();
        let (token, token_file) = self.access.into_token();
        let access = HttpAccess { token, token_file, secret: self.secret };
        let server = HttpServer::start(self.listener, &host.guests(), access, machine);
        let server = server.map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to start the HTTP server: {error}"),
        })?;
        host.at_end(server.closer());
        let url = server.url();
        if command.form.json {
            let (has_token, file) = &told;
            let line = json!({ "http": { "url": url, "token": has_token, "token_file": file } });
            // A message that cannot be delivered changes nothing about what happens.
            let _ = writeln!(messages, "{line}");
        } else {
            let who = who(&told);
            complain(messages, "agent-knowledge", &format!("MCP over HTTP at {url}, {who}"));
        }
        Ok(server)
    }
}

impl Access {
    /// Returns the token, if one is asked for, and the file that holds it.
    pub(super) fn into_token(self) -> (Option<Token>, Option<PathBuf>) {
        match self {
            Self::Token(token, file) => (Some(token), file),
            Self::Everybody => (None, None),
        }
    }

    /// Returns what people are told: whether there is a token, and the file that holds it.
    pub(super) fn told(&self) -> (bool, Option<String>) {
        match self {
            Self::Token(_, file) => (true, file.as_ref().map(|file| file.display().to_string())),
            Self::Everybody => (false, None),
        }
    }
}

/// Says who is answered.
pub(super) fn who(told: &(bool, Option<String>)) -> String {
    match told {
        (true, Some(file)) => format!("for clients that send the token in {file}"),
        (true, None) => format!("for clients that send the token in {TOKEN}"),
        (false, _) => "for every user of this machine, without a token".to_owned(),
    }
}

fn exit_of(error: &TokenError) -> Exit {
    match error {
        TokenError::Io { .. } => Exit::Io,
        TokenError::Untrusted { .. } | TokenError::Malformed { .. } => Exit::Config,
        TokenError::NoRandomness => Exit::Internal,
    }
}
