//! The path of MCP, and the bounds on heads, bodies and waits. Not here: who keeps them.

/// The path of MCP.
pub const MCP_PATH: &str = "/mcp";

/// How long a connection may take for the head of a request, and be idle between two, in
/// milliseconds. Clients send a head at once; those that reuse connections are told the limit
/// (`Keep-Alive`).
pub const HEAD_WAIT_MS: u64 = 10_000;

/// The longest head, in bytes: MCP needs a few hundred. A body is read in pieces of at most this
/// size.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;

/// The longest body, in bytes. An event has at most 64 kB, a query 8 kB; escaped, several times as
/// much.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
