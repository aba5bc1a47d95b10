//! Requests that show, list or check memories without a query. Not here: searches.

use serde::{Deserialize, Serialize};

use super::bounds::{
    EXPORT_TOKENS_DEFAULT, folders_rule, limit_rule, max_tokens_rule, repo_rule, required_ids_rule,
};
use super::browse::BrowseRequest;
use super::define::request;
use super::injected::{InjectedRequest, SavingsRequest};
use super::rule::{choice, words};
use super::sessions::SessionListRequest;
use memory::Maturity;

request! {
    /// Memories that are shown in full.
    pub struct ShowArguments {
        /// Ids, or any unique short form of them
        ids: Vec<String> = required_ids_rule().positionals("ID");
    }
}

request! {
    /// The newest memories.
    #[derive(Eq)]
    pub struct RecentArguments {
        /// Most memories
        limit: usize = limit_rule();
        /// Only learned in this folder of a repository, or below it: a package, such as packages/web (may be repeated: any may match)
        folders: Vec<String> = folders_rule();
    }
}

request! {
    /// Pairs of memories that may contradict each other.
    #[derive(Eq)]
    pub struct ReviewRequest {
        /// The repository: its name, key or URL
        repo: Option<String> = repo_rule().described_default("that of this directory");
        /// Most pairs
        limit: usize = limit_rule();
        /// Only with a memory learned in this folder of it, or below it: a package, such as packages/web (may be repeated: any may match)
        folders: Vec<String> = folders_rule();
    }
}

request! {
    /// Memories of a repository that its files or git contradict.
    #[derive(Eq)]
    pub struct StaleRequest {
        /// The repository; it must be that of the working directory, if there is one
        repo: Option<String> = repo_rule();
        /// Only learned in this folder of it, or below it: a package, such as packages/web (may be repeated: any may match)
        folders: Vec<String> = folders_rule().unlisted();
    }
}

request! {
    /// Proven memories of a repository, as lines for an agent file.
    #[derive(Eq)]
    pub struct ExportRequest {
        /// The repository: its name, key or URL
        repo: Option<String> = repo_rule();
        /// How proven a memory must be: proven or established
        min: LeastMaturity = choice().or_word(LeastMaturity::Proven).option("min", "MATURITY");
        /// Most tokens of all the lines
        max_tokens: usize = max_tokens_rule().or(EXPORT_TOKENS_DEFAULT);
        /// Only learned in this folder of it, or below it: a package, such as packages/web (may be repeated: any may match)
        folders: Vec<String> = folders_rule();
    }
}

/// How proven an exported memory must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeastMaturity {
    /// It worked several times.
    #[default]
    Proven,
    /// It worked more often than it failed.
    Established,
}

impl LeastMaturity {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 2] = [Self::Proven, Self::Established];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Maturity::from(self).as_str()
    }

    /// Reads a word, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|least| text.trim().eq_ignore_ascii_case(least.as_str()))
    }
}

words!(LeastMaturity);

impl From<LeastMaturity> for Maturity {
    fn from(least: LeastMaturity) -> Self {
        match least {
            LeastMaturity::Proven => Self::Proven,
            LeastMaturity::Established => Self::Established,
        }
    }
}

/// Most ids that are asked for at once.
pub const KNOWN_IDS_MAX: usize = 2_000;

/// Memories as they stand in logs, for an export: a page of those that count, the oldest first. Private ones never leave.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsRequest {
    /// Of which repositories.
    pub of: RecordsScope,
    /// Where the page begins: `next` of the page before.
    pub cursor: Option<String>,
    /// Only those learned in one of these folders, or below it.
    pub folders: Vec<String>,
}

/// Whose memories an export has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordsScope {
    /// Those of the repository at hand.
    #[default]
    Here,
    /// Those of one repository, by key, short name or URL.
    Repo(String),
    /// All, those for all repositories too.
    All,
}

/// Asks which tags a memory could have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagsRequest {
    /// The memory: its id, or any unique short form of it.
    pub id: String,
    /// Most tags.
    pub limit: usize,
}

/// What a program lists: memories of the caller's repository, those of a session in any repository, or all, page by page; and
/// what agents were shown of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listing {
    /// Memories imported from agent files, also those that no longer count.
    OfAgentFiles,
    /// Proven conventions, decisions and patterns, as lines for an agent file.
    Grown {
        /// How mature they are at least.
        min: Maturity,
        /// Most tokens of all the lines, [`TOKENS_MIN`](super::bounds::TOKENS_MIN) to
        /// [`TOKENS_MAX`](super::bounds::TOKENS_MAX).
        max_tokens: usize,
    },
    /// A page of memories as lines of a log: `lines`, `next`, and how many are `private`, in the JSON.
    Records(RecordsRequest),
    /// Which of these ids are memories here, at most [`KNOWN_IDS_MAX`] at once: `memories` in the JSON, each with `id`,
    /// `repo`, whether it is `live`, the `note` and `note_source` of the event that took it out of answers, the
    /// memory that it is `superseded_by`, and the hash of its `texts`.
    Known(Vec<String>),
    /// Those lines, for a repository that the caller names: `lines` and `left_out` in the JSON.
    Export(ExportRequest),
    /// Memories that a session saved or reported on, the latest first; at most
    /// [`LIMIT_MAX`](super::bounds::LIMIT_MAX).
    OfSession(String),
    /// The newest past sessions: `sessions` and `more` in the JSON.
    Sessions(SessionListRequest),
    /// A page of all memories: `memories`, `total` and `next` in the JSON.
    Page(Box<BrowseRequest>),
    /// All memories that such a page would be of, at most [`OUTLINE_MAX`](super::browse::OUTLINE_MAX), each with its `id`,
    /// its `day` and one line of `text`: `memories` and `total` in the JSON.
    Outline(Box<BrowseRequest>),
    /// Tags that a memory could have: `suggested` in the JSON.
    SuggestedTags(TagsRequest),
    /// A page of deliveries to agents: `entries` and `next` in the JSON.
    Injected(Box<InjectedRequest>),
    /// The deliveries to agents, counted.
    Savings(SavingsRequest),
}
