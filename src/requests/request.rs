//! Every request as one value, and the one call that answers it. A process that has no answer of its own passes the value on. Not here:
//! the fields of a request (a file each), the answers (`api`).

use serde::{Deserialize, Serialize};

use crate::analysis::{AnalyzeRequest, PatternsRequest};
use crate::api_error::ApiError;
use crate::bulk_change::SweepRequest;
use crate::change::{ChangeRequest, Voice};
use crate::context::ContextRequest;
use crate::links::LinkRequest;
use crate::listing::{Listing, RecentArguments, RecordsScope, ReviewRequest, StaleRequest};
use crate::log_events::LogEventsRequest;
use crate::prompts::CompleteRequest;
use crate::related::{RelatedRequest, WalkStart};
use crate::search::{SearchRequest, SearchScope};
use crate::sessions::SessionSearchRequest;
use event::Draft;
use reply::{Answer, Reply, Shape};
use writer::exit::Exit;
use writer::takes_directory;

/// What can be asked of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Finds memories; given ids, shows those in full.
    Search(SearchRequest),
    /// Finds past sessions of other tools; given ids, shows their exchanges.
    Sessions(SessionSearchRequest),
    /// Makes the briefing at the start of work.
    Context(ContextRequest),
    /// Writes an event through the writer. Of a model its texts are kept; its claims about who wrote it and when are
    /// not (`writer::Identity`).
    Save(Box<Draft>),
    /// Writes events about memories. All memories are found before the first event is written; only after
    /// [`ApiError::Failed`](crate::ApiError::Failed) some events may have been written.
    Change(ChangeRequest),
    /// Lists pairs of memories of a repository that may contradict each other.
    Review(ReviewRequest),
    /// Shows a change of many memories at once, or does it.
    Sweep(SweepRequest),
    /// Makes or ends links. A wrong link is not written and does not stop the others.
    Link(LinkRequest),
    /// Lists what is related to a memory or a file.
    Related(RelatedRequest),
    /// Analyzes the whole memory.
    Analyze(AnalyzeRequest),
    /// Lists patterns that several repositories learned independently, or saves one of them as a memory.
    Patterns(PatternsRequest),
    /// Lists memories of the caller's repository that its work tree or git contradict.
    Stale(StaleRequest),
    /// Lists memories: `memories`, or `lines`, in the JSON.
    List(Listing),
    /// Shows memories in full, by id or any unique short form of it; an unknown one is answered by near ids.
    Show(Vec<String>),
    /// Shows what the events of the logs did: by day, to one memory, or to all.
    LogEvents(LogEventsRequest),
    /// Lists the newest memories.
    Recent(RecentArguments),
    /// Completes what somebody begins to type: `values` and their `total` in the JSON.
    Complete(CompleteRequest),
    /// Returns the state of the store, the indexes and the model.
    Status,
    /// Computes one checksum of the state, in time proportional to the number of memories. It fails where a log
    /// cannot be read: the checksum would be of another state.
    Digest,
    /// Checks everything around the logs, and changes nothing: `checks` in the JSON.
    Doctor,
    /// Returns the repository that the working directory belongs to, and why.
    Whoami,
}

/// What answers requests: the memory of this process, the shared retriever, or a team's server beside them.
pub trait Api: Send + Sync {
    /// Answers a request in somebody's name.
    ///
    /// # Errors
    /// [`ApiError`].
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError>;

    /// Answers a request of the caller.
    ///
    /// # Errors
    /// [`ApiError`].
    fn ask(&self, request: &Request) -> Result<Reply, ApiError> {
        self.ask_as(request, &Voice::Caller)
    }
}

impl dyn Api + '_ {
    /// Answers a request of the caller with a value.
    ///
    /// # Errors
    /// [`ApiError`], also where an older or newer program answers, and lacks a field.
    pub fn ask_for<A: Answer>(&self, request: &Request) -> Result<A, ApiError> {
        let reply = self.ask(request)?;
        reply.answer().map_err(|error| unread_answer(&error))
    }
}

/// The error for an answer that lacks a field, since an older or newer program made it.
#[must_use]
pub fn unread_answer(error: &serde_json::Error) -> ApiError {
    let message = format!("failed to read the answer: {error}");
    ApiError::Failed { exit: Exit::Internal, message }
}

impl Request {
    /// Tells whether it may write something.
    #[must_use]
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Self::Save(_) | Self::Change(_) | Self::Sweep(_) | Self::Link(_) | Self::Patterns(_)
        )
    }

    /// Tells whether its answer depends on the working directory: whether it leaves open which repository it means.
    #[must_use]
    pub fn takes_directory(&self) -> bool {
        match self {
            // Shown by id, a memory is the same from everywhere; otherwise the repository here ranks first.
            Self::Search(request) => {
                let is_unnamed =
                    matches!(&request.scope, SearchScope::All(None) | SearchScope::Only(None));
                is_unnamed && request.ids.is_empty()
            }
            Self::Context(request) => request.repo.is_none(),
            Self::Save(draft) => takes_directory(draft),
            Self::Review(request) => request.repo.is_none(),
            Self::Related(request) => {
                matches!(&request.start, WalkStart::Change(_)) && request.repo.is_none()
            }
            Self::Stale(request) => request.repo.is_none(),
            Self::List(listing) => lists_here(listing),
            Self::Whoami => true,
            // `tests` finds a verb that is missing here: over a network its repository must be named.
            _ => false,
        }
    }

    /// Returns the request of a caller that reads the words of an answer alone.
    #[must_use]
    pub fn words_only(self) -> Self {
        let shape = Shape::Words;
        match self {
            Self::Search(request) => Self::Search(SearchRequest { shape, ..request }),
            Self::Context(request) => Self::Context(ContextRequest { shape, ..request }),
            Self::Sessions(request) => Self::Sessions(SessionSearchRequest { shape, ..request }),
            other => other,
        }
    }

    /// Returns the request of somebody in a session: what it saves is of the session, and a search of past sessions leaves it out,
    /// unless the request says otherwise.
    #[must_use]
    pub fn in_session(self, session: Option<String>) -> Self {
        match self {
            Self::Save(mut draft) => {
                draft.session_id = draft.session_id.take().or(session);
                Self::Save(draft)
            }
            Self::Sessions(request) => {
                let without = request.without.clone().or(session);
                Self::Sessions(SessionSearchRequest { without, ..request })
            }
            other => other,
        }
    }

    /// Returns the request as it is sent a second time, after a first try that got no answer.
    #[must_use]
    pub fn as_retry(&self) -> Self {
        match self.clone() {
            Self::Save(mut draft) => {
                draft.is_retry = true;
                Self::Save(draft)
            }
            // The latest change counts, one voice has one verdict, an existing link writes nothing, and an accepted pattern is no
            // longer suggested: to repeat them changes nothing.
            other => other,
        }
    }
}

fn lists_here(listing: &Listing) -> bool {
    match listing {
        Listing::OfAgentFiles | Listing::Grown { .. } => true,
        Listing::Records(request) => request.of == RecordsScope::Here,
        _ => false,
    }
}

/// A request of one kind is a request.
macro_rules! request_from {
    ($($kind:ident($of:ty)),* $(,)?) => {
        $(impl From<$of> for Request {
            fn from(request: $of) -> Self {
                Self::$kind(request)
            }
        })*
    };
}

request_from!(
    Search(SearchRequest),
    Sessions(SessionSearchRequest),
    Context(ContextRequest),
    Change(ChangeRequest),
    Review(ReviewRequest),
    Sweep(SweepRequest),
    Link(LinkRequest),
    Related(RelatedRequest),
    Analyze(AnalyzeRequest),
    Patterns(PatternsRequest),
    Stale(StaleRequest),
    List(Listing),
    LogEvents(LogEventsRequest),
    Complete(CompleteRequest),
);
