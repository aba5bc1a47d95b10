//! A briefing at the start of work. Not here: what it tells (`api::local::find`).

use super::bounds::{
    CONTEXT_TOKENS_DEFAULT, QUERY_BYTES_MAX, files_rule, folder_rule, max_tokens_rule, repo_rule,
};
use super::define::request;
use super::rule::{internal, query, time};
use guard::secrets::RedactedText;
use reply::Shape;
use search::TimePoint;
use search::staleness::UnmergedPolicy;

request! {
    /// A briefing at the start of work.
    #[derive(Eq)]
    pub struct ContextRequest {
        /// The task at hand, in words
        task: Option<RedactedText> = query(QUERY_BYTES_MAX).option("task", "TEXT").for_tools("What you are about to do")
            .with_aliases(&["query", "goal", "description"]);
        /// A file at hand (may be repeated)
        files: Vec<String> = files_rule().option("file", "PATH").for_tools("");
        /// The repository: its name, key or URL
        repo: Option<String> = repo_rule().described_default("that of this directory").for_tools("Default: current");
        /// The package at hand, such as packages/web; what was learned in others is left out
        folder: Option<String> = folder_rule().described_default("that of this directory, with the others last").unlisted();
        /// Most tokens of the answer
        max_tokens: usize = max_tokens_rule().or(CONTEXT_TOKENS_DEFAULT);
        /// Answer as of this time, by words alone: a time, a day or an age
        as_of: Option<TimePoint> = time().unlisted();
        /// The rule files that the client loads by itself
        loaded: Vec<String> = internal();
        /// What is done with memories of branches that are not merged where the caller is
        unmerged: UnmergedPolicy = internal();
        /// Who reads the briefing
        reader: BriefingReader = internal();
        /// In which forms the reply is made
        shape: Shape = internal();
    }
}

/// Who reads a briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum BriefingReader {
    /// An agent whose session begins.
    #[default]
    Session,
    /// A subagent, which has one task of that session: what went wrong before, and what was decided.
    Subagent,
}
