//! The reader: follows the logs, folds them into memories, keeps indexes that can be thrown away,
//! and answers "what do we already know about this?".
//!
//! In reading order: [`projection`] (what events add up to), [`index`] (how memories are found),
//! [`search`] (query to ranked hits), [`graph`] (what hangs together), [`staleness`] (whether memories still hold),
//! [`render`] (hits to the words an agent reads), [`upkeep`]
//! (whether all is well), [`serve`] (MCP and the command line). `engine` owns the state and hands out frozen snapshots.
//! Nothing here appends to a log; `serve::api` asks the writer to.

mod cache_lock;
pub mod checkpoint;
pub mod digest;
pub mod engine;
pub mod follow;
pub mod graph;
pub mod index;
pub mod projection;
pub mod render;
pub mod search;
pub mod serve;
pub mod snapshot;
pub mod staleness;
pub mod upkeep;
pub mod watch;

pub use cache_lock::CacheLock;
