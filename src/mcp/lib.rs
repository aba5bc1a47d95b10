//! MCP for agents, over standard streams and HTTP: tools, resources, prompts and completions.
//!
//! In reading order: [`mcp_server`] (one call), [`schema`] (the tools), [`message`] and [`line_transport`] (the protocol on a stream), [`stdio`]
//! (a client on standard streams), [`backpressure`], [`tool_call`], [`resources`], [`prompts`], [`completion`], [`subscriptions`], [`permission`],
//! [`mcp_caller`], [`session_place`] and [`client_roots`] (where a session works), and [`delivery_recorder`] (what an agent was told). Not here: HTTP
//! (`web`), the answers (`api`).

pub mod backpressure;
mod client_roots;
mod completion;
pub mod delivery_recorder;
mod founding_query;
mod line_transport;
pub mod mcp_caller;
pub mod mcp_server;
pub mod message;
mod permission;
pub mod prompts;
mod request_corrections;
mod resources;
pub mod schema;
pub mod server_options;
pub mod session_place;
pub mod stdio;
mod subscriptions;
mod tool_call;
