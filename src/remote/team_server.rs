//! The team's server: its address, and requests that go on for their whole time while who asked may wait for less. Inside TLS unless
//! it is on this machine. Not here: what is asked (`remote_team`), sending (`http_client`), who is believed (`believed_authorities`).

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use http_client::{
    HttpAnswer, HttpClient, HttpError, HttpRequest, KeyHeader, Method, PlainHttp, ServerAccess,
    ServerUrl, TlsTrust, UrlFault,
};
use serde_json::{Map, Value};

use crate::believed_authorities::authorities;
use guard::text::{Layout, neutralise};
use requests::rest_forms::{BOTH_FORMS, PREFIX, PROBLEM_JSON};

/// How long one request may take in all, whoever waits for it.
const REQUEST: Duration = Duration::from_secs(10);

/// How long a connection is kept for the next request.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// The longest answer, in bytes: a reply has at most some thousand tokens, and its JSON several times as much.
const ANSWER_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The longest path with its query, in bytes: a head has at most 16 KiB, with the token and the other headers.
pub const PATH_BYTES_MAX: usize = 14 * 1024;

/// The longest reason of a server that is repeated, in characters.
const SAID_CHARS_MAX: usize = 300;

/// The address of a team's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress(ServerUrl);

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
        let url = ServerUrl::parse(text.trim(), PlainHttp::ToThisMachine);
        let url = url.map_err(|fault| {
            wrong(match fault {
                UrlFault::NameOrPassword => {
                    "holds a name or a password, which others would see; AGENT_KNOWLEDGE_TOKEN holds the token"
                }
                UrlFault::NoServer => "is no address",
                UrlFault::Query => "has a path",
                UrlFault::WithoutTls => {
                    "is without TLS, which only an address of this machine may be"
                }
                UrlFault::OtherScheme => "is no address with https://",
            })
        })?;
        match url.path() {
            "" | "/mcp" => Ok(Self(url.root())),
            _ => Err(wrong("has a path")),
        }
    }

    /// Returns it as people write it.
    #[must_use]
    pub fn shown(&self) -> String {
        self.0.join("")
    }
}

/// What is asked of the server.
#[derive(Debug, Clone)]
pub struct ServerRequest {
    /// The path below [`PREFIX`], with its query.
    pub path: String,
    /// What is sent, if anything is.
    pub body: Option<Value>,
    /// In whose name.
    pub agent: Option<String>,
    /// By what the server knows it if it is sent twice. A lesson has its id.
    pub idempotency_key: Option<String>,
}

impl ServerRequest {
    /// Makes a request that reads.
    pub fn get(path: String) -> Self {
        Self { path, body: None, agent: None, idempotency_key: None }
    }

    /// Makes a request with a body, in the name of an agent.
    pub fn post(path: String, body: Value, agent: Option<String>) -> Self {
        Self { path, body: Some(body), agent, idempotency_key: None }
    }
}

/// What the server answered, or something between.
#[derive(Debug, Clone)]
pub struct ServerAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Whether the answer has a text for agents.
    pub form: AnswerContentType,
    /// The answer as JSON.
    pub json: Value,
}

/// What an answer says it is. Only this program's server says the first two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerContentType {
    /// A reply.
    Reply,
    /// What is wrong.
    Problem,
    /// A text in words, which the server also uses before it knows what is asked.
    Text,
    /// Something else.
    Other,
}

impl AnswerContentType {
    fn from_header(content_type: &str) -> Self {
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
        (200..300).contains(&self.status) && self.form == AnswerContentType::Reply
    }

    /// Says what was answered, after the name of the server.
    pub fn shown(&self) -> String {
        let detail = match self.form {
            AnswerContentType::Reply => return format!("answered {}", self.status),
            AnswerContentType::Other => {
                return format!(
                    "answered {}, but not as a server of this program does; is the address right?",
                    self.status
                );
            }
            AnswerContentType::Problem => self.json.get("detail").unwrap_or(&self.json),
            AnswerContentType::Text => &self.json,
        };
        let text = detail.as_str().map_or_else(|| detail.to_string(), str::to_owned);
        let said: String = neutralise(&text, Layout::Line).chars().take(SAID_CHARS_MAX).collect();
        format!("answered {}: {}", self.status, said.trim())
    }
}

/// Why there is no answer that helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamServerError {
    /// What went wrong, for a person.
    pub why: String,
    /// The status of an answer that says only that.
    pub status: Option<u16>,
}

impl TeamServerError {
    /// Makes an error of a reason.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), status: None }
    }
}

/// The team's server.
pub struct TeamServer {
    address: ServerAddress,
    client: HttpClient,
}

/// A request under way.
pub struct PendingAnswer {
    answer: Receiver<Result<ServerAnswer, TeamServerError>>,
    begun: Instant,
}

impl TeamServer {
    /// Prepares to reach a server; nothing is sent yet.
    ///
    /// # Errors
    /// A sentence: there are no certificates to believe.
    pub fn at(
        address: ServerAddress,
        token: String,
        certificates: Option<&std::path::Path>,
    ) -> Result<Self, String> {
        let url = address.0.clone();
        let trust = match url.is_encrypted() {
            true => authorities(certificates)?,
            false => TlsTrust::System,
        };
        let client = HttpClient::new(ServerAccess {
            url,
            key: Some((KeyHeader::Bearer, token)),
            trust,
            connect_max: REQUEST,
            idle_max: IDLE_MAX,
        });
        Ok(Self { address, client })
    }

    /// Returns its address without its secrets.
    pub fn shown(&self) -> String {
        self.address.shown()
    }

    /// Sends a request. Its answer is waited for by [`PendingAnswer::wait`]; it goes on when nobody waits any more.
    pub fn ask(&self, request: ServerRequest) -> PendingAnswer {
        let (done, answer) = sync_channel(1);
        let client = self.client.clone();
        let work = move || {
            let _ = done.send(answered(&client, &request));
        };
        // Without a thread there is nobody who would answer, which is told as such.
        let _ = std::thread::Builder::new().name("team-server".to_owned()).spawn(work);
        PendingAnswer { answer, begun: Instant::now() }
    }
}

impl PendingAnswer {
    /// Waits until this long after the request was sent.
    pub fn wait(self, patience: Duration) -> Result<ServerAnswer, TeamServerError> {
        let left = patience.saturating_sub(self.begun.elapsed());
        self.answer.recv_timeout(left).unwrap_or_else(|error| {
            Err(TeamServerError::new(match error {
                RecvTimeoutError::Timeout => {
                    format!("it did not answer in {} ms", patience.as_millis())
                }
                RecvTimeoutError::Disconnected => "the request was given up".to_owned(),
            }))
        })
    }
}

fn answered(client: &HttpClient, request: &ServerRequest) -> Result<ServerAnswer, TeamServerError> {
    let path = format!("{PREFIX}{}", request.path);
    let body = request.body.as_ref().map(Value::to_string);
    let mut headers = vec![("accept", BOTH_FORMS)];
    headers.extend(request.agent.as_deref().map(|agent| ("x-agent", agent)));
    headers.extend(request.idempotency_key.as_deref().map(|mark| ("idempotency-key", mark)));
    let sent = HttpRequest {
        method: if body.is_some() { Method::POST } else { Method::GET },
        path: &path,
        headers: &headers,
        body: body.as_deref().map(str::as_bytes),
        until: Instant::now() + REQUEST,
        answer_bytes_max: ANSWER_BYTES_MAX,
    };
    let answer = match client.send(&sent) {
        // A connection that was kept may have ended meanwhile. Every request may be sent twice: it has its id or its mark.
        Err(HttpError::Connection(_)) => client.send(&sent),
        other => other,
    };
    answer.map(ServerAnswer::from).map_err(|error| {
        TeamServerError::new(match error {
            HttpError::NoConnection | HttpError::TimedOut => "it did not answer".to_owned(),
            HttpError::Connection(error) => error.to_string(),
            other => other.to_string(),
        })
    })
}

impl From<HttpAnswer> for ServerAnswer {
    fn from(answer: HttpAnswer) -> Self {
        let text = String::from_utf8_lossy(&answer.body);
        let json = serde_json::from_str(&text).unwrap_or_else(|_| text.trim().into());
        let form =
            AnswerContentType::from_header(answer.content_type.as_deref().unwrap_or_default());
        Self { status: answer.status, form, json }
    }
}

/// Returns a text as it may stand in a path or a query.
pub fn url_encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

/// Returns a query of fields, each of which may have several values.
pub fn query_string(fields: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in fields {
        let values = match value {
            Value::Array(values) => values.iter().collect(),
            one => vec![one],
        };
        for value in values {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            pairs.push(format!("{name}={}", url_encoded(&text)));
        }
    }
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};

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

    /// A server that answers each request on one connection, one after the other, by what it was sent.
    fn server(connections: Vec<Vec<&'static str>>) -> (TeamServer, Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sent, requests) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for answers in connections {
                let (stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream);
                for answer in answers {
                    let Some(request) = request(&mut reader) else { break };
                    sent.send(request).unwrap();
                    reader.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            }
            // Whoever comes now is heard by nobody.
            let _left = listener.accept();
            std::thread::park();
        });
        let address = ServerAddress::parse(&address).unwrap();
        (TeamServer::at(address, "secret".to_owned(), None).unwrap(), requests)
    }

    fn request(reader: &mut BufReader<TcpStream>) -> Option<String> {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let begun = head.len();
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
            let line = head.get(begun..).unwrap().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        Some(head + &String::from_utf8(body).unwrap())
    }

    const PATIENCE: Duration = Duration::from_secs(9);
    const REPLY: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/vnd.agent-knowledge.reply+json\r\ncontent-length: 12\r\n\r\n{\"text\":\"a\"}";

    // S-REMOTE-1
    #[test]
    fn a_request_has_the_token_the_agent_and_its_mark() {
        let (server, requests) = server(vec![vec![REPLY, REPLY]]);
        let post = ServerRequest {
            idempotency_key: Some("m1".to_owned()),
            ..ServerRequest::post(
                "memories".to_owned(),
                serde_json::json!({}),
                Some("jane".to_owned()),
            )
        };
        let answer = server.ask(post).wait(PATIENCE).unwrap();
        assert_eq!((answer.status, &answer.json), (200, &serde_json::json!({ "text": "a" })));
        let sent = requests.recv().unwrap();
        assert!(sent.starts_with("POST /api/v1/memories HTTP/1.1\r\n") && sent.ends_with("{}"));
        for header in ["authorization: Bearer secret", "x-agent: jane", "idempotency-key: m1"] {
            assert!(sent.contains(&format!("{header}\r\n")), "{sent}");
        }
        let accepts = sent.matches("accept: ").count();
        assert!(accepts == 1 && sent.contains(&format!("accept: {BOTH_FORMS}\r\n")), "{sent}");
        // Over the same connection.
        server.ask(ServerRequest::get("status".to_owned())).wait(PATIENCE).unwrap();
        assert!(requests.recv().unwrap().starts_with("GET /api/v1/status HTTP/1.1\r\n"));
    }

    // S-REMOTE-1
    #[test]
    fn a_connection_that_ended_is_made_again() {
        // The second request comes to a connection that ends without an answer.
        let (server, _requests) = server(vec![vec![REPLY, ""], vec![REPLY]]);
        for _ in 0..2 {
            let asked = server.ask(ServerRequest::get("status".to_owned()));
            assert_eq!(asked.wait(PATIENCE).unwrap().status, 200);
        }
        let waiting = server.ask(ServerRequest::get("status".to_owned()));
        let late = waiting.wait(Duration::from_millis(50)).unwrap_err();
        assert_eq!(late.why, "it did not answer in 50 ms");
    }
}
