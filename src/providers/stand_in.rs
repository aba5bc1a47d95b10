//! A stand-in for a provider, for tests: a small HTTP server that answers each request as a test says. It is none of the real ones,
//! and knows of them only what `vector_forms` says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

/// A request as it came.
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    /// The head, with names in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// What is answered.
pub(crate) struct StandInAnswer {
    pub(crate) status: &'static str,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl StandInAnswer {
    pub(crate) fn json(body: &Value) -> Self {
        Self { status: "200 OK", headers: String::new(), body: body.to_string() }
    }

    pub(crate) fn status(status: &'static str, body: &str) -> Self {
        Self { status, headers: String::new(), body: body.to_owned() }
    }

    pub(crate) fn with(self, header: &str) -> Self {
        Self { headers: format!("{}{header}\r\n", self.headers), ..self }
    }
}

/// A server that runs until the test ends.
pub(crate) struct StandInServer {
    pub(crate) url: String,
    pub(crate) requests: Receiver<ReceivedRequest>,
}

impl StandInServer {
    /// Answers each request; `None` never answers.
    pub(crate) fn start(
        mut answer: impl FnMut(&ReceivedRequest) -> Option<StandInAnswer> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sent, requests) = channel();
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                if let Some(stream) = serve(stream, &mut answer, &sent) {
                    silent.push(stream);
                }
            }
        });
        Self { url, requests }
    }

    pub(crate) fn next(&self) -> ReceivedRequest {
        self.requests.recv_timeout(std::time::Duration::from_secs(30)).unwrap()
    }
}

/// Answers requests of one connection until it closes. Returns a connection that is to stay open without an answer.
fn serve(
    stream: TcpStream,
    answer: &mut impl FnMut(&ReceivedRequest) -> Option<StandInAnswer>,
    sent: &Sender<ReceivedRequest>,
) -> Option<TcpStream> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let received = received(&mut reader)?;
    let answer = answer(&received);
    let _ = sent.send(received);
    let Some(StandInAnswer { status, headers, body }) = answer else { return Some(stream) };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}\r\n",
        body.len()
    );
    let mut stream = stream;
    // A client that has read enough hangs up.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    None
}

fn received(reader: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        head.push_str(&format!("{}:{value}\n", name.to_ascii_lowercase()));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = head.lines().next()?.split(' ').nth(1)?.to_owned();
    Some(ReceivedRequest { path, head, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

/// The vector of a text: its letters, counted.
pub(crate) fn vector_of(text: &str) -> Value {
    let count = |wanted: u8| text.bytes().filter(|byte| byte % 4 == wanted).count();
    json!((0_u8..4).map(count).collect::<Vec<usize>>())
}

/// Answers as `/v1/embeddings` does.
pub(crate) fn openai(received: &ReceivedRequest) -> StandInAnswer {
    let texts = received.body["input"].as_array().unwrap();
    let one = |(index, text): (usize, &Value)| json!({ "index": index, "embedding": vector_of(text.as_str().unwrap()) });
    StandInAnswer::json(
        &json!({ "data": texts.iter().enumerate().map(one).collect::<Vec<Value>>() }),
    )
}
