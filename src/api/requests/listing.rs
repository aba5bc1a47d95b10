//! Requests that show, list or check memories without a query. Not here: searches.

use serde::{Deserialize, Serialize};

use super::bounds::{limit, repo, some_ids};
use super::browse::BrowseRequest;
use super::define::request;
use super::injected::{InjectedRequest, SavingsRequest};
use memory::Maturity;

request! {
    /// Memories that are shown in full.
    pub struct ShowArguments {
        /// Ids, or any unique short form of them
        ids: Vec<String> = some_ids().positionals("ID");
    }
}

request! {
    /// The newest memories.
    pub struct RecentArguments {
        /// Most memories
        limit: usize = limit();
    }
}

request! {
    /// Pairs of memories that may contradict each other.
    #[derive(Eq)]
    pub struct ReviewRequest {
        /// The repository: its name, key or URL
        repo: Option<String> = repo().usual("that of this directory");
        /// Most pairs
        limit: usize = limit();
    }
}

request! {
    /// Memories of a repository that its files or git contradict.
    #[derive(Eq)]
    pub struct StaleRequest {
        /// The repository, which must be that of this directory
        repo: Option<String> = repo();
    }
}

/// What a program lists: memories of the caller's repository, those of a session in any repository, or all, page by page; and
/// what agents were told of them.
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
    /// Memories that a session saved or reported on, the latest first; at most
    /// [`LIMIT_MAX`](super::bounds::LIMIT_MAX).
    OfSession(String),
    /// A page of all memories: `memories`, `total` and `next` in the JSON.
    Page(Box<BrowseRequest>),
    /// A page of what agents were told: `entries` and `next` in the JSON.
    Injected(Box<InjectedRequest>),
    /// What agents were told, counted.
    Savings(SavingsRequest),
}
