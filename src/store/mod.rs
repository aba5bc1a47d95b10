//! The files: where logs are, which one a repository has, appending to it and following it.
//!
//! Blocking I/O, and the only room that opens logs. Not here: what a line means (`event`), and what
//! may be written (`writer`).

mod append;
mod config;
mod cursor;
mod error;
mod layout;
mod lock;
mod probe;
mod quarantine;
mod repo;
mod rewrite;
mod signal;
mod spool;
mod sync;
mod tail;

pub use append::{Appended, Durability, Place, append};
pub use config::{Config, MemoryMib, Places};
pub use cursor::{Change, Cursor};
pub use error::StoreError;
pub use layout::{Store, make_private_dir};
pub use lock::FileLock;
pub use probe::{LockState, make_a_file_in};
pub use quarantine::{Damaged, Kept, Quarantine};
pub use repo::{Found, RepoAt, Why};
pub use rewrite::{lines_of, rewrite};
pub use signal::survive_the_file_size_limit;
pub use tail::{Line, Tail};
