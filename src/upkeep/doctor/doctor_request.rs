//! What is examined. Not here: the checks.

use std::path::{Path, PathBuf};

use clients::setup::ClientsStatus;
use engine::watch::WatchMode;
use reply::StateNote;
use search::snapshot::MemoryUsage;
use store::Store;

/// What is examined.
pub struct DoctorRequest<'a> {
    /// The store, if it is known.
    pub store: Option<&'a Store>,
    /// The configuration file, which need not exist.
    pub config_file: Option<PathBuf>,
    /// The problem with the settings, if any.
    pub settings_trouble: Option<String>,
    /// What the settings hold that this version does not know.
    pub settings_findings: Vec<String>,
    /// The directory of the embedding model, which need not exist.
    pub model_dir: Option<PathBuf>,
    /// Where vectors are stored.
    pub cache_dir: Option<PathBuf>,
    /// How many bytes the memories take, if that may be close to the limit.
    pub room: Option<MemoryUsage>,
    /// How a server learns of changes.
    pub watching: WatchMode,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// The state of the clients that setup knows.
    pub clients: ClientsStatus,
    /// The working directory.
    pub directory: &'a Path,
    /// The folders in which programs are searched.
    pub program_folders: Vec<PathBuf>,
    /// The state of past sessions, if there is anything to say.
    pub sessions: Option<StateNote>,
    /// How sharing with a team stands, if the settings name one.
    pub team: Option<StateNote>,
    /// Who orders likely hits, and what is sent there, if the settings name one.
    pub reranker: Option<StateNote>,
    /// What the repository at hand may have been before, if there is anything to ask.
    pub repository: Option<StateNote>,
}
