//! Puts the commands together that look after what is there. Not here: what they do (`upkeep`).

use std::path::{Path, PathBuf};

use super::{Program, Settings, Settled, failed};
use crate::event::{Problems, RepoKey};
use crate::retriever::serve::api::ApiError;
use crate::retriever::serve::args::{Scrub, Verify};
use crate::retriever::serve::cli::Need;
use crate::retriever::snapshot::Room;
use crate::retriever::upkeep::{Checked, Recogniser, doctor, scrub, verify};
use crate::retriever::watch::Watching;
use crate::store::{Places, Store};

/// How many bytes of memory a byte of a log can take: a line that says next to nothing has some thirty
/// bytes and takes a thousand, or 2,700 with its vector.
const ROOM_PER_BYTE_MAX: u64 = 100;

impl Program<'_> {
    pub(super) fn verify(
        &self,
        settings: &Settings,
        command: &Verify,
    ) -> Result<Checked, ApiError> {
        let settled = self.settle(settings)?;
        let logs = match command.repo.as_deref() {
            Some(named) => vec![log_of(&settled, named)?],
            None if command.files.is_empty() => {
                settled.store.logs().map_err(|error| failed(&error))?
            }
            None => {
                let found = command.files.iter().map(|log| self.log_at(&settled.store, log));
                found.collect::<Result<_, _>>()?
            }
        };
        verify::verify(&verify::Request {
            store: &settled.store,
            config: &settled.config,
            logs,
            damaged: if command.dry_run {
                verify::DamagedLines::Leave
            } else {
                verify::DamagedLines::Copy
            },
            now: (self.surroundings.clock)().now,
            recogniser: &Recogniser::default(),
        })
        .map_err(|error| failed(&error))
    }

    pub(super) fn scrub(&self, settings: &Settings, command: &Scrub) -> Result<Checked, ApiError> {
        let settled = self.settle(settings)?;
        let log = command.repo.as_deref().map(|named| log_of(&settled, named)).transpose()?;
        scrub::scrub(&scrub::Request {
            store: &settled.store,
            repo: log.as_deref().map(Store::repo_of),
            how: if command.dry_run { scrub::How::DryRun } else { scrub::How::Change },
            recogniser: &Recogniser::default(),
            cache_dir: &settled.cache_dir,
        })
        .map_err(|error| failed(&error))
    }

    /// Examines also what keeps all other commands from beginning.
    pub(super) fn doctor(&self, settings: &Settings) -> Checked {
        let lookup = self.surroundings.lookup;
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let config_file = set("AGENT_KNOWLEDGE_CONFIG").map(PathBuf::from);
        let config_file =
            config_file.or_else(|| Places::of_platform().map(|places| places.config_file));
        let (settled, settings_trouble) = match self.settle(settings) {
            Ok(settled) => (Some(settled), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let folders = set("PATH").map(|path| std::env::split_paths(&path).collect());
        doctor::examine(&doctor::Request {
            store: settled.as_ref().map(|settled| &settled.store),
            config_file,
            settings_trouble,
            model_dir: settled.as_ref().map(|settled| settled.model_dir.clone()),
            cache_dir: settled.as_ref().map(|settled| settled.cache_dir.clone()),
            room: settled.as_ref().and_then(|settled| self.room(settings, settled)),
            watching: settled.as_ref().map_or(Watching::PollOnly, |settled| settled.watching),
            home: set("HOME").or_else(|| set("USERPROFILE")).map(PathBuf::from),
            directory: &self.surroundings.directory,
            program_folders: folders.unwrap_or_default(),
        })
    }

    /// Returns how much memory the memories take. Of logs far below the bound it is not asked, since all
    /// of them must be read for it.
    fn room(&self, settings: &Settings, settled: &Settled) -> Option<Room> {
        let logs = settled.store.logs().ok()?;
        let bytes = logs.iter().filter_map(|log| Some(log.symlink_metadata().ok()?.len()));
        if bytes.sum::<u64>().saturating_mul(ROOM_PER_BYTE_MAX) < settled.bound.bytes_max {
            return None;
        }
        let local = self.local(settings, Need::Words).ok()?;
        local.engine().snapshot().ok().map(|snapshot| snapshot.room())
    }

    /// Finds a log by its path, or by its name in the store.
    fn log_at(&self, store: &Store, log: &Path) -> Result<PathBuf, ApiError> {
        let here = self.surroundings.directory.join(log);
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        let places = [here, store.root().join(log)];
        places.into_iter().find(|path| is_there(path)).ok_or_else(|| missing(log, store))
    }
}

fn log_of(settled: &Settled, named: &str) -> Result<PathBuf, ApiError> {
    let refuse = |message: String| ApiError::Invalid(Problems::one("repo", message));
    let key = RepoKey::parse(named).map_err(|error| refuse(error.to_string()))?;
    let key = settled.store.resolve(&key, &settled.config).map_err(|error| failed(&error))?;
    let log = settled.store.log_of(&key);
    if log.symlink_metadata().is_ok() { Ok(log) } else { Err(missing(&log, &settled.store)) }
}

fn missing(log: &Path, store: &Store) -> ApiError {
    let (log, root) = (log.display(), store.root().display());
    ApiError::NotFound(format!("there is no log {log}; the logs are in {root}"))
}
