//! The protocol between a retriever and its clients: one JSON object per line, requests and answers
//! in turn. Not here: the bytes (`stream`).

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stream::LineStream;
use event::Problems;
use requests::caller::Caller;
use requests::{ApiError, Reply, Request, Voice};
use writer::exit::Exit;

/// The protocol version. A client with another version answers in its own process. The fields
/// `protocol` and `version` of both hellos, and the request to leave, never change.
pub const PROTOCOL: u32 = 11;

/// The longest line in bytes. The longest request holds an event of 64 kB with every character
/// escaped, the longest answer twenty whole memories, twice.
const LINE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The client's hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    pub version: String,
    pub pid: u32,
    /// The command it serves: `mcp`, `search`.
    pub program: String,
    pub caller: Caller,
}

/// The part of a hello that every protocol version has.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProtocolVersion {
    pub protocol: u32,
}

/// The retriever's hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub protocol: u32,
    pub version: String,
    pub pid: u32,
}

/// What a client asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetrieverRequest {
    /// Asks the memory, in somebody's name.
    Memory { request: Box<Request>, voice: Voice },
    /// Asks the retriever to stop, because a newer one is coming or the user wants it.
    Leave,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireAnswer {
    Reply { text: String, json: Value },
    Invalid(Problems),
    NotFound(String),
    Failed { exit: Exit, message: String },
}

impl WireAnswer {
    pub fn from_result(answer: Result<Reply, ApiError>) -> Self {
        match answer {
            Ok(Reply { text, json }) => Self::Reply { text, json },
            Err(ApiError::Invalid(problems)) => Self::Invalid(problems),
            Err(ApiError::NotFound(message)) => Self::NotFound(message),
            Err(ApiError::Failed { exit, message }) => Self::Failed { exit, message },
        }
    }

    pub fn into_result(self) -> Result<Reply, ApiError> {
        match self {
            Self::Reply { text, json } => Ok(Reply { text, json }),
            Self::Invalid(problems) => Err(ApiError::Invalid(problems)),
            Self::NotFound(message) => Err(ApiError::NotFound(message)),
            Self::Failed { exit, message } => Err(ApiError::Failed { exit, message }),
        }
    }
}

/// Sends a message.
pub fn send(lines: &mut LineStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message).map_err(io::Error::from)?;
    line.push(b'\n');
    lines.write(&line)
}

/// Receives a message. `None` when the other side has closed the connection.
///
/// # Errors
/// `InvalidData` for a message that cannot be parsed.
pub fn receive<T: DeserializeOwned>(lines: &mut LineStream) -> io::Result<Option<T>> {
    let Some(line) = lines.read(LINE_BYTES_MAX)? else { return Ok(None) };
    serde_json::from_slice(&line).map(Some).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use event::{Author, Draft, Verdict};
    use memory::Maturity;
    use requests::listing::{RecordsRequest, RecordsScope};
    use requests::{
        ChangeExtent, ChangeRequest, CompleteRequest, CompletionSlot, Explain, Flagged, Listing,
        Mode, ReviewRequest, SearchRequest, SearchScope, Shape, StaleRequest, Sweep, SweepRequest,
        WantedChange,
    };
    use search::{Failure, TimePoint};

    fn round_trip(request: impl Into<Request>) {
        round_trips(&RetrieverRequest::Memory {
            request: Box::new(request.into()),
            voice: Voice::Caller,
        });
    }

    fn round_trips(ask: &RetrieverRequest) {
        let line = serde_json::to_string(ask).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(&serde_json::from_str::<RetrieverRequest>(&line).unwrap(), ask, "{line}");
    }

    #[test]
    fn every_request_round_trips() {
        let search = SearchRequest {
            query: "a\nb".into(),
            scope: SearchScope::Only(Some("api".to_owned())),
            kinds: vec!["error".to_owned()],
            not_kinds: vec!["session".to_owned()],
            failure: Some(Failure { message: "a".to_owned(), ignored_words: "b".to_owned() }),
            since: Some(TimePoint::Ago(Duration::from_secs(3_600 * 24 * 30))),
            until: TimePoint::parse("2026-03-01"),
            mode: Mode::Lexical,
            explain: Explain::Components,
            shape: Shape::Words,
            flagged: Flagged::Included,
            ..SearchRequest::default()
        };
        let at = TimePoint::parse("2026-03-01T12:00:00.5Z");
        round_trip(Request::Search(SearchRequest {
            since: at,
            scope: SearchScope::All(None),
            ..search.clone()
        }));
        round_trip(Request::Search(search));
        let mut draft = Draft { lesson: Some("x".to_owned()), ..Draft::default() };
        draft.problems.add("tags", "must be strings");
        round_trip(Request::Save(Box::new(draft)));
        for change in [
            WantedChange::Feedback(Verdict::Worked),
            WantedChange::Superseded { by: "b".to_owned() },
            WantedChange::Forgotten,
        ] {
            let ids = vec!["a".to_owned()];
            let request = ChangeRequest { ids, change, note: Some("n".to_owned()) };
            round_trip(request);
        }
        round_trip(Request::Review(ReviewRequest {
            repo: Some("api".to_owned()),
            limit: 5,
            ..ReviewRequest::default()
        }));
        let sweep = Sweep::Purge(Author::Session("s".to_owned()));
        round_trip(Request::Sweep(SweepRequest { sweep, extent: ChangeExtent::Show, note: None }));
        round_trip(Request::Stale(StaleRequest {
            repo: Some("api".to_owned()),
            folders: Vec::new(),
        }));
        round_trip(Request::List(Listing::OfAgentFiles));
        round_trip(Request::List(Listing::OfSession("s".to_owned())));
        round_trip(Request::List(Listing::Grown { min: Maturity::Proven, max_tokens: 800 }));
        round_trip(Request::List(Listing::Known(vec!["a".to_owned()])));
        let of = RecordsScope::Repo("api".to_owned());
        let cursor = Some("-~m1~0".to_owned());
        round_trip(Request::List(Listing::Records(RecordsRequest {
            of,
            cursor,
            ..<_>::default()
        })));
        round_trip(Request::Show(vec!["a".to_owned()]));
        let typed = "memory://".to_owned();
        round_trip(Request::Complete(CompleteRequest { slot: CompletionSlot::File, typed }));
        round_trips(&RetrieverRequest::Leave);
    }

    #[test]
    fn every_answer_round_trips() {
        for answer in [
            Ok(Reply { text: "t".to_owned(), json: serde_json::json!({ "a": [1.5, null] }) }),
            Err(ApiError::Invalid(Problems::one("query", "is empty"))),
            Err(ApiError::NotFound("no".to_owned())),
            Err(ApiError::Failed { exit: Exit::Busy, message: "held".to_owned() }),
        ] {
            let line = serde_json::to_string(&WireAnswer::from_result(answer.clone())).unwrap();
            let received: WireAnswer = serde_json::from_str(&line).unwrap();
            assert_eq!(format!("{:?}", received.into_result()), format!("{answer:?}"));
        }
    }
}
