//! The arguments of the MCP prompts, and of what a client completes while somebody types. Not here: the words of the
//! prompts (`mcp::prompts`).

use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::bounds::{NO_QUERY, QUERY_BYTES_MAX, files_rule, names_rule, repo_rule};
use super::context::ContextRequest;
use super::define::request;
use super::fields::Fields;
use super::rule::query;
use super::search::{SearchRequest, search_scope};
use event::Problems;
use event::limits::FILE_BYTES_MAX;
use guard::secrets::RedactedText;
use search::{CompletionSlot, QuerySyntax};

request! {
    /// The arguments of the prompt `recall`.
    pub struct RecallArguments {
        /// An error, a command, a part of the code
        topic: RedactedText = query(QUERY_BYTES_MAX).required(NO_QUERY);
        /// e.g. error, decision
        kinds: Vec<String> = names_rule().with_name("kind");
        /// Path or its end
        files: Vec<String> = files_rule().with_name("file");
        /// Default: current
        repo: Option<String> = repo_rule();
    }
}

request! {
    /// The arguments of a prompt about a repository.
    pub struct RepoArguments {
        /// Default: current
        repo: Option<String> = repo_rule();
    }
}

impl From<RecallArguments> for SearchRequest {
    fn from(RecallArguments { topic, kinds, files, repo }: RecallArguments) -> Self {
        let syntax = QuerySyntax::of_text(&topic);
        let scope = search_scope(repo, None);
        Self { query: topic, syntax, scope, kinds, files, ..Self::default() }
    }
}

impl From<RepoArguments> for ContextRequest {
    fn from(RepoArguments { repo }: RepoArguments) -> Self {
        Self { repo, ..Self::default() }
    }
}

/// A text that somebody begins to type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompleteRequest {
    /// The thing that it names.
    pub slot: CompletionSlot,
    /// Its beginning; empty before the first letter.
    pub typed: String,
}

impl CompleteRequest {
    /// Reads what was typed so far, which may be white space.
    ///
    /// # Errors
    /// What is allowed.
    pub fn read(slot: CompletionSlot, typed: &str) -> Result<Self, Problems> {
        let given = Map::from_iter([("argument.value".to_owned(), typed.into())]);
        let mut fields = Fields::new(&["argument.value"], &[], given);
        let typed = fields.text("argument.value", FILE_BYTES_MAX).unwrap_or_default();
        fields.finish(Self { slot, typed })
    }
}
