//! Analyses of the whole memory, and patterns that several repositories learned independently. Not here: the answers
//! (`api::local::list`).

use serde::{Deserialize, Serialize};

use super::bounds::{ANALYSIS_TOKENS_DEFAULT, BRIEF_TOKENS_DEFAULT, max_tokens_rule, repo_rule};
use super::define::request;
use super::parameter::Presence;
use super::rule::{choice, switch, text, whole, words};
use event::limits::ID_BYTES_MAX;

/// Findings of a reply by default.
pub const FINDINGS_DEFAULT: usize = 10;
/// Most findings of a reply.
pub const FINDINGS_MAX: usize = 50;
/// Largest size of a finding that may be asked for.
const SIZE_MAX: usize = 1_000;

request! {
    /// An analysis.
    #[derive(Eq)]
    pub struct AnalyzeRequest {
        /// hubs, bridges, gaps, clusters, brief, reflect, searches or stats
        topic: Topic = choice().or_word(Topic::Brief).positional("TOPIC", Presence::Optional);
        /// Only this repository: its name, key or URL
        repo: Option<String> = repo_rule();
        /// Only hubs with so many links (usually 1), bridges of so many kinds (2), clusters of so many lessons (2)
        at_least: Option<usize> = whole(1..=SIZE_MAX).option("at-least", "N").for_tools("");
        /// Only gaps with no more links than this (usually 1)
        at_most: Option<usize> = whole(0..=SIZE_MAX).option("at-most", "N").for_tools("");
        /// Most findings
        limit: usize = whole(1..=FINDINGS_MAX).or(FINDINGS_DEFAULT).option("limit", "N");
        /// Most tokens of the answer
        max_tokens: Option<usize> = max_tokens_rule().described_default("1500; for a brief 200");
    }
}

request! {
    /// Patterns that several repositories learned independently.
    pub struct PatternsArguments {
        /// Show this pattern as it would be saved: its number in the list, or its mark
        accept: Option<String> = text(ID_BYTES_MAX).option("accept", "N").any_value();
        /// Save what --accept shows
        apply: Option<bool> = switch().flag("apply", true);
        /// Save it for this repository, instead of for all of them
        only_here: Option<bool> = switch().flag("only-here", true);
        /// Most patterns
        limit: usize = whole(1..=FINDINGS_MAX).or(FINDINGS_DEFAULT).option("limit", "N");
        /// Most tokens of the answer
        max_tokens: usize = max_tokens_rule().or(ANALYSIS_TOKENS_DEFAULT);
    }
}

/// What to analyze.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// Memories with the most links.
    Hubs,
    /// Memories that connect kinds of knowledge.
    Bridges,
    /// Memories without links.
    Gaps,
    /// Lessons that one repository has several times.
    Clusters,
    /// A short overview.
    Brief,
    /// Memories that should be linked, as a task for an agent.
    Reflect,
    /// Searches that found nothing.
    Searches,
    /// How many links there are of each kind, and the memories with the most.
    Stats,
}

impl Topic {
    /// All of them, in the order help texts list them.
    pub const ALL: [Self; 8] = [
        Self::Hubs,
        Self::Bridges,
        Self::Gaps,
        Self::Clusters,
        Self::Brief,
        Self::Reflect,
        Self::Searches,
        Self::Stats,
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
            Self::Stats => "stats",
        }
    }

    /// Reads its word, in any case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| text.trim().eq_ignore_ascii_case(topic.as_str()))
    }
}

/// Patterns that several repositories learned independently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternsRequest {
    /// List them.
    List {
        /// Most patterns, 1 to [`FINDINGS_MAX`].
        limit: usize,
        /// Most tokens of the reply.
        max_tokens: usize,
    },
    /// Make one of them a memory.
    Accept(AcceptedPattern),
}

/// A pattern that a person chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedPattern {
    /// Its number in the list, or its mark.
    pub which: String,
    /// Whether it is written, not only shown.
    pub is_written: bool,
    /// Whether it is for the caller's repository only.
    pub is_only_here: bool,
}

words!(Topic);

impl AnalyzeRequest {
    /// Returns the most tokens of the answer.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.max_tokens.unwrap_or(match self.topic {
            Topic::Brief => BRIEF_TOKENS_DEFAULT,
            _ => ANALYSIS_TOKENS_DEFAULT,
        })
    }
}

impl From<PatternsArguments> for PatternsRequest {
    fn from(given: PatternsArguments) -> Self {
        let PatternsArguments { accept, apply, only_here, limit, max_tokens } = given;
        match accept {
            Some(which) => Self::Accept(AcceptedPattern {
                which,
                is_written: apply.unwrap_or_default(),
                is_only_here: only_here.unwrap_or_default(),
            }),
            None => Self::List { limit, max_tokens },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::define::ApiRequest;

    // S-ANALYZE-1
    #[test]
    fn the_default_topic_is_a_short_brief() {
        let read = |value: Value| AnalyzeRequest::from_command(value.as_object().unwrap().clone());
        let brief = read(json!({})).unwrap();
        assert_eq!((brief.topic, brief.max_tokens(), brief.limit), (Topic::Brief, 200, 10));
        for topic in Topic::ALL {
            assert_eq!(read(json!({"topic": topic.as_str()})).unwrap().topic, topic);
        }
        let problems = read(json!({"topic": "hub", "limit": 51})).unwrap_err().to_string();
        assert!(
            problems.contains("topic: must be one of hubs, bridges")
                && problems.contains("limit: must be"),
            "{problems}"
        );
    }
}
