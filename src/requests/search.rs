//! A search. Not here: how filters stand in a query (`search::ParsedQuery`), how it is answered (`api::local::find`).

use serde::{Deserialize, Serialize};

use super::bounds::{
    MIN_RELEVANCE_PERCENT_DEFAULT, NO_QUERY, QUERY_BYTES_MAX, SEARCH_TOKENS_DEFAULT, files_rule,
    folders_rule, ids_rule, limit_rule, max_tokens_rule, names_rule, repo_rule,
};
use super::define::request;
use super::rule::{Choice, Rule, both, choice, internal, query, query_syntax, switch, time, whole};
use guard::secrets::RedactedText;
use reply::{Explain, Shape};
use search::staleness::UnmergedPolicy;
use search::{Failure, Flagged, QuerySyntax, Tiers, TimePoint};

request! {
    /// A search, or with `ids` the memories of these ids in full.
    pub struct SearchRequest {
        /// How its words are read
        syntax: QuerySyntax = query_syntax("query");
        /// What to look for; - reads standard input, as text. It may contain filters: repo:x kind:error tag:npm file:a.rs
        /// folder:web agent:codex branch:main since:30d until:2026-03-01
        query: RedactedText = query(QUERY_BYTES_MAX).required_unless("ids", NO_QUERY).positionals("QUERY")
            .for_tools("Error text, command or question")
            .with_aliases(&["q", "text", "search", "question", "error", "topic", "prompt"]);
        /// Where to look
        scope: SearchScope = scope();
        /// Only this kind, such as error or decision (may be repeated)
        kinds: Vec<String> = names_rule().option("kind", "KIND").for_tools("e.g. error, decision").known_as(&["kind"])
            .with_aliases(&["event_type", "event_types", "type", "types"]);
        /// Only memories of none of these kinds
        not_kinds: Vec<String> = internal();
        /// Only with this tag (may be repeated: all must match)
        tags: Vec<String> = names_rule().option("tag", "TAG").for_tools("").known_as(&["tag"]).with_aliases(&["label", "labels"]);
        /// Only about this file (may be repeated: any may match)
        files: Vec<String> = files_rule().option("file", "PATH").for_tools("");
        /// Only learned in this folder of a repository, or below it: a package, such as packages/web (may be repeated: any may match)
        folders: Vec<String> = folders_rule().for_tools("");
        /// Only learned by this agent (may be repeated: any may match)
        agents: Vec<String> = names_rule().option("agent", "AGENT").for_tools("").with_aliases(&["agent", "agent_id"]);
        /// Only learned on this branch of git (may be repeated: any may match)
        branches: Vec<String> = names_rule().option("branch", "BRANCH").unlisted();
        /// Only from this time on: a time, a day or an age, such as 2026-03-01 or 30d
        since: Option<TimePoint> = time().option("since", "TIME").for_tools("e.g. 30d").with_aliases(&["after", "from", "max_age"]);
        /// Only up to this time
        until: Option<TimePoint> = time().option("until", "TIME").for_tools("").with_aliases(&["before", "to"]);
        /// Most memories
        limit: usize = limit_rule();
        /// Most tokens of the answer
        max_tokens: usize = max_tokens_rule().or(SEARCH_TOKENS_DEFAULT);
        /// Show these in full
        ids: Vec<String> = ids_rule();
        /// How to rank: by words and meaning (hybrid), by words (lexical) or by meaning (dense)
        mode: Mode = choice().or_word(Mode::Hybrid).option("mode", "MODE").only_on_command_line();
        /// Show how each score was computed
        explain: Explain = switch().flag("explain", true).unlisted().map(explained);
        /// Also show memories that read like instructions to their reader, marked as such
        flagged: Flagged = switch().with_name("include_flagged").flag("include-flagged", true)
            .for_tools("Also notes that read like orders").map(included);
        /// Show less likely answers than this percentage as titles only, and unlikely ones not at all; 0 shows all
        min_relevance_percent: u8 = whole(0..=100).or(usize::from(MIN_RELEVANCE_PERCENT_DEFAULT)).map(percent)
            .with_name("min_relevance").option("min-relevance", "PERCENT").for_tools("Percent; 0 shows all");
        /// Answer as of this time, by words alone: a time, a day or an age
        as_of: Option<TimePoint> = time().unlisted();
        /// Which tiers of hits are shown
        tiers: Tiers = internal();
        /// What is done with memories of branches that are not merged where the caller is
        unmerged: UnmergedPolicy = internal();
        /// The failure that the answers must be about
        failure: Option<Failure> = internal();
        /// In which forms the reply is made
        shape: Shape = internal();
    }
}

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

fn scope() -> Rule<SearchScope> {
    let repo =
        repo_rule().with_name("repo").with_text("Only this repository: its name, key or URL");
    let all_repos = switch()
        .with_name("all_repos")
        .with_text("Only the repository of this directory")
        .flag("this-repo", false)
        .conflicts_with("repo")
        .with_aliases(&["scope", "all"]);
    both(
        repo.for_tools("Only this repo"),
        all_repos.for_tools("false: current repo only"),
        |repo, all_repos, _| search_scope(repo, all_repos),
    )
}

/// A repository that was named narrows the search, unless the call asks for all repositories.
pub(super) fn search_scope(repo: Option<String>, all_repos: Option<bool>) -> SearchScope {
    match (repo, all_repos) {
        (repo, Some(true)) => SearchScope::All(repo),
        (None, None) => SearchScope::default(),
        (repo, Some(false) | None) => SearchScope::Only(repo),
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

impl Choice for Mode {
    fn all() -> Vec<Self> {
        vec![Self::Hybrid, Self::Lexical, Self::Dense]
    }

    fn word(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Lexical => "lexical",
            Self::Dense => "dense",
        }
    }

    fn of_word(text: &str) -> Option<Self> {
        Self::all().into_iter().find(|mode| text.trim().eq_ignore_ascii_case(mode.word()))
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Hybrid => "By words and by meaning, where the model is installed",
            Self::Lexical => "By words",
            Self::Dense => "By meaning",
        }
    }
}

fn explained(is_asked: Option<bool>) -> Explain {
    if is_asked == Some(true) { Explain::Components } else { Explain::Silent }
}

fn included(is_asked: Option<bool>) -> Flagged {
    if is_asked == Some(true) { Flagged::Included } else { Flagged::HeldBack }
}

/// The bounds of the rule keep it below 101.
fn percent(whole: usize) -> u8 {
    u8::try_from(whole).unwrap_or(u8::MAX)
}
