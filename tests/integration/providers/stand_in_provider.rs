//! A stand-in for a provider: `/v1/embeddings` with vectors that a test chooses, on a port of its own. It is none of the real ones.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Returns the vector of a text.
pub type VectorOf = fn(&str) -> Vec<f32>;

/// A server that runs until the test ends.
pub struct StandInProvider {
    pub url: String,
    state: Arc<State>,
}

struct State {
    vector_of: VectorOf,
    is_held: AtomicBool,
    texts: AtomicUsize,
    /// The texts that came, also those that were not embedded.
    seen: Mutex<Vec<String>>,
}

impl StandInProvider {
    pub fn start(vector_of: VectorOf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (is_held, texts) = (AtomicBool::new(false), AtomicUsize::new(0));
        let state = Arc::new(State { vector_of, is_held, texts, seen: Mutex::default() });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || while serve(&stream, &state).is_some() {});
            }
        });
        Self { url, state }
    }

    /// Answers batches with 503 from now on, and single texts as before: the probe and queries are such.
    pub fn hold(&self, is_held: Held) {
        self.state.is_held.store(is_held == Held::Yes, Ordering::SeqCst);
    }

    /// Tells whether a text with these words was sent here.
    pub fn has_seen(&self, words: &str) -> bool {
        self.state.seen.lock().unwrap().iter().any(|text| text.contains(words))
    }

    /// Returns the texts that were sent here.
    pub fn seen(&self) -> Vec<String> {
        self.state.seen.lock().unwrap().clone()
    }

    /// The number of texts that were embedded.
    pub fn texts(&self) -> usize {
        self.state.texts.load(Ordering::SeqCst)
    }
}

/// Whether batches have to wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Yes,
    No,
}

/// Answers one request of a connection; `None` at its end.
fn serve(stream: &TcpStream, state: &State) -> Option<()> {
    let asked = received(&mut BufReader::new(stream))?;
    let texts: Vec<&str> =
        asked["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    state.seen.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
    let is_held = texts.len() > 1 && state.is_held.load(Ordering::SeqCst);
    let (status, answer) = match is_held {
        true => ("503 Service Unavailable", json!({ "error": { "message": "not now" } })),
        false => ("200 OK", vectors(&texts, state)),
    };
    answered(stream, status, &answer.to_string())
}

/// Reads one request with a body of JSON; `None` at the end of a connection.
pub fn received(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap())
}

/// Answers a request with JSON.
pub fn answered(mut stream: &TcpStream, status: &str, answer: &str) -> Option<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all((head + answer).as_bytes()).ok()
}

fn vectors(texts: &[&str], state: &State) -> Value {
    state.texts.fetch_add(texts.len(), Ordering::SeqCst);
    let one = |(index, text): (usize, &&str)| json!({ "index": index, "embedding": (state.vector_of)(text) });
    json!({ "data": texts.iter().enumerate().map(one).collect::<Vec<Value>>() })
}

/// Numbers per vector.
const DIMS: usize = 96;

/// A direction that belongs to a number: with this many dimensions two of ten thousand are never near.
fn direction(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut next = || {
        // A generator of xorshift's family; any would do.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        f32::from(u16::try_from(state >> 48).unwrap()) / 32_768.0 - 1.0
    };
    (0..DIMS).map(|_| next()).collect()
}

/// The number in a text such as `memory 17`.
fn number_in(text: &str) -> u64 {
    let digits: String =
        text.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// One model: the query `find N` means the memory N.
pub fn model_a(text: &str) -> Vec<f32> {
    direction(number_in(text))
}

/// Another model of the same width: the query `find N` means the memory N + 1, and no vector is near one of the first model.
pub fn model_b(text: &str) -> Vec<f32> {
    let shift = u64::from(text.starts_with("find"));
    direction(1_000_000 + number_in(text) + shift)
}
