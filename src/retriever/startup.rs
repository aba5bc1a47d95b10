//! What the process provides, and the state of one run: whether it serves others, and what it records of them. Not here: opening a
//! memory (`memory_opening`), serving (`shared_retriever`).

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::directory_notice::DirectoryUse;
use crate::resolved_settings::ResolvedSettings;
use api::journal::agent_delivery::DeliveryJournal;
use mcp::delivery_recorder::DeliveryRecorder;
use writer::{Moment, StartDirectory};

/// What the process provides.
pub struct Surroundings<'a> {
    /// Looks up an environment variable.
    pub lookup: &'a dyn Fn(&str) -> Option<OsString>,
    /// Does the same, for threads that outlive a call.
    pub variable: fn(&str) -> Option<OsString>,
    /// The working directory.
    pub directory: StartDirectory,
    /// Where temporary folders may be made.
    pub temporary: PathBuf,
    /// The path of this program, if the system knows it.
    pub program: Option<PathBuf>,
    /// The name of this machine, where it has one.
    pub host: Option<String>,
    /// Returns the time and random bits.
    pub clock: fn() -> Moment,
    /// Returns unpredictable bits, where the system has any.
    pub secret: fn() -> Option<[u8; 32]>,
    /// Ends the process at once, with success.
    pub leave: fn(),
}

/// The process that opens the memory of a store, and may serve it.
pub struct Retriever<'a> {
    /// What the process gives.
    pub surroundings: Surroundings<'a>,
    /// Whether it serves an agent, and not one command.
    pub is_server: bool,
    /// The folder where clients are recorded as seen, once the settings are known.
    pub last_seen_folder: Option<PathBuf>,
    /// What is written down of the answers of tools, once the settings are known.
    pub recorder: Option<DeliveryRecorder>,
    /// Whether the working directory decided something.
    pub directory_use: DirectoryUse,
}

impl<'a> Retriever<'a> {
    /// Makes the process; nothing is opened yet.
    #[must_use]
    pub fn new(surroundings: Surroundings<'a>) -> Self {
        Self {
            surroundings,
            is_server: false,
            last_seen_folder: None,
            recorder: None,
            directory_use: DirectoryUse::default(),
        }
    }
}

impl Retriever<'_> {
    /// Returns what writes down the answers of tools, unless the settings switch that off.
    pub fn delivery_recorder(&self, settled: &ResolvedSettings) -> Option<DeliveryRecorder> {
        let journal =
            DeliveryJournal::for_store(&settled.cache_dir, &settled.store, &settled.config)?;
        let caller = self.caller(self.project_directory(settled));
        let clock = self.surroundings.clock;
        Some(DeliveryRecorder {
            journal,
            directory: caller.directory,
            agent: caller.agent_id,
            session: caller.session_id,
            clock: Arc::new(move || clock().now),
        })
    }
}
