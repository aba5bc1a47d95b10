//! One shared retriever for all agents of a machine, and the clients' way to it. A process that
//! wants an answer attaches to the retriever of its store, and starts one where there is none.
//!
//! In reading order: [`endpoint`] (where the two find each other), [`stream`] (the connection),
//! [`protocol`] (the messages), [`host`], [`host_state`], [`guests`] and [`attached`] (the
//! retriever's side), [`remote`], [`connect`] and [`process`] (the client's side). Not here: the
//! answers (`api::local`), how agents and people ask (`mcp`, `cli`).

mod attached_clients;
pub mod endpoint;
pub mod guests;
pub mod host;
mod host_state;
pub mod panic_guard;
pub mod process;
mod protocol;
pub mod retriever_client;
pub mod retriever_connection;
mod stream;
#[cfg(test)]
mod tests;
