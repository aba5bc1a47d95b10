//! Assembles the commands that check and maintain the logs. Not here: what they do (`upkeep`).

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::args::upkeep::{Archive, Scrub, Upkeep, Verify};
use crate::program::Program;
use api::local::Doctor;
use engine::watch::Watching;
use event::{Problems, RepoKey, quoted};
use requests::ApiError;
use requests::Reply;
use requests::Request;
use retriever::failure::failed;
use retriever::options::GlobalOptions;
use retriever::options::Need;
use retriever::reranking;
use retriever::resolved_settings::ResolvedSettings;
use retriever::startup::Surroundings;
use search::Point;
use search::snapshot::Room;
use store::Store;
use upkeep::surfaces::OwnFolders;
use upkeep::{CheckReport, CheckVerdict, Recogniser, archive, doctor, scrub, verify};
use writer::exit::Exit;

/// Memory that a byte of a log can take, in bytes: a line that says next to nothing has some thirty bytes and takes a
/// thousand, or 2,700 with its vector.
const ROOM_PER_BYTE_MAX: u64 = 100;

/// How many times longer the lines of a segment are than the segment, at most. Measured segments have a quarter to a
/// third of the length of their lines.
const PACKED_TIMES: u64 = 16;

/// Where this program writes.
fn places(settled: &ResolvedSettings) -> OwnFolders<'_> {
    let (cache, sessions) = (&settled.cache_dir, &settled.sessions_dir);
    OwnFolders { store: settled.store.root(), cache, sessions }
}

impl Program<'_> {
    pub(super) fn maintain(
        &mut self,
        settings: &GlobalOptions,
        command: Upkeep,
        messages: &mut dyn Write,
    ) -> Result<(Exit, Reply), ApiError> {
        let checked = match command {
            Upkeep::Digest(_) => {
                return Ok((Exit::Done, self.open(settings, Need::Words)?.ask(&Request::Digest)?));
            }
            Upkeep::Verify(command) => self.verify(settings, &command)?,
            Upkeep::Scrub(command) => self.scrub(settings, &command)?,
            Upkeep::Archive(command) => return self.archive(settings, &command),
            Upkeep::Sync(command) => return self.sync(settings, &command, messages),
            Upkeep::Doctor(_) => self.doctor(settings),
        };
        let exit = match checked.verdict {
            CheckVerdict::Fine => Exit::Done,
            CheckVerdict::Wrong => Exit::NotFound,
        };
        Ok((exit, checked.reply))
    }

    pub(super) fn verify(
        &self,
        settings: &GlobalOptions,
        command: &Verify,
    ) -> Result<CheckReport, ApiError> {
        let settled = self.settle(settings)?;
        let store = &settled.store;
        let (logs, segments) = match command.repo.as_deref() {
            Some(named) => {
                let log = log_of(&settled, named)?;
                (vec![log.clone()], verify::Segments::Of(log))
            }
            None if command.files.is_empty() => {
                (store.logs().map_err(|error| failed(&error))?, verify::Segments::All)
            }
            None => {
                let found = command.files.iter().map(|log| self.log_at(store, log));
                (found.collect::<Result<_, _>>()?, verify::Segments::None)
            }
        };
        verify::verify(&verify::VerifyRequest {
            store,
            config: &settled.config,
            logs,
            segments,
            damaged: if command.dry_run {
                verify::DamagedLines::Leave
            } else {
                verify::DamagedLines::Copy
            },
            changed: if command.accept {
                verify::ChangedLogs::Accept
            } else {
                verify::ChangedLogs::Tell
            },
            now: (self.surroundings.clock)().now,
            recogniser: &Recogniser::default(),
            places: places(&settled),
        })
        .map_err(|error| failed(&error))
    }

    pub(super) fn scrub(
        &self,
        settings: &GlobalOptions,
        command: &Scrub,
    ) -> Result<CheckReport, ApiError> {
        let settled = self.settle(settings)?;
        let log = command.repo.as_deref().map(|named| log_of(&settled, named)).transpose()?;
        scrub::scrub(&scrub::ScrubRequest {
            store: &settled.store,
            repo: log.as_deref().map(Store::repo_of),
            how: if command.dry_run { scrub::ScrubMode::DryRun } else { scrub::ScrubMode::Change },
            recogniser: &Recogniser::default(),
            places: places(&settled),
        })
        .map_err(|error| failed(&error))
    }

    pub(super) fn archive(
        &self,
        settings: &GlobalOptions,
        command: &Archive,
    ) -> Result<(Exit, Reply), ApiError> {
        let settled = self.settle(settings)?;
        let bounds = self.bounds(command)?;
        let logs = match command.repos.as_slice() {
            [] => settled.store.logs().map_err(|error| failed(&error))?,
            repos => {
                let found = repos.iter().map(|named| log_of(&settled, named));
                found.collect::<Result<_, _>>()?
            }
        };
        let how = if command.dry_run {
            archive::ArchiveMode::DryRun
        } else {
            archive::ArchiveMode::Change
        };
        let request = archive::ArchiveRequest { store: &settled.store, logs, bounds, how };
        let archive::Archived { checked, failed } = archive::archive(&request);
        let exit = failed.as_ref().map_or(Exit::Done, Exit::of_store);
        Ok((exit, checked.reply))
    }

    /// Wrong values are reported before anything is read.
    fn bounds(&self, command: &Archive) -> Result<archive::Bounds, ApiError> {
        let mut problems = Problems::none();
        let keep_lines = command.keep.as_deref().and_then(|text| {
            let lines = text.trim().parse::<u64>().ok();
            if lines.is_none() {
                problems.add(
                    "keep",
                    format!("must be a whole number, 0 or more, got {}", quoted(text)),
                );
            }
            lines
        });
        let now = (self.surroundings.clock)().now;
        let not_before = command.older_than.as_deref().and_then(|text| {
            let point = Point::parse(text);
            if point.is_none() {
                problems
                    .add("older_than", format!("must be {}, got {}", Point::ALLOWED, quoted(text)));
            }
            point.map(|point| point.first(now))
        });
        let unasked = not_before.is_none().then_some(archive::KEEP_LINES_DEFAULT);
        let bounds = archive::Bounds { keep_lines: keep_lines.or(unasked), not_before };
        problems.or(bounds).map_err(ApiError::Invalid)
    }

    /// Also checks what stops all other commands from starting.
    pub(super) fn doctor(&self, settings: &GlobalOptions) -> CheckReport {
        self.examine(settings, |_| {
            let local = self.local(settings, Need::Words).ok()?;
            local.engine().snapshot().ok().map(|snapshot| snapshot.room())
        })
    }

    /// Returns the same checks for callers of the shared retriever. They change nothing.
    pub(super) fn doctor_of_server(&self, settings: &GlobalOptions) -> Doctor {
        let Surroundings { variable, clock, secret, leave, .. } = self.surroundings;
        let Surroundings { directory, temporary, program, host, .. } = &self.surroundings;
        let (directory, temporary) = (directory.clone(), temporary.clone());
        let (program, host, settings) = (program.clone(), host.clone(), settings.clone());
        Box::new(move |core| {
            let program = Program::new(Surroundings {
                lookup: &variable,
                variable,
                directory: directory.clone(),
                temporary: temporary.clone(),
                program: program.clone(),
                host: host.clone(),
                clock,
                secret,
                leave,
            });
            let room = |_: &_| core.engine.snapshot().ok().map(|snapshot| snapshot.room());
            program.examine(&settings, room).reply
        })
    }

    /// Examines everything; `room` tells how much memory the memories take.
    fn examine(
        &self,
        settings: &GlobalOptions,
        room: impl Fn(&ResolvedSettings) -> Option<Room>,
    ) -> CheckReport {
        let lookup = self.surroundings.lookup;
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let config_file = self.config_path();
        let (settled, settings_trouble) = match self.settle(settings) {
            Ok(settled) => (Some(settled), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let folders = set("PATH").map(|path| std::env::split_paths(&path).collect());
        doctor::examine(&doctor::DoctorRequest {
            store: settled.as_ref().map(|settled| &settled.store),
            config_file,
            settings_trouble,
            settings_findings: settled
                .as_ref()
                .map(|settled| settled.config.findings.iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
            model_dir: settled.as_ref().map(|settled| settled.model_dir.clone()),
            cache_dir: settled.as_ref().map(|settled| settled.cache_dir.clone()),
            room: settled.as_ref().filter(|settled| may_be_full(settled)).and_then(room),
            watching: settled.as_ref().map_or(Watching::PollOnly, |settled| settled.watching),
            home: set("HOME").or_else(|| set("USERPROFILE")).map(PathBuf::from),
            clients: self
                .clients(settled.as_ref().map(|settled| settled.cache_dir.as_path()))
                .unwrap_or_default(),
            directory: self.surroundings.directory.path(),
            program_folders: folders.unwrap_or_default(),
            sessions: settled.as_ref().and_then(|settled| self.sessions_note(settled)),
            team: settled.as_ref().and_then(|settled| self.team_note(settled)),
            reranker: settled.as_ref().and_then(reranking::note),
        })
    }

    /// Finds a log by its path, or by its name in the store.
    fn log_at(&self, store: &Store, log: &Path) -> Result<PathBuf, ApiError> {
        let here = self.surroundings.directory.path().join(log);
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        let places = [here, store.root().join(log)];
        places.into_iter().find(|path| is_there(path)).ok_or_else(|| missing(log, store))
    }
}

/// Tells whether the memories could reach their bound. Logs far below it are not read to find out.
fn may_be_full(settled: &ResolvedSettings) -> bool {
    let bytes = |paths: &[PathBuf]| -> u64 {
        paths.iter().filter_map(|path| Some(path.symlink_metadata().ok()?.len())).sum()
    };
    let (Ok(logs), Ok(segments)) = (settled.store.logs(), settled.store.segments()) else {
        return false;
    };
    let bytes = bytes(&segments).saturating_mul(PACKED_TIMES).saturating_add(bytes(&logs));
    bytes.saturating_mul(ROOM_PER_BYTE_MAX) >= settled.bound.bytes_max
}

fn log_of(settled: &ResolvedSettings, named: &str) -> Result<PathBuf, ApiError> {
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
