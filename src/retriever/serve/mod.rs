//! The faces: thin layers that translate a call, ask [`api`], and hand on the words.
//! Not here: ranking (`search`), wording (`render`).
//!
//! In reading order: [`api`] (what can be asked), [`wire`] (arguments to requests), [`schema`] (what
//! models are told), [`local`] (the memory in this process), [`mcp`], [`paced`] and [`stdio`] (the MCP server), [`args`],
//! [`cli`] and [`program`] (the program).

pub mod api;
pub mod args;
pub mod cli;
#[cfg(test)]
mod fake;
pub mod local;
pub mod mcp;
pub mod paced;
pub mod program;
pub mod schema;
pub mod stdio;
pub mod wire;
