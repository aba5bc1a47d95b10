//! The bounds of requests, and the rules that several of them share. Not here: the bounds of an event
//! (`event::limits`).

use super::fields::ListRule;
use super::rule::{Rule, list, text, whole};
use event::limits::{FILE_BYTES_MAX, ID_BYTES_MAX, REPO_KEY_BYTES_MAX, SHORT_BYTES_MAX};
use place::RepositoryWord;

/// Most hits of one reply: past this an agent reads a log, not an answer.
pub const LIMIT_MAX: usize = 20;
/// Hits of a reply by default.
pub const LIMIT_DEFAULT: usize = 5;
/// How likely it must be, in percent, that a memory answers a query for it to be shown in full, by default. Chosen so
/// that at most a fifth of the unanswerable questions have such a memory (benches/runs).
pub const MIN_RELEVANCE_PERCENT_DEFAULT: u8 = 7;
/// Tokens of a search reply by default: the founding hard cap.
pub const SEARCH_TOKENS_DEFAULT: usize = 500;
/// Tokens of a briefing by default.
pub const CONTEXT_TOKENS_DEFAULT: usize = 800;
/// Tokens of an answer from past sessions by default: five sessions.
pub const SESSION_TOKENS_DEFAULT: usize = 400;
/// Tokens of a brief by default.
pub const BRIEF_TOKENS_DEFAULT: usize = 200;
/// Tokens of any other analysis by default: its reader wants to work through it.
pub const ANALYSIS_TOKENS_DEFAULT: usize = 1_500;
/// Tokens of exported lines by default: every agent reads them at every start.
pub const EXPORT_TOKENS_DEFAULT: usize = 800;
/// Fewest tokens that can carry one memory with its frame.
pub const TOKENS_MIN: usize = 100;
/// Most tokens of one reply.
pub const TOKENS_MAX: usize = reply::REPLY_TOKENS_MAX;
/// Longest query, in bytes: an error message with its stack. More would not change the answer.
pub const QUERY_BYTES_MAX: usize = 8 * 1024;
/// Most ids asked for at once.
pub const IDS_MAX: usize = 20;

/// A longer list of filters selects everything or nothing.
const FILTERS_MAX: usize = 32;
/// A repository may be given as a URL, which is longer than the key made from it.
const REPO_BYTES_MAX: usize = 4 * REPO_KEY_BYTES_MAX;

const NAMES: ListRule = ListRule { items_max: FILTERS_MAX, item_bytes_max: SHORT_BYTES_MAX };
const FILES: ListRule = ListRule { items_max: FILTERS_MAX, item_bytes_max: FILE_BYTES_MAX };
const IDS: ListRule = ListRule { items_max: IDS_MAX, item_bytes_max: ID_BYTES_MAX };

const NO_IDS: &str = "is empty; give at least one id, as a search shows it";
pub(super) const NO_QUERY: &str =
    "is empty; say what you look for, for example \"npm install fails with EACCES\"";

/// Names of kinds, tags or agents.
pub(super) fn names_rule() -> Rule<Vec<String>> {
    list(NAMES)
}

/// Paths of files, or the ends of them.
pub(super) fn files_rule() -> Rule<Vec<String>> {
    list(FILES).with_aliases(&["path", "paths"]).known_as(&["file"])
}

/// Folders of a repository, which are packages.
pub(super) fn folders_rule() -> Rule<Vec<String>> {
    let names = &["folder", "package", "packages"];
    list(FILES).option("folder", "FOLDER").with_aliases(names).known_as(names)
}

/// A folder of a repository, which is a package.
pub(super) fn folder_rule() -> Rule<Option<String>> {
    let names = &["package", "folders", "packages"];
    text(FILE_BYTES_MAX).option("folder", "FOLDER").with_aliases(names).known_as(names)
}

/// Ids of memories.
pub(super) fn ids_rule() -> Rule<Vec<String>> {
    list(IDS).with_aliases(&["id", "memory_id"])
}

/// Ids of memories, at least one.
pub(super) fn required_ids_rule() -> Rule<Vec<String>> {
    ids_rule().at_least_one(NO_IDS)
}

/// A repository, by name, key, URL or the path of its work tree. What a program writes that has none is as if it was left out.
pub(super) fn repo_rule() -> Rule<Option<String>> {
    let rule = text(REPO_BYTES_MAX).map(named_repository);
    rule.option("repo", "REPO").with_aliases(&["repository", "project"])
}

fn named_repository(given: Option<String>) -> Option<String> {
    given.filter(|repo| RepositoryWord::read(repo) != Some(RepositoryWord::Missing))
}

/// How many memories a reply shows.
pub(super) fn limit_rule() -> Rule<usize> {
    whole(1..=LIMIT_MAX).or(LIMIT_DEFAULT).option("limit", "N").for_tools("").with_aliases(&[
        "n",
        "k",
        "top_k",
        "max_results",
    ])
}

/// How many tokens a reply takes.
pub(super) fn max_tokens_rule() -> Rule<Option<usize>> {
    whole(TOKENS_MIN..=TOKENS_MAX)
        .option("max-tokens", "N")
        .for_tools("")
        .with_aliases(&["tokens", "budget"])
}
