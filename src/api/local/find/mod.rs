//! Questions that name something to find: a search, the briefing, and past sessions, each also as of a past time. Not here: lists without a
//! query (`list`).

pub(super) mod as_of;
pub(super) mod briefing;
pub(super) mod filters;
pub(super) mod query_vector;
pub(super) mod reranking;
pub(super) mod search_run;
pub(super) mod second_source;
pub(super) mod session_search;
