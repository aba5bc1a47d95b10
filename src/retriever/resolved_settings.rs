//! The values of all settings. Not here: resolving them (`memory_opening`).

use std::ffi::OsString;
use std::path::PathBuf;

use engine::watch::WatchMode;
use memory::MemoryBound;
use settings::Config;
use store::Store;

/// Whether the system watches the logs for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchChoice {
    /// According to the settings.
    Configured,
    /// No.
    Off,
}

/// The values of all settings.
#[derive(Clone)]
pub struct ResolvedSettings {
    /// Where the logs are.
    pub store: Store,
    /// The configuration.
    pub config: Config,
    /// How much memory the memories may take.
    pub bound: MemoryBound,
    /// The directory of the embedding model.
    pub model_dir: PathBuf,
    /// The directory of caches.
    pub cache_dir: PathBuf,
    /// The directory of what is kept of past sessions.
    pub sessions_dir: PathBuf,
    /// Whether the logs are watched.
    pub watching: WatchMode,
    /// Whether a flag, a variable or the configuration names the store. Then only a writer makes it.
    pub is_store_named: bool,
    /// Looks up an environment variable: the key of a provider is nowhere else.
    pub variable: fn(&str) -> Option<OsString>,
    /// The configuration file, which need not exist.
    pub config_file: Option<PathBuf>,
}
