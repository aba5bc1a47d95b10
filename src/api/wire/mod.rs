//! From the arguments of a call, as a JSON object, to a request. Every problem is named at once,
//! with what is allowed. The command line comes through here too, so that both faces have one set
//! of rules. Not here: what models are told about the fields (`schema`), the rules about a saved
//! event (`event::validate`).

mod analysis;
mod change;
mod fields;
mod link;
mod related;

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use self::fields::{Fields, ListRule};
use crate::{
    CONTEXT_TOKENS_DEFAULT, CompleteRequest, ContextRequest, Explain, Flagged, IDS_MAX,
    LIMIT_DEFAULT, LIMIT_MAX, MIN_RELEVANCE_PERCENT_DEFAULT, Mode, QUERY_BYTES_MAX, ReviewRequest,
    SEARCH_TOKENS_DEFAULT, SearchRequest, SearchScope, Shape, Slot, TOKENS_MAX, TOKENS_MIN,
};
use event::limits::{FILE_BYTES_MAX, ID_BYTES_MAX, REPO_KEY_BYTES_MAX, SHORT_BYTES_MAX};
use event::{Draft, Problems, draft_from_json};

/// The fields of `memory_search`.
pub const SEARCH: [&str; 15] = [
    "query",
    "repo",
    "all_repos",
    "kinds",
    "tags",
    "files",
    "agents",
    "since",
    "until",
    "limit",
    "max_tokens",
    "ids",
    "explain",
    "include_flagged",
    "min_relevance",
];
/// The fields of `memory_context`.
pub const CONTEXT: [&str; 4] = ["repo", "task", "files", "max_tokens"];

pub use analysis::{analysis, patterns};
pub use change::{FEEDBACK, FORGET, feedback, forget};
pub use link::{end_origin, link, links, unlink};
pub use related::{RELATED, related};

/// Filters longer than this select everything or nothing.
const FILTERS_MAX: usize = 32;
const NAMES: ListRule = ListRule { items_max: FILTERS_MAX, item_bytes_max: SHORT_BYTES_MAX };
const FILES: ListRule = ListRule { items_max: FILTERS_MAX, item_bytes_max: FILE_BYTES_MAX };
const IDS: ListRule = ListRule { items_max: IDS_MAX, item_bytes_max: ID_BYTES_MAX };

const NO_IDS: &str = "is empty; give at least one id, as a search shows it";

const NO_QUERY: &str =
    "is empty; say what you look for, for example \"npm install fails with EACCES\"";

/// A repository may be given as a URL, which is longer than the key it becomes.
const REPO_BYTES_MAX: usize = 4 * REPO_KEY_BYTES_MAX;

/// What a `memory_search` call asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchCall {
    /// A search.
    Search(Box<SearchRequest>),
    /// These memories, whole.
    Show(Vec<String>),
}

/// Reads the arguments of `memory_search`. Given `ids`, those memories are shown and nothing is
/// searched; the other arguments must be right all the same.
///
/// # Errors
/// Every problem, each with its field.
pub fn search(arguments: Map<String, Value>) -> Result<SearchCall, Problems> {
    let mut fields = Fields::of(&SEARCH, arguments);
    let ids = fields.list("ids", &IDS);
    let query = fields.text("query", QUERY_BYTES_MAX);
    if ids.is_empty() && query.is_none() {
        fields.lacks("query", NO_QUERY);
    }
    let repo = fields.text("repo", REPO_BYTES_MAX);
    let request = SearchRequest {
        query: query.unwrap_or_default(),
        scope: scope(repo, fields.flag("all_repos")),
        kinds: fields.list("kinds", &NAMES),
        not_kinds: Vec::new(),
        tags: fields.list("tags", &NAMES),
        files: fields.list("files", &FILES),
        agents: fields.list("agents", &NAMES),
        since: fields.point("since"),
        until: fields.point("until"),
        limit: limit(&mut fields),
        max_tokens: tokens(&mut fields, SEARCH_TOKENS_DEFAULT),
        mode: Mode::default(),
        explain: match fields.flag("explain") {
            Some(true) => Explain::Components,
            Some(false) | None => Explain::Silent,
        },
        flagged: match fields.flag("include_flagged") {
            Some(true) => Flagged::Included,
            Some(false) | None => Flagged::HeldBack,
        },
        min_relevance_percent: min_relevance(&mut fields),
        failure: None,
        shape: Shape::default(),
    };
    fields.finish(match ids.is_empty() {
        true => SearchCall::Search(Box::new(request)),
        false => SearchCall::Show(ids),
    })
}

/// Reads the arguments of `memory_context`.
///
/// # Errors
/// Every problem, each with its field.
pub fn context(arguments: Map<String, Value>) -> Result<ContextRequest, Problems> {
    let mut fields = Fields::of(&CONTEXT, arguments);
    let request = ContextRequest {
        repo: fields.text("repo", REPO_BYTES_MAX),
        task: fields.text("task", QUERY_BYTES_MAX),
        files: fields.list("files", &FILES),
        max_tokens: tokens(&mut fields, CONTEXT_TOKENS_DEFAULT),
        shape: Shape::default(),
    };
    fields.finish(request)
}

/// Reads the arguments of `memory_save`: the fields of an event. What is empty counts as left out;
/// the door tells every problem at once.
#[must_use]
pub fn save(mut arguments: Map<String, Value>) -> Draft {
    arguments.retain(|_, value| !fields::is_absent(value));
    draft_from_json(arguments)
}

/// Reads the ids of memories to show.
///
/// # Errors
/// What is wrong with them, or that there are none.
pub fn show(ids: Vec<String>) -> Result<Vec<String>, Problems> {
    let mut fields = Fields::of(&["ids"], Map::from_iter([("ids".to_owned(), ids.into())]));
    let ids = fields.list("ids", &IDS);
    if ids.is_empty() {
        fields.lacks("ids", NO_IDS);
    }
    fields.finish(ids)
}

/// Reads the path of a file, and returns the search for what is known about it: the newest first.
///
/// # Errors
/// What is wrong with it.
pub fn about_file(path: &str) -> Result<SearchRequest, Problems> {
    let given = Map::from_iter([("path".to_owned(), vec![path].into())]);
    let mut fields = Fields::of(&["path"], given);
    let files = fields.list("path", &FILES);
    if files.is_empty() {
        fields.lacks(
            "path",
            "is empty; give the path of a file or the end of it, such as src/main.rs",
        );
    }
    fields.finish(SearchRequest { files, limit: LIMIT_MAX, ..SearchRequest::default() })
}

/// Reads the number of memories to list.
///
/// # Errors
/// What is allowed.
pub fn recent(given: Option<String>) -> Result<usize, Problems> {
    let mut fields = Fields::of(&["limit"], Map::from_iter([("limit".to_owned(), given.into())]));
    let limit = limit(&mut fields);
    fields.finish(limit)
}

/// Reads what shall be reviewed.
///
/// # Errors
/// Every problem, each with its field.
pub fn review(repo: Option<String>, given: Option<String>) -> Result<ReviewRequest, Problems> {
    let arguments = [("repo".to_owned(), repo.into()), ("limit".to_owned(), given.into())];
    let mut fields = Fields::of(&["repo", "limit"], Map::from_iter(arguments));
    let request =
        ReviewRequest { repo: fields.text("repo", REPO_BYTES_MAX), limit: limit(&mut fields) };
    fields.finish(request)
}

/// Reads a whole number that may be left out.
///
/// # Errors
/// What is allowed.
pub fn number(
    name: &str,
    given: Option<String>,
    allowed: RangeInclusive<usize>,
) -> Result<Option<usize>, Problems> {
    let mut fields = Fields::of(&[name], Map::from_iter([(name.to_owned(), given.into())]));
    let number = fields.number(name, allowed);
    fields.finish(number)
}

/// Reads the arguments of the `recall` prompt, and returns the search it stands for.
///
/// # Errors
/// Every problem, each with its field.
pub fn recall(arguments: Map<String, Value>) -> Result<SearchRequest, Problems> {
    let mut fields = Fields::of(&["topic", "kind", "file", "repo"], arguments);
    let topic = fields.text("topic", QUERY_BYTES_MAX);
    if topic.is_none() {
        fields.lacks("topic", NO_QUERY);
    }
    let request = SearchRequest {
        query: topic.unwrap_or_default(),
        scope: scope(fields.text("repo", REPO_BYTES_MAX), None),
        kinds: fields.list("kind", &NAMES),
        files: fields.list("file", &FILES),
        ..SearchRequest::default()
    };
    fields.finish(request)
}

/// Reads the arguments of a prompt about a repository, and returns the briefing it begins with.
///
/// # Errors
/// Every problem, each with its field.
pub fn of_repo(arguments: Map<String, Value>) -> Result<ContextRequest, Problems> {
    let mut fields = Fields::of(&["repo"], arguments);
    let repo = fields.text("repo", REPO_BYTES_MAX);
    fields.finish(ContextRequest { repo, ..ContextRequest::default() })
}

/// Reads what somebody began to type. White space may be all that was typed so far.
///
/// # Errors
/// What is allowed.
pub fn complete(slot: Slot, typed: &str) -> Result<CompleteRequest, Problems> {
    let given = Map::from_iter([("argument.value".to_owned(), typed.into())]);
    let mut fields = Fields::of(&["argument.value"], given);
    let typed = fields.text("argument.value", FILE_BYTES_MAX).unwrap_or_default();
    fields.finish(CompleteRequest { slot, typed })
}

/// A repository that was named narrows the search, unless all are asked for in so many words.
fn scope(repo: Option<String>, all_repos: Option<bool>) -> SearchScope {
    match (repo, all_repos) {
        (repo, Some(true)) => SearchScope::All(repo),
        (None, None) => SearchScope::default(),
        (repo, Some(false) | None) => SearchScope::Only(repo),
    }
}

fn limit(fields: &mut Fields) -> usize {
    fields.number("limit", 1..=LIMIT_MAX).unwrap_or(LIMIT_DEFAULT)
}

fn min_relevance(fields: &mut Fields) -> u8 {
    let percent = fields.number("min_relevance", 0..=100).map(u8::try_from);
    percent.and_then(Result::ok).unwrap_or(MIN_RELEVANCE_PERCENT_DEFAULT)
}

fn tokens(fields: &mut Fields, default: usize) -> usize {
    fields.number("max_tokens", TOKENS_MIN..=TOKENS_MAX).unwrap_or(default)
}

#[cfg(test)]
mod tests;
