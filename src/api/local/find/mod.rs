//! Questions that name something to find: a search of memories (`search_run`, with its steps in `filter_words`, `filters`, `query_vector`,
//! `second_source`, `reranking` and `failed_search`), the briefing, and past sessions; searches and briefings also `as_of` a past time.
//! Not here: lists without a query (`list`).

mod as_of;
mod briefing;
mod failed_search;
mod filter_words;
mod filters;
mod query_vector;
mod reranking;
mod search_run;
mod second_source;
mod session_search;

pub(super) use briefing::context;
pub(super) use search_run::search;
pub(super) use session_search::{newest_sessions, search_sessions};
