//! The command line of `agent-knowledge`: its arguments, its commands, and how their answers are printed.
//!
//! Not here: the answers (`api`), opening a memory and serving others (`retriever`), layouts for a terminal (`terminal`).

pub mod args;
mod chat_failure;
pub mod command_context;
mod command_guess;
pub mod command_output;
pub mod commands;
pub mod dispatch;
mod failure_json;
mod home;
mod log_check;
mod memory_change;
mod piped_input;
pub mod process;
pub mod program;
mod question;
