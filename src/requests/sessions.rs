//! A question to past sessions of other tools. Not here: how it is answered (`api::local::find`), lists and imports of
//! sessions, which need no index (`cli`).

use super::bounds::{
    NO_QUERY, QUERY_BYTES_MAX, SESSION_TOKENS_DEFAULT, ids_rule, limit_rule, max_tokens_rule,
    names_rule, repo_rule,
};
use super::define::request;
use super::rule::{Choice, both, choice, internal, query, switch, text, time, whole};
use super::search::{SearchScope, search_scope};
use event::limits::SHORT_BYTES_MAX;
use guard::secrets::RedactedText;
use reply::Shape;
use search::TimePoint;
use sessions::scope::{ExchangeScope, PART_SCOPES};
use sessions::search_text::Speaker;

request! {
    /// A search of past sessions, or with `ids` the exchanges of these ids.
    pub struct SessionSearchRequest {
        /// What to look for: a question, a command or an error
        query: RedactedText = query(QUERY_BYTES_MAX).required_unless("ids", NO_QUERY).positionals("QUERY").for_tools("")
            .with_aliases(&["q", "text", "search", "question", "error"]);
        /// What to look at
        scope: ExchangeScope = choice().or_word(ExchangeScope::All).option("scope", "SCOPE")
            .for_tools("errors|plans|configs|tools|files|decisions|all");
        /// Whose words to look at
        role: Option<Speaker> = choice().option("role", "ROLE").unlisted();
        /// Only of these tools, such as claude-code (may be repeated)
        tools: Vec<String> = names_rule().option("tool", "TOOL").unlisted().with_aliases(&["tool"]);
        /// Which repositories to look at
        repos: SearchScope = both(
            repo_rule().with_name("repo").with_text("Only this repository: its name, key or URL").for_tools(""),
            switch().with_name("all_repos").with_text("Only the repository of this directory").flag("this-repo", false)
                .conflicts_with("repo").unlisted(),
            |repo, all_repos, _| search_scope(repo, all_repos),
        );
        /// Only from this time on: a time, a day or an age, such as 2026-03-01 or 30d
        since: Option<TimePoint> = time().option("since", "TIME").for_tools("e.g. 30d").with_aliases(&["after", "from"]);
        /// Most sessions
        limit: usize = limit_rule().unlisted();
        /// Most tokens of the answer
        max_tokens: usize = max_tokens_rule().or(SESSION_TOKENS_DEFAULT).unlisted();
        /// Show these, as an answer names them
        ids: Vec<String> = ids_rule().for_tools("From an answer: show these");
        /// A session that is left out: the caller's own
        without: Option<String> = text(SHORT_BYTES_MAX).unlisted();
        /// A command that has failed; then the answer says how that ended before
        failed: Option<FailedCommand> = internal();
        /// In which forms the reply is made
        shape: Shape = internal();
    }
}

request! {
    /// The newest past sessions, page by page.
    #[derive(Eq)]
    pub struct SessionListRequest {
        /// Only of this tool, such as claude-code
        tool: Option<String> = text(SHORT_BYTES_MAX).option("tool", "TOOL");
        /// Only this repository: its name, key or URL
        repo: Option<String> = repo_rule();
        /// Only from this time on: a time, a day or an age, such as 2026-03-01 or 30d
        since: Option<TimePoint> = time().option("since", "TIME");
        /// Most sessions
        limit: usize = limit_rule();
        /// Which page, counted from 1
        page: usize = whole(1..=SESSION_PAGES_MAX).or(1).option("page", "N");
    }
}

/// Most pages of a list of sessions.
const SESSION_PAGES_MAX: usize = 10_000;

/// A command that has failed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FailedCommand {
    /// The command line.
    pub command: RedactedText,
    /// What it printed.
    pub output: RedactedText,
}

impl Choice for ExchangeScope {
    fn all() -> Vec<Self> {
        std::iter::once(Self::All).chain(PART_SCOPES).collect()
    }

    fn word(self) -> &'static str {
        self.name()
    }

    fn of_word(text: &str) -> Option<Self> {
        Self::named(&text.trim().to_ascii_lowercase())
    }
}

impl Choice for Speaker {
    fn all() -> Vec<Self> {
        vec![Self::User, Self::Assistant]
    }

    fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    fn of_word(text: &str) -> Option<Self> {
        Self::all().into_iter().find(|role| text.trim().eq_ignore_ascii_case(role.word()))
    }
}
