//! What is kept of the transcripts that coding agents left on this disk, and found in it, so that the memory is not empty on
//! its first day. Everything here is local; nothing of it enters a shared log by itself.
//!
//! In reading order: [`session_store`], [`session_rows`], [`session_writes`] and `earlier_copy` (what is kept),
//! [`session_import`] and `read_queue` (from files to what is kept), [`scope`], [`search_text`], [`exchange_index`] and
//! [`session_search`] (finding), [`past_sessions`] (the index in a running process), [`work_trail`] (commands and edits in
//! a row), [`candidates`], [`candidate_gates`] and [`remarks`] (what sessions may teach), [`candidate_rows`] (what waits
//! for a person's answer), [`lesson_draft`] (what a language model wrote for a candidate), [`failure_signs`] (which failure it is),
//! [`fixed_failure`] (how failures were fixed).
//! Not here: reading the files of other tools (`transcripts`), the commands and tools that ask (`retriever`), what makes a
//! lesson (`learning`).

mod call_paths;
pub mod candidate_gates;
pub mod candidate_rows;
pub mod candidates;
mod cited_id;
pub mod command_pair;
mod config_names;
mod earlier_copy;
pub mod exchange_index;
pub mod failure_signs;
pub mod file_rows;
pub mod file_state;
pub mod fixed_failure;
pub mod fixed_failure_rows;
pub mod import_scope;
#[cfg(test)]
mod import_traps;
mod index_cache;
pub mod kept_session;
pub mod lesson_draft;
mod listed_file;
mod machine_repos;
pub mod past_sessions;
mod read_queue;
pub mod remarks;
#[cfg(test)]
mod removed_tree_disk;
#[cfg(test)]
mod removed_tree_samples;
#[cfg(test)]
mod removed_tree_tests;
mod repo_correction;
pub mod repo_of_session;
mod row_text;
pub mod scope;
pub mod search_text;
pub mod session_digest;
pub mod session_import;
pub mod session_judgement;
pub mod session_rows;
pub mod session_scrub;
pub mod session_search;
pub mod session_store;
pub mod session_writes;
mod stored_exchange;
pub mod work_trail;
