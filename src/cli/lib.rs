//! The command line of `agent-knowledge`: its arguments, its commands, and how their answers are printed.
//!
//! Not here: the answers (`api`), opening a memory and serving others (`retriever`), layouts for a terminal (`terminal`).

pub mod args;
mod asking;
mod chat_failure;
pub mod command_context;
pub mod command_output;
pub mod commands;
pub mod dispatch;
mod failure_json;
mod guess;
mod home;
mod log_check;
mod memory_change;
mod piped;
pub mod process;
pub mod program;
