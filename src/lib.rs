//! agent-knowledge: shared memory for coding agents.
//!
//! Agents append lessons to plain JSONL logs; a retriever follows the logs and answers "what do we
//! already know about this?". The rooms, in reading order, and who may import whom (a test checks it):
//!
//! - [`event`]: the words. Pure; imports no other room.
//! - [`store`]: the files. Imports `event`.
//! - [`writer`]: the one door through which every write goes. Imports `event`, `store`.
//! - `retriever`: the reader. Imports `event`, `store`; only its `serve` part calls `writer`.
//! - `setup`: puts us into clients. Imports `event`; `retriever`'s `serve` and `upkeep` call it.
//! - `import`: what other tools keep, into memories. Imports `event`, `store`, `writer`; only `retriever::serve::program` calls it.
//! - `eval`: how well the reader recalls. Imports all of them; only `retriever::serve::program` imports it.
//!
//! ARCHITECTURE.md tells the whole story, SPEC.md what is promised.

pub mod event;
pub mod store;
pub mod writer;

#[cfg(feature = "retriever")]
pub mod eval;
#[cfg(feature = "retriever")]
pub mod import;
#[cfg(feature = "retriever")]
pub mod retriever;
#[cfg(feature = "retriever")]
pub mod setup;
