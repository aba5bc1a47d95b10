//! The program `git`, for every room that runs it: with a deadline, with a bound on its output, and protected from what a repository,
//! the user's settings or the environment could make it do besides.
//!
//! In reading order: `hardening` (what git must not do), `git_program` (one call). Not here: which commands (`sync`, `search`,
//! `upkeep`); what is read from the files of git without the program (`store`).

mod git_program;
mod hardening;

pub use git_program::{CALL_MS_MAX, GitAnswer, GitCall, GitFailure, GitProgram, Repository};
pub use hardening::SshCommand;
