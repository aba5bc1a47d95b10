//! A stand-in for a reranker: `/v1/rerank` in the form of Jina, on a port of its own, with scores or faults that a test chooses. It is none
//! of the real ones.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::stand_in_provider::{answered, received};

/// Returns the score of a text.
pub type ScoreOf = fn(&str) -> f64;

/// What a reranker does when it is asked.
#[derive(Clone, Copy)]
pub enum Deed {
    /// It answers with scores.
    Scores(ScoreOf),
    /// It answers with this status and this body.
    Says(&'static str, &'static str),
    /// It never answers.
    Nothing,
}

/// A server that runs until the test ends.
pub struct StandInReranker {
    pub url: String,
    /// The host and port, as messages name it.
    pub host: String,
    deed: Arc<Mutex<Deed>>,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl StandInReranker {
    pub fn start(deed: Deed) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (deed, bodies) = (Arc::new(Mutex::new(deed)), Arc::<Mutex<Vec<Value>>>::default());
        let (shared, seen) = (Arc::clone(&deed), Arc::clone(&bodies));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (deed, seen) = (Arc::clone(&shared), Arc::clone(&seen));
                std::thread::spawn(move || while serve(&stream, &deed, &seen).is_some() {});
            }
        });
        Self { url: format!("http://{host}"), host, deed, bodies }
    }

    /// Does this from now on.
    pub fn does(&self, deed: Deed) {
        *self.deed.lock().unwrap() = deed;
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }

    /// Tells whether any request has these words.
    pub fn has_seen(&self, words: &str) -> bool {
        self.asked().iter().any(|body| body.to_string().contains(words))
    }
}

/// Answers one request of a connection; `None` at its end.
fn serve(stream: &TcpStream, deed: &Mutex<Deed>, seen: &Mutex<Vec<Value>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let asked = received(&mut reader)?;
    seen.lock().unwrap().push(asked.clone());
    let deed = *deed.lock().unwrap();
    let (status, answer) = match deed {
        Deed::Scores(score_of) => ("200 OK", scored(&asked, score_of)),
        Deed::Says(status, body) => (status, body.to_owned()),
        Deed::Nothing => {
            // The client hangs up.
            let _ = reader.read_line(&mut String::new());
            return None;
        }
    };
    answered(stream, status, &answer)
}

/// The best first, as rerankers answer.
fn scored(asked: &Value, score_of: ScoreOf) -> String {
    let texts = asked["documents"].as_array().unwrap();
    let mut scores: Vec<(usize, f64)> =
        texts.iter().map(|text| score_of(text.as_str().unwrap())).enumerate().collect();
    scores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let one = |(index, score): &(usize, f64)| json!({ "index": index, "relevance_score": score });
    json!({ "model": "m", "results": scores.iter().map(one).collect::<Vec<Value>>() }).to_string()
}
