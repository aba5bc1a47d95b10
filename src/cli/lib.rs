//! The command line of `agent-knowledge`: its arguments, its commands, and how their answers are printed.
//!
//! Not here: the answers (`api`), opening a memory and serving others (`retriever`), layouts for a terminal (`terminal`).

pub mod args;
pub mod command_context;
pub mod command_output;
mod context_watch;
mod curation;
pub mod dispatch;
mod failure_json;
mod guess;
mod judge;
mod judgement;
mod links;
mod person;
mod piped;
pub mod process;
pub mod program;
mod shell_words;
