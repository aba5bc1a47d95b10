//! The one interface that every face calls: MCP, the command line, HTTP and hooks. [`requests`] defines what can be
//! asked, [`Api`] names the calls, and [`local`] answers them in this process. Not here: how a call arrives (crate
//! `retriever`), the words of a reply (`reply`).

pub mod caller;
#[cfg(any(test, feature = "testing"))]
pub mod fake_api;
pub mod journal;
mod likeness;
pub mod local;
pub mod query_log;
pub mod requests;
pub mod reranker;
pub mod rest_forms;
pub mod second_source;
pub mod work_trees;

use thiserror::Error;

use event::{Draft, Problems};
use writer::exit::Exit;

pub use learning::signature;

pub use self::likeness::nearest;

pub use self::requests::analysis::{
    ANALYSIS_TOKENS_DEFAULT, AcceptedPattern, AnalyzeRequest, BRIEF_TOKENS_DEFAULT,
    FINDINGS_DEFAULT, FINDINGS_MAX, PatternsRequest, Topic,
};
pub use self::requests::bounds::{
    CONTEXT_TOKENS_DEFAULT, IDS_MAX, LIMIT_DEFAULT, LIMIT_MAX, MIN_RELEVANCE_PERCENT_DEFAULT,
    QUERY_BYTES_MAX, SEARCH_TOKENS_DEFAULT, TOKENS_MAX, TOKENS_MIN,
};
pub use self::requests::bulk_change::{Doing, Sweep, SweepRequest};
pub use self::requests::change::{ChangeRequest, Voice, Wanted};
pub use self::requests::context::ContextRequest;
pub use self::requests::define::ApiRequest;
pub use self::requests::links::{EDITS_MAX, Edit, LinkAction, LinkRequest, Numbered, Terms};
pub use self::requests::listing::{Listing, ReviewRequest, StaleRequest};
pub use self::requests::log_events::LogEventsRequest;
pub use self::requests::prompts::CompleteRequest;
pub use self::requests::related::{
    DEPTH_DEFAULT, DEPTH_IMPACT, DEPTH_MAX, RelatedRequest, WalkStart,
};
pub use self::requests::search::{Mode, SearchRequest, SearchScope};
pub use self::requests::sessions::{FailedCommand, SessionSearchRequest};
pub use reply::{Explain, Reply, Shape};
pub use search::links::LinkDirection;
pub use search::{Failure, Flagged, Point, Slot, Tiers};

/// Why a call failed.
#[derive(Debug, Clone, Error)]
pub enum ApiError {
    /// The request is wrong; every problem names its field.
    #[error("{0}")]
    Invalid(#[from] Problems),
    /// There is no such memory or address; the message names near ones.
    #[error("{0}")]
    NotFound(String),
    /// Answering failed.
    #[error("{message}")]
    Failed {
        /// The exit code of a program that fails for it.
        exit: Exit,
        /// What happened, and the remedy.
        message: String,
    },
}

/// The calls that every face makes.
pub trait Api: Send + Sync {
    /// Finds memories; given ids, shows those in full.
    ///
    /// # Errors
    /// [`ApiError`].
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError>;

    /// Finds past sessions of other tools; given ids, shows their exchanges.
    ///
    /// # Errors
    /// [`ApiError`].
    fn search_sessions(&self, request: &SessionSearchRequest) -> Result<Reply, ApiError>;

    /// Makes the briefing at the start of work.
    ///
    /// # Errors
    /// [`ApiError`].
    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError>;

    /// Writes an event through the writer, for a model. Its texts are kept; its claims about who wrote it and when
    /// are not (`writer::Identity`). `client` names the agent.
    ///
    /// # Errors
    /// [`ApiError`]; then nothing was written.
    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError>;

    /// Writes events about memories. All memories are found before the first event is written.
    ///
    /// # Errors
    /// [`ApiError`]. Only after [`ApiError::Failed`] some events may have been written.
    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError>;

    /// Lists pairs of memories of a repository that may contradict each other.
    ///
    /// # Errors
    /// [`ApiError`].
    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError>;

    /// Shows a change of many memories at once, or does it.
    ///
    /// # Errors
    /// [`ApiError`].
    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError>;

    /// Makes or ends links. A wrong link is not written and does not stop the others.
    ///
    /// # Errors
    /// [`ApiError`].
    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError>;

    /// Lists what is related to a memory or a file.
    ///
    /// # Errors
    /// [`ApiError`].
    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError>;

    /// Analyzes the whole memory.
    ///
    /// # Errors
    /// [`ApiError`].
    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError>;

    /// Lists patterns that several repositories learned independently, or saves one of them as a memory.
    ///
    /// # Errors
    /// [`ApiError`].
    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError>;

    /// Lists memories of the caller's repository that its work tree or git contradict.
    ///
    /// # Errors
    /// [`ApiError`].
    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError>;

    /// Lists memories of the caller's repository: `memories`, or `lines`, in the JSON.
    ///
    /// # Errors
    /// [`ApiError`].
    fn list(&self, listing: &Listing) -> Result<Reply, ApiError>;

    /// Shows memories in full, by id or any unique short form of it.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] names near ids.
    fn show(&self, ids: &[String]) -> Result<Reply, ApiError>;

    /// Tells what the events of the logs did: by day, to one memory, or to all.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] where there is no such memory.
    fn log_events(&self, request: &LogEventsRequest) -> Result<Reply, ApiError>;

    /// Lists the newest memories.
    ///
    /// # Errors
    /// [`ApiError`].
    fn recent(&self, limit: usize) -> Result<Reply, ApiError>;

    /// Completes what somebody begins to type: `values` and their `total` in the JSON.
    ///
    /// # Errors
    /// [`ApiError`].
    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError>;

    /// Returns the state of the store, the indexes and the model.
    ///
    /// # Errors
    /// [`ApiError`].
    fn status(&self) -> Result<Reply, ApiError>;

    /// Computes one checksum of the state. It takes time in proportion to the number of memories.
    ///
    /// # Errors
    /// [`ApiError::Failed`] also where a log cannot be read: the checksum would be of another state.
    fn digest(&self) -> Result<Reply, ApiError>;

    /// Checks everything around the logs, and changes nothing: `checks` in the JSON.
    ///
    /// # Errors
    /// [`ApiError::Failed`] where this process cannot check it.
    fn doctor(&self) -> Result<Reply, ApiError>;

    /// Returns the repository that the working directory belongs to, and why.
    ///
    /// # Errors
    /// [`ApiError`].
    fn whoami(&self) -> Result<Reply, ApiError>;
}
