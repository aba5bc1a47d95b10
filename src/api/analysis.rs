//! What can be asked of all that is known: what it looks like as a whole, and what several repositories have learned
//! alike. Not here: the answers.

use serde::{Deserialize, Serialize};

/// Findings of a reply unless asked otherwise.
pub const FINDINGS_DEFAULT: usize = 10;
/// Most findings of a reply.
pub const FINDINGS_MAX: usize = 50;
/// Tokens of a brief unless asked otherwise.
pub const BRIEF_TOKENS_DEFAULT: usize = 200;
/// Tokens of any other analysis unless asked otherwise: who asks wants to work through it.
pub const ANALYSIS_TOKENS_DEFAULT: usize = 1_500;

/// What to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// What most is linked to.
    Hubs,
    /// What ties kinds of knowledge together.
    Bridges,
    /// What is tied to nothing.
    Gaps,
    /// What is there several times.
    Clusters,
    /// The state of it all, in a few lines.
    Brief,
    /// What should be linked, as a task for an agent.
    Reflect,
    /// What was looked for in vain.
    Searches,
}

impl Topic {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 7] = [
        Self::Hubs,
        Self::Bridges,
        Self::Gaps,
        Self::Clusters,
        Self::Brief,
        Self::Reflect,
        Self::Searches,
    ];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hubs => "hubs",
            Self::Bridges => "bridges",
            Self::Gaps => "gaps",
            Self::Clusters => "clusters",
            Self::Brief => "brief",
            Self::Reflect => "reflect",
            Self::Searches => "searches",
        }
    }

    /// Reads its word, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| text.trim().eq_ignore_ascii_case(topic.as_str()))
    }
}

/// An analysis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalyzeRequest {
    /// What to find out.
    pub topic: Topic,
    /// Only of this repository, by key or unique short name; `None` for all.
    pub repo: Option<String>,
    /// Most findings, 1 to [`FINDINGS_MAX`].
    pub limit: usize,
    /// Most tokens of the reply.
    pub max_tokens: usize,
}

/// What several repositories have learned alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternsRequest {
    /// They are told.
    List {
        /// Most of them, 1 to [`FINDINGS_MAX`].
        limit: usize,
        /// Most tokens of the reply.
        max_tokens: usize,
    },
    /// One becomes a memory: by its number in the list, or by its signature.
    Accept(String),
}
