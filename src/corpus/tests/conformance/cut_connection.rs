//! A connection to a server of HTTP that ends at a certain call, before or after the server had it, or asks that it be done later. Not
//! here: what is said on it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the cut takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostPart {
    /// The server never hears of the call.
    Question,
    /// The server does it, and nobody hears that.
    Answer,
    /// Nothing is lost: the door of our tests acknowledges the call, if it is a write, and applies it later.
    Time,
}

/// Asks the door to apply a write later: others that promise no order are applied before it, so many of them.
const LATE: &[u8] = b"x-door-late: 2\r\n";

/// A connection that ends.
pub struct CutConnection {
    port: u16,
    heard: Arc<AtomicUsize>,
    cut: usize,
}

impl CutConnection {
    /// Returns the port of a server on this machine. `None` for others, which are not to be cut.
    pub fn port_of(server: &str) -> Option<u16> {
        let port = server.strip_prefix("http://127.0.0.1:")?.trim_end_matches('/').parse().ok();
        if port.is_none() {
            eprintln!("skipped: {server} is not on this machine");
        }
        port
    }

    /// Passes on so many calls and no more.
    pub fn to(server: u16, cut: usize, lost: LostPart) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&heard);
        // Both threads end with the test's process, if not before.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let count = Arc::clone(&count);
                std::thread::spawn(move || pass_on(&stream.unwrap(), server, (cut, lost), &count));
            }
        });
        Self { port, heard, cut }
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Tells whether it came to the call at which it was to end.
    pub fn was_cut(&self) -> bool {
        self.heard.load(Ordering::SeqCst) > self.cut
    }
}

/// Passes calls on until one is to be cut; then all are. Of those that only come late there is one.
fn pass_on(client: &TcpStream, port: u16, (cut, lost): (usize, LostPart), heard: &AtomicUsize) {
    let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
    server.set_nodelay(true).unwrap();
    client.set_nodelay(true).unwrap();
    let (mut from_client, mut from_server) = (BufReader::new(client), BufReader::new(&server));
    while let Some(mut question) = message(&mut from_client) {
        let before = heard.fetch_add(1, Ordering::SeqCst);
        let is_cut = before >= cut && lost != LostPart::Time;
        if before == cut && lost == LostPart::Time {
            let behind_first = question.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            question.splice(behind_first..behind_first, LATE.iter().copied());
        }
        if is_cut && lost == LostPart::Question {
            return;
        }
        (&server).write_all(&question).unwrap();
        let Some(answer) = message(&mut from_server) else { return };
        if is_cut {
            return;
        }
        let mut client = client;
        client.write_all(&answer).unwrap();
    }
}

/// Reads a head and as many bytes as it says.
fn message(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    loop {
        let begin = bytes.len();
        if from.read_until(b'\n', &mut bytes).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&bytes[begin..]).to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    bytes.extend(body);
    Some(bytes)
}
