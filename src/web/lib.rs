//! MCP, REST and the dashboard over HTTP, for clients that are configured with a URL. Without a certificate the server listens on the
//! loopback interface alone; with one (`--listen`) on any address, inside TLS. Connections, heads, bodies, concurrent calls and waits
//! are bounded.
//!
//! In reading order: [`http_server`], [`request_guard`] and [`accepted_types`] (checks of a request's head), [`service`] (one request), [`mcp_services`],
//! [`rest`], [`embeddings`] (vectors for other machines), [`static_files`] (the page), [`apis`] and [`private_memories`] (who may read what),
//! [`replica_health`]. Not here: tokens and limits (`access`), the answers (`api`), the end of a retriever that nobody uses (`daemon`).

mod accepted_types;
pub mod apis;
pub mod code_request;
mod embeddings;
pub mod http_caller;
pub mod http_server;
mod mcp_services;
mod private_memories;
pub mod replica_health;
pub mod request_guard;
mod response_body;
pub mod rest;
mod service;
mod static_files;
