//! Starts the HTTP server beside the retriever, where `serve --http` asks for one, and says who may ask. Not here: the server
//! (`web`).

use guard::secrets::RedactedText;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::options::GlobalOptions;
use crate::serve_options::ServeOptions;
use crate::shared_retriever::already_running_error;
use crate::startup::Retriever;
use access::address::Address;
use access::named_token::TokensFile;
use access::tls::TlsIdentity;
use access::token::{Token, TokenError};
use daemon::endpoint::Endpoint;
use daemon::host::Host;
use requests::ApiError;
use settings::variables::TOKEN;
use web::http_server::{HttpAccess, HttpServer, ServerKeys};
use web::replica_health::ReplicaHealth;
use writer::exit::{Exit, complain};

/// The listening socket and its token, before the retriever can answer.
pub struct HttpSocket {
    listener: TcpListener,
    access: HttpAccess,
}

impl Retriever<'_> {
    /// Listens on the address that the command names, if it does; nothing is answered yet.
    pub fn http_socket(
        &self,
        command: &ServeOptions,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
    ) -> Result<Option<HttpSocket>, ApiError> {
        let Some(address) = &command.http else { return Ok(None) };
        let address = Address::parse(address, "http")?.socket();
        let access = self.access(command)?;
        let listener = self.listener(address, "--http", (settings, endpoint))?;
        Ok(Some(HttpSocket { listener, access }))
    }

    /// The same for others than this machine, with the certificate.
    pub fn https_socket(
        &self,
        command: &ServeOptions,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
    ) -> Result<Option<HttpSocket>, ApiError> {
        let (Some(address), Some(cert), Some(key)) = (&command.listen, &command.cert, &command.key)
        else {
            return Ok(None);
        };
        let address = Address::parse_any(address, "listen")?.socket();
        let place = |file: &PathBuf| self.surroundings.directory.path().join(file);
        let now = (self.surroundings.clock)().now;
        let tls = TlsIdentity::load(place(cert), place(key), now).map_err(|error| {
            ApiError::Failed { exit: Exit::Config, message: format!("failed to {error}") }
        })?;
        let access = HttpAccess { tls: Some(tls), ..self.access(command)? };
        let listener = self.listener(address, "--listen", (settings, endpoint))?;
        Ok(Some(HttpSocket { listener, access }))
    }

    /// Listens on an address that this option named.
    pub fn listener(
        &self,
        address: SocketAddr,
        option: &str,
        (settings, endpoint): (&GlobalOptions, &Endpoint),
    ) -> Result<TcpListener, ApiError> {
        TcpListener::bind(address).map_err(|error| {
            let is_taken = error.kind() == ErrorKind::AddrInUse;
            // Another port would be of no use, whichever process holds this one.
            if is_taken && self.has_address(settings, endpoint) {
                return already_running_error();
            }
            let remedy = format!("; choose another port with {option}, or 0 for any free port");
            let remedy = if is_taken { remedy } else { String::new() };
            let message = format!("failed to listen on {address}: {error}{remedy}");
            ApiError::Failed { exit: if is_taken { Exit::Busy } else { Exit::Io }, message }
        })
    }

    /// Whom HTTP and gRPC answer: whoever shows the server's token, or a named one.
    pub fn access(&self, command: &ServeOptions) -> Result<HttpAccess, ApiError> {
        let (token, token_file) = self.own_token(command).map_err(|error| token_error(&error))?;
        let named = self.tokens_file()?;
        let keys = ServerKeys::new(token, named, self.surroundings.secret);
        let keys = keys.map_err(|error| token_error(&error))?;
        Ok(HttpAccess { keys, token_file, tls: None, replica: None })
    }

    /// The server's token: from `--token-file`, else from the environment, else from the default file.
    fn own_token(
        &self,
        command: &ServeOptions,
    ) -> Result<(Option<Token>, Option<PathBuf>), TokenError> {
        if command.no_token {
            return Ok((None, None));
        }
        // An empty variable is refused: somebody meant to set a token.
        let variable = (self.surroundings.lookup)(TOKEN).filter(|_| command.token_file.is_none());
        if let Some(token) = variable {
            return Ok((Some(Token::parse(&token.to_string_lossy(), TOKEN)?), None));
        }
        let path = match &command.token_file {
            Some(file) => self.surroundings.directory.path().join(file),
            None => self.beside_the_configuration("token")?,
        };
        Ok((Some(Token::read_or_create(&path, self.surroundings.secret)?), Some(path)))
    }

    /// The file of named tokens.
    pub fn tokens_file(&self) -> Result<TokensFile, ApiError> {
        let path = self.beside_the_configuration("tokens");
        Ok(TokensFile::at(path.map_err(|error| token_error(&error))?))
    }

    /// A file beside the configuration file.
    fn beside_the_configuration(&self, name: &str) -> Result<PathBuf, TokenError> {
        let config_file = self.config_path().ok_or(TokenError::NoPlace)?;
        Ok(self.surroundings.directory.path().join(config_file).with_file_name(name))
    }
}

impl HttpSocket {
    /// Lets the server answer as a replica, if this is one.
    pub fn set_replica_health(&mut self, health: Option<Arc<ReplicaHealth>>) {
        self.access.replica = health;
    }

    /// Answers from the retriever from now on, and says where.
    pub fn open(
        self,
        host: &mut Host,
        machine: Option<RedactedText>,
        command: &ServeOptions,
        messages: &mut dyn Write,
    ) -> Result<HttpServer, ApiError> {
        let told = token_notice(&self.access);
        let server = HttpServer::start(self.listener, &host.guests(), self.access, machine);
        let server = server.map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to start the HTTP server: {error}"),
        })?;
        host.on_end(server.closer());
        let url = server.url();
        if command.is_json {
            let (has_token, file) = &told;
            let line =
                json!({ server.name(): { "url": url, "token": has_token, "token_file": file } });
            // A message that cannot be delivered changes nothing about what happens.
            let _ = writeln!(messages, "{line}");
        } else {
            let who = audience_text(&told);
            let name = server.name().to_ascii_uppercase();
            complain(messages, "agent-knowledge", &format!("MCP over {name} at {url}, {who}"));
        }
        Ok(server)
    }
}

/// Returns what people are told: whether there is a token, and the file that holds it.
pub fn token_notice(access: &HttpAccess) -> (bool, Option<String>) {
    let file = access.token_file.as_ref().map(|file| file.display().to_string());
    (access.keys.has_token(), file)
}

/// Says who is answered.
pub fn audience_text(told: &(bool, Option<String>)) -> String {
    match told {
        (true, Some(file)) => format!("for clients that send the token in {file}, or a named one"),
        (true, None) => format!("for clients that send the token in {TOKEN}, or a named one"),
        (false, _) => "for every user of this machine, without a token".to_owned(),
    }
}

/// The error of a command that needs a token.
pub fn token_error(error: &TokenError) -> ApiError {
    let exit = match error {
        TokenError::Io { .. } | TokenError::NoPlace => Exit::Io,
        TokenError::Untrusted { .. }
        | TokenError::Malformed { .. }
        | TokenError::Damaged { .. } => Exit::Config,
        TokenError::NoRandomness => Exit::Internal,
    };
    ApiError::Failed { exit, message: format!("failed to {error}") }
}
