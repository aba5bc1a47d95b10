//! The shared process and its faces: MCP, HTTP and the command line. Each face is a thin layer that turns a call into
//! an `api` request and passes the reply on.
//!
//! In reading order: [`daemon`] (the one retriever of a machine, and connecting to it), [`mcp`] (the MCP server over
//! stdio), [`http`] (the same over HTTP), [`judge`] (asks a judge about contradictions), [`args`], [`cli`] and
//! [`program`] (the program `agent-knowledge`).
//! Not here: the requests (`api`), ranking (`search`), the words of replies (`reply`).

pub mod args;
pub mod cli;
pub mod daemon;
#[cfg(test)]
mod fake;
pub mod http;
pub mod judge;
pub mod mcp;
pub mod process;
pub mod program;
mod survive;
