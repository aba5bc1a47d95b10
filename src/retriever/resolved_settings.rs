//! The values of all settings. Not here: resolving them (`opening`).

use std::ffi::OsString;
use std::path::PathBuf;

use engine::watch::Watching;
use memory::Bound;
use settings::Config;
use store::Store;

/// Whether the system watches the logs for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watches {
    /// According to the settings.
    AsSet,
    /// No.
    Not,
}

/// The values of all settings.
#[derive(Clone)]
pub struct ResolvedSettings {
    /// Where the logs are.
    pub store: Store,
    /// The configuration.
    pub config: Config,
    /// How much memory the memories may take.
    pub bound: Bound,
    /// The directory of the embedding model.
    pub model_dir: PathBuf,
    /// The directory of caches.
    pub cache_dir: PathBuf,
    /// The directory of what is kept of past sessions.
    pub sessions_dir: PathBuf,
    /// Whether the logs are watched.
    pub watching: Watching,
    /// Whether a flag, a variable or the configuration names the store. Then only a writer makes it.
    pub is_store_named: bool,
    /// Looks up an environment variable: the key of a provider is nowhere else.
    pub variable: fn(&str) -> Option<OsString>,
    /// The configuration file, which need not exist.
    pub config_file: Option<PathBuf>,
}
