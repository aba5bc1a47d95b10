//! Who may connect to a server and call it, and how much: addresses, TLS, tokens, rights and limits.
//!
//! In reading order: [`address`] (where a server listens), [`tls`] and [`tls_files`] (its certificate), [`own_names`], [`peer`],
//! [`accept`] (new connections), [`connection_limit`], [`disconnect`]; [`token`] (the server's own), [`named_token`] and
//! [`known_tokens`] (those of others), [`guesses`] and [`expensive_calls`] (what a client may do how often), [`admitted`] (who asks),
//! [`client_name`] and [`agent_name`]. Not here: what is asked for (`requests`), and how it is asked (`mcp`, `web`, `grpc`).

pub mod address;
pub mod admitted_caller;
pub mod agent_name;
pub mod byte_stream;
pub mod client_name;
pub mod connection_limit;
pub mod disconnect;
pub mod expensive_calls;
pub mod file_mark;
pub mod http_bounds;
pub mod known_tokens;
pub mod named_token;
pub mod peer;
pub mod server_names;
pub mod server_thread;
pub mod tls;
mod tls_files;
pub mod token;
pub mod wrong_tokens;
