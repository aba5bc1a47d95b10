//! The faces: thin layers that translate a call, ask [`api`], and hand on the words.
//! Not here: ranking (`search`), wording (`render`).
//!
//! In reading order: [`api`] (what can be asked), [`wire`] (arguments to requests), [`schema`] (what
//! models are told), [`caller`] (who asks), [`local`] (the memory in this process), [`attach`] (the one retriever
//! of a machine, and coming to it), [`mcp`], [`paced`] and [`stdio`] (the MCP server), [`http`] (the same over HTTP),
//! [`hook`] (what agents' hooks run) and [`life`] (that they did), [`judge`] (who is asked about contradictions),
//! [`query_log`] (what was looked for in vain), [`args`], [`cli`] and [`program`] (the program).

pub mod api;
pub mod args;
pub mod attach;
pub mod caller;
pub mod cli;
#[cfg(test)]
mod fake;
pub mod hook;
pub mod http;
pub mod judge;
pub mod life;
pub mod local;
pub mod mcp;
pub mod paced;
pub mod program;
pub mod query_log;
pub mod schema;
pub mod stdio;
pub mod wire;
