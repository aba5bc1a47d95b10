//! The shared retriever and its interfaces: MCP, HTTP and the command line. Each interface
//! translates a call into an `api` request and passes on the reply.
//!
//! In reading order: [`daemon`] (the shared retriever, and connecting to it), [`mcp`] (the MCP
//! server over stdio), [`http`] (the same over HTTP), [`remote_team`] (a team's server beside the own memory), [`judge`] (asks the configured
//! language model), [`args`], [`cli`] and [`program`] (the program `agent-knowledge`). Not here:
//! requests (`api`), ranking (`search`), wording (`reply`).

pub mod args;
pub mod cli;
pub mod daemon;
#[cfg(test)]
mod fake;
mod file_mark;
pub mod grpc;
pub mod http;
pub mod judge;
pub mod mcp;
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has a terminal to pick on"))]
mod picker;
pub mod process;
pub mod program;
mod remote_team;
mod survive;
