//! The transcripts that coding agents already left on this disk: read, cut into exchanges, kept and searched, so that
//! the memory is not empty on its first day. Everything here is local; nothing of it enters a shared log by itself.
//!
//! In reading order: [`transcript`] (what a reader reports), [`source`] (what a reader is), [`records`] and
//! [`database`] (files as records and as tables), [`session_tables`] (which sessions of a database changed), [`readers`]
//! (one file per tool), [`prompt_text`] (what a person typed, without what tools put around it), [`exchange`] (a question
//! with all that followed it), [`session_store`] and [`session_rows`] (what is kept), [`session_import`] (from files to
//! what is kept). Nothing is written to the files of other tools. Not here: the commands and tools that ask
//! (`retriever`), how to tell a lesson from chance (`clients`).

pub mod config_names;
pub mod database;
pub mod exchange;
pub mod exchange_index;
pub mod file_state;
pub mod index_cache;
pub mod past_sessions;
pub mod prompt_text;
pub mod readers;
pub mod records;
pub mod repo_of_session;
pub mod scope;
pub mod search_text;
pub mod session_digest;
pub mod session_import;
pub mod session_rows;
pub mod session_search;
pub mod session_store;
pub mod session_tables;
pub mod session_writes;
pub mod source;
mod stored_exchange;
pub mod transcript;
