//! The memory of one MCP session. It answers from the directory in which the session works, which a client may say only after the
//! server started, and again when it opens another folder. Not here: asking the client (`mcp::client_roots`), which of several
//! directories counts (`place`).

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp::session_place::SessionPlace;
use place::{DirectoryOrigin, KnownDirectory};
use requests::{Api, ApiError, Reply, Request, Voice};
use settings::Config;
use store::Store;
use writer::project_directory::{project_directory, remember_change};
use writer::{Moment, StartDirectory};

/// Opens the memory for a caller in a directory. It must not block: a call waits for it.
pub type DirectoryOpener = Box<dyn Fn(Option<PathBuf>) -> Arc<dyn Api> + Send + Sync>;

/// What tells where a session works.
pub struct SessionDirectories {
    /// Whose memories mark a folder as a project.
    pub store: Store,
    /// The settings, for aliases.
    pub config: Config,
    /// The directory of the process.
    pub start: StartDirectory,
    /// What is known before the client says anything: an argument, the process, the environment.
    pub known: Vec<KnownDirectory>,
    /// Returns the time.
    pub clock: fn() -> Moment,
}

/// The memory of one session.
pub struct SessionMemory {
    directories: SessionDirectories,
    opener: DirectoryOpener,
    now: Mutex<OpenedDirectory>,
}

/// Where calls are answered from at present.
struct OpenedDirectory {
    directory: Option<PathBuf>,
    api: Arc<dyn Api>,
}

impl SessionDirectories {
    /// Returns the directory that counts, if the client offers these roots besides.
    #[must_use]
    pub fn choose(&self, roots: &[KnownDirectory]) -> Option<PathBuf> {
        let all: Vec<KnownDirectory> = self.known.iter().chain(roots).cloned().collect();
        project_directory(&self.store, &self.config, &self.start, &all)
    }
}

impl SessionMemory {
    /// Opens it where the session works as far as is known.
    #[must_use]
    pub fn open(directories: SessionDirectories, opener: DirectoryOpener) -> Self {
        let directory = directories.choose(&[]);
        let now = OpenedDirectory { api: opener(directory.clone()), directory };
        Self { directories, opener, now: Mutex::new(now) }
    }

    fn now(&self) -> MutexGuard<'_, OpenedDirectory> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionPlace for SessionMemory {
    fn learn_roots(&self, roots: &[String]) {
        let machine = self.directories.store.machine();
        let roots = roots
            .iter()
            .filter_map(|uri| KnownDirectory::from_text(DirectoryOrigin::Root, uri, machine));
        let directory = self.directories.choose(&roots.collect::<Vec<_>>());
        if let Some(directory) = &directory {
            let SessionDirectories { store, config, clock, .. } = &self.directories;
            remember_change(store, config, directory, clock().now);
        }
        let mut now = self.now();
        if now.directory != directory {
            *now = OpenedDirectory { api: (self.opener)(directory.clone()), directory };
        }
    }

    fn directory(&self) -> Option<PathBuf> {
        let directory = self.now().directory.clone()?;
        let SessionDirectories { store, config, .. } = &self.directories;
        store.place_at(&directory, config).repository.is_some().then_some(directory)
    }
}

impl Api for SessionMemory {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        let api = Arc::clone(&self.now().api);
        api.ask_as(request, voice)
    }
}
