//! The one interface that every face calls: MCP, the command line, later HTTP and hooks.
//! Not here: how a call arrives (`mcp`, `cli`), what a reply looks like (`render`).

mod analysis;
pub mod caller;
mod links;
pub mod local;
pub mod query_log;
pub mod signature;
pub mod wire;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use event::{Author, Draft, Problems, Verdict};
use memory::Maturity;
use writer::exit::Exit;

pub use self::analysis::{
    ANALYSIS_TOKENS_DEFAULT, AnalyzeRequest, BRIEF_TOKENS_DEFAULT, FINDINGS_DEFAULT, FINDINGS_MAX,
    PatternsRequest, Topic,
};
pub use self::links::{
    DEPTH_DEFAULT, DEPTH_IMPACT, DEPTH_MAX, Deed, EDITS_MAX, Edit, LinkRequest, Numbered, Purpose,
    RelatedRequest, Terms, Way,
};
pub use reply::{Explain, Reply, Shape};
pub use search::{Failure, Flagged, Point, Slot};

/// Most hits of one reply: past this an agent reads a log, not an answer.
pub const LIMIT_MAX: usize = 20;
/// Hits of a reply unless asked otherwise.
pub const LIMIT_DEFAULT: usize = 5;
/// How likely it must be, in hundredths, that the best memory answers a query, unless another share is asked
/// for. No set measured loses more than two points of recall at five to it (benches/runs).
pub const MIN_RELEVANCE_PERCENT_DEFAULT: u8 = 10;
/// Tokens of a search reply unless asked otherwise: the founding hard cap.
pub const SEARCH_TOKENS_DEFAULT: usize = 500;
/// Tokens of a briefing unless asked otherwise.
pub const CONTEXT_TOKENS_DEFAULT: usize = 800;
/// Fewest tokens that can carry one memory with its frame.
pub const TOKENS_MIN: usize = 60;
/// Most tokens of one reply: beyond it clients cut replies off.
pub const TOKENS_MAX: usize = 8_000;
/// Longest query, in bytes: an error message with its stack; the rest would not change the answer.
pub const QUERY_BYTES_MAX: usize = 8 * 1024;
/// Most ids asked for at once.
pub const IDS_MAX: usize = 20;

/// Which repositories a search looks at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SearchScope {
    /// All of them, the one named first; `None` is the one of the working directory.
    All(Option<String>),
    /// Only the one named, by key or unique short name; `None` is the one of the working directory.
    Only(Option<String>),
}

impl Default for SearchScope {
    fn default() -> Self {
        Self::All(None)
    }
}

/// Which rankings a search uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Mode {
    /// Both, where the model is there.
    #[default]
    Hybrid,
    /// Words only.
    Lexical,
    /// Meaning only.
    Dense,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchRequest {
    /// What is looked for: a question, an error text, an identifier; with filters in it, if any.
    pub query: String,
    /// Where to look.
    pub scope: SearchScope,
    /// Only these kinds of event; empty for all.
    pub kinds: Vec<String>,
    /// Only memories of none of these kinds.
    pub not_kinds: Vec<String>,
    /// Only memories with all of these tags.
    pub tags: Vec<String>,
    /// Only memories about one of these files (a path, or its end).
    pub files: Vec<String>,
    /// Only memories learned by one of these agents, whatever the case.
    pub agents: Vec<String>,
    /// Only memories from then on; one without a time passes neither this nor `until`.
    pub since: Option<Point>,
    /// Only memories up to then.
    pub until: Option<Point>,
    /// Most hits, 1 to [`LIMIT_MAX`].
    pub limit: usize,
    /// Most tokens of the reply, [`TOKENS_MIN`] to [`TOKENS_MAX`].
    pub max_tokens: usize,
    /// Which rankings.
    pub mode: Mode,
    /// Whether to show the scores.
    pub explain: Explain,
    /// Whether memories that read like an instruction to their reader may be shown.
    pub flagged: Flagged,
    /// How likely it must be, in hundredths, that the best memory answers the query; below, nothing is
    /// found. 0 finds whatever there is.
    pub min_relevance_percent: u8,
    /// The failure that what is found must be about, where a failure is asked about.
    pub failure: Option<Failure>,
    /// In which forms it is answered.
    pub shape: Shape,
}

/// A briefing at the start of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRequest {
    /// The repository, by key or unique short name; `None` is the one of the working directory.
    pub repo: Option<String>,
    /// The task at hand, in words.
    pub task: Option<String>,
    /// The files at hand.
    pub files: Vec<String>,
    /// Most tokens of the reply, [`TOKENS_MIN`] to [`TOKENS_MAX`].
    pub max_tokens: usize,
    /// In which forms it is answered.
    pub shape: Shape,
}

/// A look at what the memories of a repository say about its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleRequest {
    /// The repository, by key or unique short name; it must be that of the working directory, which `None` is.
    pub repo: Option<String>,
}

/// Which memories are listed: of the repository at hand, but for a session, which may have worked in several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listing {
    /// Those that were taken over from agent files, also those that do not count any more.
    OfAgentFiles,
    /// Conventions, decisions and patterns that have proven themselves, as lines for an agent file.
    Grown {
        /// How mature they are at least.
        min: Maturity,
        /// Most tokens of all the lines, [`TOKENS_MIN`] to [`TOKENS_MAX`].
        max_tokens: usize,
    },
    /// Those that a session saved, or said something of, what it did last first; at most [`LIMIT_MAX`].
    OfSession(String),
}

/// What somebody says of memories that are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRequest {
    /// The memories, by id or any unique short form of it.
    pub ids: Vec<String>,
    /// What becomes of them.
    pub change: Wanted,
    /// Why, in words.
    pub note: Option<String>,
}

/// In whose name an event about a memory is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// In that of who runs the program.
    Caller,
    /// In that of a model, whose client may have told its name and session.
    Model {
        /// The client's name.
        client: Option<String>,
        /// The session.
        session: Option<String>,
    },
}

/// What shall become of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// A verdict is passed on it.
    Feedback(Verdict),
    /// Another one, by id or any unique short form of it, stands in its place.
    Superseded {
        /// That one.
        by: String,
    },
    /// It is forgotten.
    Forgotten,
    /// It counts again, whatever took it out.
    Restored,
    /// It does not contradict another one, by id or any unique short form of it.
    Distinct {
        /// That one.
        from: String,
    },
    /// It does not grow old.
    Pinned,
    /// It grows old again.
    Unpinned,
}

/// What becomes of many memories at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepRequest {
    /// Which, and what.
    pub sweep: Sweep,
    /// Whether it is done, or only shown.
    pub extent: Doing,
    /// Why, in words.
    pub note: Option<String>,
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doing {
    /// It is shown what would be done.
    Show,
    /// It is done.
    Do,
}

/// Which memories, and what becomes of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sweep {
    /// What nobody has needed for long is archived, what was archived long ago is buried.
    Fade {
        /// Only of this repository, by key or unique short name.
        repo: Option<String>,
    },
    /// What somebody wrote is taken back, and what they said of other memories does not count.
    Purge(Author),
    /// The other way round.
    Unpurge(Author),
}

/// What is to be reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRequest {
    /// The repository, by key or unique short name; `None` is the one of the working directory.
    pub repo: Option<String>,
    /// Most pairs, 1 to [`LIMIT_MAX`].
    pub limit: usize,
}

/// What somebody begins to type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteRequest {
    /// What it is.
    pub slot: Slot,
    /// Its beginning; empty for nothing yet.
    pub typed: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, Error)]
pub enum ApiError {
    /// The request is wrong; every problem names its field.
    #[error("{0}")]
    Invalid(#[from] Problems),
    /// What was asked for is not there; says what is near.
    #[error("{0}")]
    NotFound(String),
    /// Something failed.
    #[error("{message}")]
    Failed {
        /// The exit code it calls for.
        exit: Exit,
        /// What happened, and the remedy.
        message: String,
    },
}

/// What can be asked of the memory.
pub trait Api: Send + Sync {
    /// Finds memories.
    ///
    /// # Errors
    /// [`ApiError`].
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError>;

    /// Gives a briefing.
    ///
    /// # Errors
    /// [`ApiError`].
    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError>;

    /// Writes an event through the one door, for a model: its texts are believed, its claims about who
    /// and when are not (`writer::Identity`). `client` names the agent.
    ///
    /// # Errors
    /// [`ApiError`]; then nothing was written.
    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError>;

    /// Writes events about memories. All are found before the first is written.
    ///
    /// # Errors
    /// [`ApiError`]; before anything is written, but for [`ApiError::Failed`].
    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError>;

    /// Lists pairs of memories of a repository that may contradict each other.
    ///
    /// # Errors
    /// [`ApiError`].
    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError>;

    /// Shows what becomes of many memories at once, and does it where asked to.
    ///
    /// # Errors
    /// [`ApiError`].
    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError>;

    /// Makes or ends links. Of one nothing is written where something is wrong with it; of many the good ones are.
    ///
    /// # Errors
    /// [`ApiError`].
    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError>;

    /// Tells what hangs together with a memory or a file.
    ///
    /// # Errors
    /// [`ApiError`].
    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError>;

    /// Tells what all that is known looks like.
    ///
    /// # Errors
    /// [`ApiError`].
    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError>;

    /// Tells what several repositories have learned alike, or makes one of it a memory.
    ///
    /// # Errors
    /// [`ApiError`].
    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError>;

    /// Tells which memories of the repository at hand its work tree and git speak against.
    ///
    /// # Errors
    /// [`ApiError`].
    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError>;

    /// Lists memories of the repository at hand: `memories`, or `lines`, in the JSON.
    ///
    /// # Errors
    /// [`ApiError`].
    fn list(&self, listing: &Listing) -> Result<Reply, ApiError>;

    /// Shows memories whole, by id or any unique short form of it.
    ///
    /// # Errors
    /// [`ApiError::NotFound`] names the ids that are near.
    fn show(&self, ids: &[String]) -> Result<Reply, ApiError>;

    /// Lists the newest memories.
    ///
    /// # Errors
    /// [`ApiError`].
    fn recent(&self, limit: usize) -> Result<Reply, ApiError>;

    /// Tells what may be meant by what somebody begins to type: `values` and their `total` in the JSON.
    ///
    /// # Errors
    /// [`ApiError`].
    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError>;

    /// Tells the state of the store, the indexes and the model.
    ///
    /// # Errors
    /// [`ApiError`].
    fn status(&self) -> Result<Reply, ApiError>;

    /// Adds the state up to one number. Takes time in proportion to all that was ever learned.
    ///
    /// # Errors
    /// [`ApiError::Failed`] also where a log cannot be read: the number would be of something else.
    fn digest(&self) -> Result<Reply, ApiError>;

    /// Tells which repository the working directory belongs to, and why.
    ///
    /// # Errors
    /// [`ApiError`].
    fn whoami(&self) -> Result<Reply, ApiError>;
}
