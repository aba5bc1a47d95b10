//! The team's server over HTTP: its address, and requests with a deadline, over connections that are used again. Inside TLS
//! unless it is on this machine. Not here: what is asked (`remote_team`), TLS (`server_tls`).

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use crate::server_tls::ServerTls;
use access::byte_stream::BoxedStream;
use access::own_names::is_loopback;
use api::rest_forms::{BOTH_FORMS, PREFIX, PROBLEM_JSON};
use guard::text::{Layout, neutralise};

/// How long one request may take in all, whoever waits for it.
const REQUEST: Duration = Duration::from_secs(10);

/// Connections that are kept for the next request.
const IDLE_MAX: usize = 4;

/// The longest answer, in bytes: a reply has at most some thousand tokens, and its JSON several times as much.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The longest path with its query, in bytes: a head has at most 16 KiB, with the token and the other headers.
pub const PATH_BYTES_MAX: usize = 14 * 1024;

/// The longest reason of a server that is repeated, in characters.
const SAID_CHARS_MAX: usize = 300;

const AGENT: HeaderName = HeaderName::from_static("x-agent");
const MARK: HeaderName = HeaderName::from_static("idempotency-key");

/// The address of a team's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    is_tls: bool,
    host: String,
    port: u16,
    authority: String,
}

impl ServerAddress {
    /// Reads an address such as `https://memory.example.org:7443`. Without TLS only this machine is reached: the token would be
    /// read on the way.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            format!(
                "--remote {why}; give the address of the team's server, for example https://memory.example.org:7443"
            )
        };
        let uri: Uri = text.trim().parse().map_err(|_| wrong("is no address"))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(wrong("is no address with https://"));
        };
        if authority.as_str().contains('@') {
            return Err(wrong(
                "holds a name or a password, which others would see; AGENT_KNOWLEDGE_TOKEN holds the token",
            ));
        }
        if !matches!(uri.path(), "" | "/" | "/mcp") || uri.query().is_some() {
            return Err(wrong("has a path"));
        }
        let is_tls = match scheme {
            "https" => true,
            "http" if is_loopback(authority) => false,
            "http" => {
                return Err(wrong("is without TLS, which only an address of this machine may be"));
            }
            _ => return Err(wrong("is no address with https://")),
        };
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        Ok(Self { is_tls, host, port, authority: authority.to_string() })
    }

    /// Returns it as people write it.
    /// Returns the address without its secrets.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}://{}", if self.is_tls { "https" } else { "http" }, self.authority)
    }
}

/// What is asked of the server.
#[derive(Debug, Clone)]
pub struct ServerRequest {
    /// The HTTP method.
    pub method: Method,
    /// The path below [`PREFIX`], with its query.
    pub path: String,
    /// What is sent.
    pub body: Option<Value>,
    /// In whose name.
    pub agent: Option<String>,
    /// By what the server knows it if it is sent twice. A lesson has its id.
    pub mark: Option<String>,
}

impl ServerRequest {
    /// Makes a request that reads.
    pub fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: None, agent: None, mark: None }
    }

    /// Makes a request with a body, in the name of an agent.
    pub fn post(path: String, body: Value, agent: Option<String>) -> Self {
        Self { method: Method::POST, path, body: Some(body), agent, mark: None }
    }
}

/// What the server answered, or something between.
#[derive(Debug, Clone)]
pub struct ServerAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Whether the answer has a text for agents.
    pub form: SentAs,
    /// The answer as JSON.
    pub json: Value,
}

/// What an answer says it is. Only this program's server says the first two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentAs {
    /// A reply.
    Reply,
    /// What is wrong.
    Problem,
    /// A text in words, which the server also uses before it knows what is asked.
    Text,
    /// Something else.
    Other,
}

impl SentAs {
    fn of(content_type: &str) -> Self {
        match content_type.split(';').next().unwrap_or_default().trim() {
            BOTH_FORMS => Self::Reply,
            PROBLEM_JSON => Self::Problem,
            "text/plain" => Self::Text,
            _ => Self::Other,
        }
    }
}

impl ServerAnswer {
    /// Tells whether it is an answer, and not an error.
    pub fn is_reply(&self) -> bool {
        (200..300).contains(&self.status) && self.form == SentAs::Reply
    }

    /// Says what was answered, after the name of the server.
    pub fn shown(&self) -> String {
        let detail = match self.form {
            SentAs::Reply => return format!("answered {}", self.status),
            SentAs::Other => {
                return format!(
                    "answered {}, but not as a server of this program does; is the address right?",
                    self.status
                );
            }
            SentAs::Problem => self.json.get("detail").unwrap_or(&self.json),
            SentAs::Text => &self.json,
        };
        let text = detail.as_str().map_or_else(|| detail.to_string(), str::to_owned);
        let said: String = neutralise(&text, Layout::Line).chars().take(SAID_CHARS_MAX).collect();
        format!("answered {}: {}", self.status, said.trim())
    }
}

/// Why there is no answer that helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unheard {
    /// What went wrong, for a person.
    pub why: String,
    /// The status of an answer that says only that.
    pub status: Option<u16>,
}

impl Unheard {
    /// Makes an error of a reason.
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), status: None }
    }
}

type Sender = SendRequest<Full<Bytes>>;

/// The team's server.
pub struct TeamServer {
    shared: Arc<Shared>,
    /// `None` once it is dropped.
    runtime: Option<Runtime>,
}

struct Shared {
    address: ServerAddress,
    token: String,
    tls: Option<ServerTls>,
    idle: Mutex<Vec<Sender>>,
}

/// A request under way.
pub struct Asked {
    answer: Receiver<Result<ServerAnswer, Unheard>>,
    begun: Instant,
}

impl TeamServer {
    /// Prepares to reach a server; nothing is sent yet.
    ///
    /// # Errors
    /// A sentence: TLS or a thread is missing.
    pub fn at(
        address: ServerAddress,
        token: String,
        certificates: Option<&std::path::Path>,
    ) -> Result<Self, String> {
        let tls = address.is_tls.then(|| ServerTls::new(certificates)).transpose()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("team-server")
            .enable_all()
            .build()
            .map_err(|error| format!("failed to start a thread: {error}"))?;
        let shared = Shared { address, token, tls, idle: Mutex::default() };
        Ok(Self { shared: Arc::new(shared), runtime: Some(runtime) })
    }

    /// Returns its address without its secrets.
    pub fn shown(&self) -> String {
        self.shared.address.shown()
    }

    /// Sends a request. Its answer is waited for by [`Asked::within`].
    pub fn ask(&self, request: ServerRequest) -> Asked {
        let (done, answer) = sync_channel(1);
        let shared = Arc::clone(&self.shared);
        if let Some(runtime) = &self.runtime {
            runtime.spawn(async move {
                let answered = tokio::time::timeout(REQUEST, shared.answered(&request)).await;
                let late = || Err(Unheard::because("it did not answer"));
                // Nobody may be waiting any more.
                let _ = done.send(answered.unwrap_or_else(|_| late()));
            });
        }
        Asked { answer, begun: Instant::now() }
    }
}

impl Drop for TeamServer {
    fn drop(&mut self) {
        // Waits for nothing.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

impl Asked {
    /// Waits until this long after the request was sent.
    pub fn within(self, patience: Duration) -> Result<ServerAnswer, Unheard> {
        let left = patience.saturating_sub(self.begun.elapsed());
        self.answer.recv_timeout(left).unwrap_or_else(|error| {
            Err(Unheard::because(match error {
                RecvTimeoutError::Timeout => {
                    format!("it did not answer in {} ms", patience.as_millis())
                }
                RecvTimeoutError::Disconnected => "the request was given up".to_owned(),
            }))
        })
    }
}

impl Shared {
    async fn answered(&self, request: &ServerRequest) -> Result<ServerAnswer, Unheard> {
        // A connection that was kept may have ended meanwhile. Every request may be sent twice: it has its id or its mark.
        if let Some(sender) = self.idle_connection()
            && let Ok(answer) = self.exchange(sender, request).await
        {
            return Ok(answer);
        }
        let sender = self.connect().await?;
        self.exchange(sender, request).await
    }

    fn idle_connection(&self) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).find(SendRequest::is_ready)
    }

    async fn connect(&self) -> Result<Sender, Unheard> {
        let failed = |error: &dyn std::fmt::Display| Unheard::because(error.to_string());
        let address = (self.address.host.as_str(), self.address.port);
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        // A request is one small write.
        let _ = stream.set_nodelay(true);
        let stream: BoxedStream = match &self.tls {
            None => Box::new(stream),
            Some(tls) => tls.connect(&self.address.host, stream).await.map_err(Unheard::because)?,
        };
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
        tokio::spawn(async move {
            // The answer, or its absence, shows how the connection ended.
            let _ = connection.await;
        });
        Ok(sender)
    }

    async fn exchange(
        &self,
        mut sender: Sender,
        request: &ServerRequest,
    ) -> Result<ServerAnswer, Unheard> {
        let failed = |error: &dyn std::fmt::Display| Unheard::because(error.to_string());
        let mut sent = Request::builder()
            .method(request.method.clone())
            .uri(format!("{PREFIX}{}", request.path))
            .header(HOST, &self.address.authority)
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .header(ACCEPT, BOTH_FORMS);
        if let Some(agent) = &request.agent {
            sent = sent.header(AGENT, agent);
        }
        if let Some(mark) = &request.mark {
            sent = sent.header(MARK, mark);
        }
        let body = match &request.body {
            None => Bytes::new(),
            Some(body) => {
                sent = sent.header(CONTENT_TYPE, "application/json");
                Bytes::from(body.to_string())
            }
        };
        let sent = sent.body(Full::new(body)).map_err(|error| failed(&error))?;
        let answer = sender.send_request(sent).await.map_err(|error| failed(&error))?;
        let status = answer.status().as_u16();
        let content_type = answer.headers().get(CONTENT_TYPE);
        let form = SentAs::of(content_type.and_then(|it| it.to_str().ok()).unwrap_or_default());
        let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| failed(&error))?.to_bytes();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(sender);
        }
        drop(idle);
        let text = String::from_utf8_lossy(&body);
        let json = serde_json::from_str(&text).unwrap_or_else(|_| text.trim().into());
        Ok(ServerAnswer { status, form, json })
    }
}

/// Returns a text as it may stand in a path or a query.
pub fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// Returns a query of fields, each of which may have several values.
pub fn query(fields: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in fields {
        let values = match value {
            Value::Array(values) => values.iter().collect(),
            one => vec![one],
        };
        for value in values {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            pairs.push(format!("{name}={}", encoded(&text)));
        }
    }
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-REMOTE-1
    #[test]
    fn only_this_machine_is_reached_without_tls() {
        let read = |text: &str| ServerAddress::parse(text).map(|address| address.shown());
        for fine in ["https://memory.example.org:7443", "http://127.0.0.1:7421", "http://[::1]:1"] {
            assert_eq!(read(fine).unwrap(), fine);
        }
        assert_eq!(read(" https://m.example.org/mcp").unwrap(), "https://m.example.org");
        for (wrong, why) in [
            ("http://memory.example.org:7421", "without TLS"),
            ("http://127.0.0.1.example.org", "without TLS"),
            ("https://me:secret@example.org", "password"),
            ("https://example.org/api", "path"),
            ("ftp://example.org", "https://"),
            ("example.org:7443", "address"),
            ("", "address"),
        ] {
            let told = read(wrong).unwrap_err();
            assert!(told.contains(why) && !told.contains("secret"), "{wrong}: {told}");
        }
    }
}
