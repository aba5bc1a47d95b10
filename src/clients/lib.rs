//! Set-up of the clients on a machine: MCP servers, hooks, and blocks in agent files.
//!
//! [`setup`] writes and removes our part of a client's configuration, [`hooks`] is what clients run at
//! their events, [`agent_files`] reads rules from CLAUDE.md and the like. Not here: the command line.

pub mod agent_files;
pub mod hooks;
pub mod setup;
