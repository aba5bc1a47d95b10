//! Follows the logs and owns the state: turns files into memories and indexes, and gives every
//! query a frozen snapshot of them.
//!
//! In reading order: [`owner`] (the thread that owns the state), [`follow`] (files to memories and
//! indexes), [`watch`] (hints that a file changed), [`checkpoint`] (the state on disk), [`digest`]
//! (one number for the state), [`cache_lock`](CacheLock) (one writer for the vector cache). Not
//! here: searching a snapshot (`search`), appending to a log (`writer`).

mod cache_lock;
pub mod checkpoint;
pub mod follow;
mod model_access;
pub mod owner;
pub mod state_digest;
pub mod watch;

pub use cache_lock::CacheLock;
pub use model_access::{ModelAccess, ModelInput, ScopedQuery};
pub use owner::{
    DenseSetup, Engine, EngineSetup, EngineStopped, EngineView, InterimSearch, LogCoverage,
    SwitchCallback,
};
