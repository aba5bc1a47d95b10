//! The protocol between a retriever and its clients: one JSON object per line, requests and answers
//! in turn. Not here: the bytes (`stream`).

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::stream::LineStream;
use api::caller::Caller;
use api::{
    AnalyzeRequest, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest, Listing,
    LogEventsRequest, PatternsRequest, RelatedRequest, Reply, ReviewRequest, SearchRequest,
    SessionSearchRequest, StaleRequest, SweepRequest, Voice,
};
use event::{Draft, Problems};
use writer::exit::Exit;

/// The protocol version. A client with another version answers in its own process. The fields
/// `protocol` and `version` of both hellos, and the request to leave, never change.
pub const PROTOCOL: u32 = 8;

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

/// A request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    Search(SearchRequest),
    SearchSessions(SessionSearchRequest),
    Context(ContextRequest),
    Save {
        draft: Box<Draft>,
        client: Option<String>,
    },
    Change {
        request: ChangeRequest,
        voice: Voice,
    },
    Review(ReviewRequest),
    Sweep(SweepRequest),
    Link {
        request: LinkRequest,
        voice: Voice,
    },
    Related(RelatedRequest),
    Analyze(AnalyzeRequest),
    Patterns {
        request: PatternsRequest,
        voice: Voice,
    },
    Stale(StaleRequest),
    List(Listing),
    Show(Vec<String>),
    LogEvents(LogEventsRequest),
    Recent(usize),
    Complete(CompleteRequest),
    Status,
    Digest,
    Doctor,
    Whoami,
    /// Asks the retriever to stop, because a newer one is coming or the user wants it.
    Leave,
}

impl Ask {
    /// Returns the request as it is sent a second time, after a first try that got no answer.
    pub fn sent_again(&self) -> Self {
        match self.clone() {
            Self::Save { mut draft, client } => {
                draft.is_retry = true;
                Self::Save { draft, client }
            }
            other => other,
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Reply { text: String, json: Value },
    Invalid(Problems),
    NotFound(String),
    Failed { exit: Exit, message: String },
}

impl Answer {
    pub fn of(answer: Result<Reply, ApiError>) -> Self {
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
pub fn send(lines: &mut LineStream, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what).map_err(io::Error::from)?;
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
    use api::requests::listing::{RecordsOf, RecordsRequest};
    use api::{Doing, Explain, Flagged, Mode, SearchScope, Shape, Slot, Sweep, Wanted};
    use event::{Author, Verdict};
    use memory::Maturity;
    use search::{Failure, Point};

    fn round_trip(ask: &Ask) {
        let line = serde_json::to_string(ask).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(&serde_json::from_str::<Ask>(&line).unwrap(), ask, "{line}");
    }

    #[test]
    fn every_request_round_trips() {
        let search = SearchRequest {
            query: "a\nb".into(),
            scope: SearchScope::Only(Some("api".to_owned())),
            kinds: vec!["error".to_owned()],
            not_kinds: vec!["session".to_owned()],
            failure: Some(Failure { says: "a".to_owned(), besides: "b".to_owned() }),
            since: Some(Point::Ago(Duration::from_secs(3_600 * 24 * 30))),
            until: Point::parse("2026-03-01"),
            mode: Mode::Lexical,
            explain: Explain::Components,
            shape: Shape::Words,
            flagged: Flagged::Included,
            ..SearchRequest::default()
        };
        let at = Point::parse("2026-03-01T12:00:00.5Z");
        round_trip(&Ask::Search(SearchRequest {
            since: at,
            scope: SearchScope::All(None),
            ..search.clone()
        }));
        round_trip(&Ask::Search(search));
        let mut draft = Draft { lesson: Some("x".to_owned()), ..Draft::default() };
        draft.problems.add("tags", "must be strings");
        round_trip(&Ask::Save { draft: Box::new(draft), client: Some("codex".to_owned()) });
        for change in [
            Wanted::Feedback(Verdict::Worked),
            Wanted::Superseded { by: "b".to_owned() },
            Wanted::Forgotten,
        ] {
            let ids = vec!["a".to_owned()];
            let request = ChangeRequest { ids, change, note: Some("n".to_owned()) };
            round_trip(&Ask::Change { request, voice: Voice::Caller });
        }
        round_trip(&Ask::Review(ReviewRequest { repo: Some("api".to_owned()), limit: 5 }));
        let sweep = Sweep::Purge(Author::Session("s".to_owned()));
        round_trip(&Ask::Sweep(SweepRequest { sweep, extent: Doing::Show, note: None }));
        round_trip(&Ask::Stale(StaleRequest { repo: Some("api".to_owned()) }));
        round_trip(&Ask::List(Listing::OfAgentFiles));
        round_trip(&Ask::List(Listing::OfSession("s".to_owned())));
        round_trip(&Ask::List(Listing::Grown { min: Maturity::Proven, max_tokens: 800 }));
        round_trip(&Ask::List(Listing::Known(vec!["a".to_owned()])));
        let of = RecordsOf::Repo("api".to_owned());
        let cursor = Some("-~m1~0".to_owned());
        round_trip(&Ask::List(Listing::Records(RecordsRequest { of, cursor })));
        round_trip(&Ask::Show(vec!["a".to_owned()]));
        let typed = "memory://".to_owned();
        round_trip(&Ask::Complete(CompleteRequest { slot: Slot::File, typed }));
        round_trip(&Ask::Leave);
    }

    #[test]
    fn every_answer_round_trips() {
        for answer in [
            Ok(Reply { text: "t".to_owned(), json: serde_json::json!({ "a": [1.5, null] }) }),
            Err(ApiError::Invalid(Problems::one("query", "is empty"))),
            Err(ApiError::NotFound("no".to_owned())),
            Err(ApiError::Failed { exit: Exit::Busy, message: "held".to_owned() }),
        ] {
            let line = serde_json::to_string(&Answer::of(answer.clone())).unwrap();
            let received: Answer = serde_json::from_str(&line).unwrap();
            assert_eq!(format!("{:?}", received.into_result()), format!("{answer:?}"));
        }
    }
}
