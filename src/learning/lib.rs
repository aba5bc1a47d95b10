//! The rule by which a failure and its fix become a lesson. Hooks apply it while a session runs, and past sessions are
//! read with it, so that both find the same lessons. Pure functions: no files, no clock, no threads.
//!
//! In reading order: `shell_line` and [`commands`] (what a command line is meant for), [`command_effects`] (what it
//! changes), [`same_command`] (whether two do the same), [`last_words`] (whether an output is that of a failure),
//! [`signature`] (which failure it is), [`command_failure`] (what is kept of it), [`session_lesson`] (the rule), [`shell_set_up`] (what
//! prepares the shell for a command), [`advice`] (which
//! commands a hook may recommend). Not here: what a client reports (`clients::hooks`), what a transcript holds
//! (`sessions`), whether a lesson is saved.

pub mod advice;
pub mod command_effects;
pub mod command_failure;
pub mod commands;
pub mod last_words;
pub mod same_command;
pub mod session_lesson;
mod shell_line;
pub mod shell_set_up;
pub mod signature;
