//! Pages of all memories, the newest first, for people who look through them. Not here: finding by words (`search`).

use serde::{Deserialize, Serialize};

use super::bounds::{files_rule, folders_rule, names_rule, repo_rule};
use super::define::request;
use super::rule::{choice, text, time, whole, words};
use event::limits::SHORT_BYTES_MAX;
use search::TimePoint;

/// Most memories of a page, and how many a page has by default.
pub const PAGE_MAX: usize = 100;
const PAGE_DEFAULT: usize = 20;

/// Most memories of an outline: the newest. All their lines fit in one answer of the retriever.
pub const OUTLINE_MAX: usize = 20_000;

request! {
    /// A page of memories, the newest first.
    pub struct BrowseRequest {
        /// Which memories: live, candidate, flagged, superseded, forgotten, archived, expired or any
        state: BrowsedState = choice().or_word(BrowsedState::Live).option("state", "STATE");
        /// Only of this repository: its name, key or URL
        repo: Option<String> = repo_rule();
        /// Only this kind, such as error or decision (may be repeated)
        kinds: Vec<String> = names_rule().option("kind", "KIND").with_aliases(&["event_type", "type", "kind"]);
        /// Only with this tag (may be repeated: all must match)
        tags: Vec<String> = names_rule().option("tag", "TAG").with_aliases(&["tag"]);
        /// Only about this file (may be repeated: any may match)
        files: Vec<String> = files_rule().option("file", "PATH");
        /// Only learned in this folder of a repository, or below it: a package, such as packages/web (may be repeated: any may match)
        folders: Vec<String> = folders_rule();
        /// Only learned by this agent (may be repeated: any may match)
        agents: Vec<String> = names_rule().option("agent", "AGENT").with_aliases(&["agent", "agent_id"]);
        /// Only learned on this branch of git (may be repeated: any may match)
        branches: Vec<String> = names_rule().option("branch", "BRANCH").with_aliases(&["branch"]);
        /// Only from this time on: a time, a day or an age, such as 2026-03-01 or 30d
        since: Option<TimePoint> = time().option("since", "TIME");
        /// Only up to this time
        until: Option<TimePoint> = time().option("until", "TIME");
        /// Where the page begins: `next` of the page before
        cursor: Option<String> = text(SHORT_BYTES_MAX).option("cursor", "CURSOR");
        /// Most memories
        limit: usize = whole(1..=PAGE_MAX).or(PAGE_DEFAULT).option("limit", "N");
    }
}

request! {
    /// Memories to choose from, the newest first.
    pub struct OutlineRequest {
        /// Which memories: live, candidate, flagged, superseded, forgotten, archived, expired or any
        state: BrowsedState = choice().or_word(BrowsedState::Live).option("state", "STATE");
        /// Only of this repository: its name, key or URL
        repo: Option<String> = repo_rule();
        /// Only this kind, such as error or decision (may be repeated)
        kinds: Vec<String> = names_rule().option("kind", "KIND");
        /// Only with this tag (may be repeated: all must match)
        tags: Vec<String> = names_rule().option("tag", "TAG");
        /// Only learned by this agent (may be repeated: any may match)
        agents: Vec<String> = names_rule().option("agent", "AGENT");
    }
}

impl From<OutlineRequest> for BrowseRequest {
    fn from(OutlineRequest { state, repo, kinds, tags, agents }: OutlineRequest) -> Self {
        Self { state, repo, kinds, tags, agents, ..Self::default() }
    }
}

/// Which memories are shown, by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrowsedState {
    /// Those that answer queries.
    #[default]
    Live,
    /// Those of them that a hook wrote and nothing has proven.
    Candidate,
    /// Those of them that read like instructions.
    Flagged,
    /// Those that another one replaced.
    Superseded,
    /// Those that somebody forgot.
    Forgotten,
    /// Those that nobody needed for long.
    Archived,
    /// Those whose time has passed.
    Expired,
    /// All.
    Any,
}

impl BrowsedState {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 8] = [
        Self::Live,
        Self::Candidate,
        Self::Flagged,
        Self::Superseded,
        Self::Forgotten,
        Self::Archived,
        Self::Expired,
        Self::Any,
    ];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Candidate => "candidate",
            Self::Flagged => "flagged",
            Self::Superseded => "superseded",
            Self::Forgotten => "forgotten",
            Self::Archived => "archived",
            Self::Expired => "expired",
            Self::Any => "any",
        }
    }

    /// Reads a word, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| text.trim().eq_ignore_ascii_case(state.as_str()))
    }
}

words!(BrowsedState);
