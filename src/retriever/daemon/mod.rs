//! One shared retriever for all agents of a machine, and the clients' way to it. A process that
//! wants an answer attaches to the retriever of its store, and starts one where there is none.
//!
//! In reading order: [`endpoint`] (where the two find each other), [`stream`] (the connection),
//! [`protocol`] (the messages), [`host`], [`host_state`], [`guests`] and [`attached`] (the
//! retriever's side), [`remote`], [`connect`] and [`process`] (the client's side). Not here: the
//! answers (`api::local`), how agents and people ask (`mcp`, `cli`).

mod attached;
mod connect;
mod endpoint;
mod guests;
mod host;
mod host_state;
mod process;
mod protocol;
mod remote;
mod stream;
#[cfg(test)]
mod tests;

pub use connect::ask_to_leave;
pub use endpoint::{Endpoint, runtime_folder};
pub use guests::{GuestCall, Guests, Visit};
pub use host::{Host, Served};
pub use process::{STARTED, Start, detach, parent_gone};
pub use remote::{Alone, Remote};
