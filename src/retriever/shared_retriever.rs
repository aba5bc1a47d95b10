//! Runs the shared retriever of a store, and connects to it. Not here: the protocol between them (`daemon`).

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::engine_feeding;
use crate::failure::store_error;
use crate::options::GlobalOptions;
use crate::options::MemoryNeed;
use crate::order_checks::start_order_checks;
use crate::resolved_settings::{ResolvedSettings, WatchChoice};
use crate::serve_options::ServeOptions;
use crate::startup::Retriever;
use crate::stopping::{end_reply, not_elected_reply};
use crate::{model_plan, model_watch, unused_checkpoints};
use api::local::{Core, DoctorCheck, Local};
use requests::Request;
use requests::caller::Caller;

use api::work_trees::watcher;
use daemon::endpoint::{Endpoint, runtime_folder};
use daemon::host::{Host, HostEnd};
use daemon::process::{RetrieverCommand, detach};
use daemon::retriever_client::{LocalOpener, RetrieverClient};
use daemon::retriever_connection::ask_to_leave;
use engine::checkpoint::Checkpoints;
use engine::watch::WatchMode;
use event::{EventId, StoreOrigin};
use memory::MemoryBound;
use reply::{Reply, StatusAnswer};
use requests::{Api, ApiError};
use settings::variables::{CACHE, CONFIG, RETRIEVER, RUNTIME};
use store::{FileLock, StoreError, on_stop_signal};
use upkeep::archive::by_policy;
use web::apis::Audience;
use writer::Moment;
use writer::exit::{Exit, complain};

/// How long the retriever stays without a connected client, in minutes: long enough that a person who asks now and
/// then finds it running, short enough that its memory is returned before a break is over.
const IDLE_MINUTES_DEFAULT: usize = 10;

/// The longest setting: a week.
const IDLE_MINUTES_MAX: usize = 7 * 24 * 60;

/// How long the last checkpoint may take at the end, in milliseconds: more than a million memories need. The next
/// retriever waits no longer.
const KEEP_MS_MAX: u64 = 5_000;

/// How many retrievers, one after another, are asked to end for one with HTTP.
const SUCCESSIONS_MAX: usize = 5;

/// Seconds between two checks whether logs have grown too long.
const ARCHIVE_PAUSE_SECONDS: u64 = 3_600;

/// The folder of checkpoints, below the cache directory.
const INDEX_FOLDER: &str = "index";
const SHARED: &str = "shared";
const OWN: &str = "own";

/// Returns how long the retriever waits for somebody to ask before it ends; `None` where it waits for ever.
fn idle_limit(command: &ServeOptions) -> Result<Option<Duration>, ApiError> {
    let given =
        requests::number("idle_minutes", command.idle_minutes.clone(), 0..=IDLE_MINUTES_MAX)?;
    // Balancers come and go; a replica ends when somebody ends it.
    let minutes = given.unwrap_or(if command.team { 0 } else { IDLE_MINUTES_DEFAULT });
    let seconds = u64::try_from(minutes).unwrap_or(u64::MAX).saturating_mul(60);
    Ok((minutes > 0).then(|| Duration::from_secs(seconds)))
}

impl Retriever<'_> {
    /// Returns a client of the retriever; `None` where this process answers itself.
    pub fn shared_client(
        &self,
        settings: &GlobalOptions,
        need: MemoryNeed,
        program: &str,
    ) -> Result<Option<RetrieverClient>, ApiError> {
        if self.is_shared()? { self.retriever_client(settings, need, program) } else { Ok(None) }
    }

    /// Tells whether the settings ask for a shared retriever.
    pub fn is_shared(&self) -> Result<bool, ApiError> {
        let set = |name: &str| (self.surroundings.lookup)(name).filter(|value| !value.is_empty());
        match set(RETRIEVER).as_ref().map(|value| value.to_string_lossy()).as_deref() {
            None | Some(SHARED) => Ok(true),
            Some(OWN) => Ok(false),
            Some(other) => {
                let message = format!("{RETRIEVER} must be {SHARED} or {OWN}, got {other:?}");
                Err(ApiError::Failed { exit: Exit::Config, message })
            }
        }
    }

    /// Returns a client of the retriever, even if the setting asks for an own one.
    pub fn retriever_client(
        &self,
        settings: &GlobalOptions,
        need: MemoryNeed,
        program: &str,
    ) -> Result<Option<RetrieverClient>, ApiError> {
        let (directory, settled) = self.settled_directory(settings)?;
        let caller = self.caller(directory);
        Ok(self.retriever_client_for(caller, settled, need, program))
    }

    /// Returns a client of the retriever, for a caller. `None` where this program does not know where it is.
    pub fn retriever_client_for(
        &self,
        caller: Caller,
        settled: ResolvedSettings,
        need: MemoryNeed,
        program: &str,
    ) -> Option<RetrieverClient> {
        let this = self.surroundings.program.clone()?;
        if !settled.is_store_named && need == MemoryNeed::Meaning {
            // The retriever gets the store by its name, and a store that does not exist cannot be watched.
            let _ = settled.store.ensure();
        }
        let (retriever_command, endpoint) = (self.start(this, &settled), self.endpoint(&settled));
        let clock = self.surroundings.clock;
        let watches = self.watch_choice();
        let open_local: LocalOpener = Arc::new(move |caller: &Caller| {
            let core = Self::open_core(settled.clone(), need, watches, Box::new(clock), None)?;
            Ok(Arc::new(Local::new(Arc::new(core), caller.clone())) as Arc<dyn Api>)
        });
        Some(RetrieverClient {
            endpoint,
            retriever_command,
            program: program.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            caller,
            open_local,
            fresh_id: Arc::new(move || {
                let Moment { now, random } = clock();
                EventId::mint(now, random)
            }),
            state: <_>::default(),
        })
    }

    /// Returns where checkpoints are kept, and forgets those that nobody uses any more.
    fn checkpoints(&self, settled: &ResolvedSettings, endpoint: &Endpoint) -> Checkpoints {
        let index = settled.cache_dir.join(INDEX_FOLDER);
        unused_checkpoints::remove_unused_checkpoints(
            &index,
            endpoint,
            (self.surroundings.clock)().now,
        );
        model_plan::checkpoints(index.join(endpoint.name()), &self.build(), settled)
    }

    /// Runs the retriever until it ends, or stops the running one.
    pub fn serve_others(
        &self,
        settings: &GlobalOptions,
        command: &ServeOptions,
        doctor: DoctorCheck,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let idle = idle_limit(command)?;
        let started = self.started();
        if command.stop {
            return self.stop(settings);
        }
        if command.background {
            detach();
        }
        let mut settled = self.resolve_settings(settings)?;
        let replica = command.team.then(|| self.replica(&mut settled)).transpose()?;
        let endpoint = self.endpoint(&settled);
        endpoint.create_folder().map_err(|error| store_error(&error))?;
        let to_feed = self.engine_to_feed(command, &settled)?;
        let listening = self.listening_sockets(command, settings, &endpoint)?;
        let Some(elected) = self.become_elected(settings, &endpoint, command)? else {
            return Ok(not_elected_reply());
        };
        if endpoint.is_stop_requested_since(started) {
            return Ok(end_reply(HostEnd::StopRequested));
        }
        endpoint.write_holder();
        let root = settled.store.root().to_owned();
        let sessions_dir = settled.sessions_dir.clone();
        self.begin_exchanges(&settled, replica.as_ref())?;
        let checkpoints = self.checkpoints(&settled, &endpoint);
        let clock = Box::new(self.surroundings.clock);
        let (watches, with_model) = (WatchChoice::Configured, settled.clone());
        let core =
            Self::open_core(settled, MemoryNeed::Meaning, watches, clock, Some(checkpoints))?;
        let core = Arc::new(core);
        if replica.is_none() {
            model_watch::start(&core, &with_model, self.config_path());
        }
        to_feed.into_iter().for_each(|engine| engine_feeding::start(engine, &core));
        // It is set once, before anybody asks.
        let _ = core.doctor.set(doctor);
        if replica.is_none() {
            self.import_periodically(sessions_dir);
        }
        let host = Host::listen(endpoint, Arc::clone(&core), env!("CARGO_PKG_VERSION"), idle);
        let mut host = host.map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to listen for clients: {error}"),
        })?;
        self.archive_now_and_then(&core);
        start_order_checks(&core);
        watcher::start(&core, host.attendance());
        // Where signals cannot be watched they end the process, which loses nothing.
        let _ = on_stop_signal(host.stopper());
        let machine = self.caller(None).host;
        let health = replica.as_ref().map(|replica| Arc::clone(&replica.health));
        if let Some(replica) = replica {
            replica
                .follow(&core, web::http_caller::http_caller(machine.clone(), Audience::Team))?;
        }
        let listening = listening.with_replica_health(health.as_ref());
        let servers = listening.open(&mut host, machine.as_ref(), command, messages)?;
        if !command.background {
            complain(
                messages,
                "agent-knowledge",
                &format!("serving {}; Ctrl-C ends it", root.display()),
            );
        }
        let why = host.run();
        servers.end();
        // The next retriever need not wait; the checkpoint has a lock of its own.
        drop(elected);
        core.engine.save_checkpoint(Duration::from_millis(KEEP_MS_MAX));
        Ok(end_reply(why))
    }

    /// Becomes the one retriever; `None` where it was started in the background and another one runs.
    fn become_elected(
        &self,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
        command: &ServeOptions,
    ) -> Result<Option<FileLock>, ApiError> {
        let lock = match command {
            serve if serve.has_address() => self.replace_retriever(settings, endpoint)?,
            ServeOptions { background: true, .. } => endpoint.elect(),
            ServeOptions { .. } => endpoint.elect_now(),
        };
        match lock {
            Ok(lock) => Ok(Some(lock)),
            Err(StoreError::Busy { .. }) if command.background => Ok(None),
            Err(StoreError::Busy { .. }) => Err(already_running_error()),
            Err(error) => Err(store_error(&error)),
        }
    }

    /// Replaces a retriever that has no address. Its clients connect to the next one, and the quickest of them
    /// may start another before this one is ready: then that one is asked too.
    fn replace_retriever(
        &self,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
    ) -> Result<Result<FileLock, StoreError>, ApiError> {
        let mut lock = endpoint.elect_now();
        for _ in 0..SUCCESSIONS_MAX {
            if !matches!(lock, Err(StoreError::Busy { .. })) {
                break;
            }
            let Some(remote) = self.retriever_client(settings, MemoryNeed::Words, "serve")? else {
                break;
            };
            let status: StatusAnswer = remote.ask(&Request::Status)?.answer().unwrap_or_default();
            // If no retriever answered, the running one may still have an address.
            if status.retriever.is_none() || says_address(&status) {
                break;
            }
            // A retriever that ended by itself meanwhile makes room too.
            let _ = ask_to_leave(&remote);
            lock = endpoint.elect();
        }
        Ok(lock)
    }

    /// Tells whether a running retriever has an address. None is started to find out.
    pub fn has_address(&self, settings: &GlobalOptions, endpoint: &Endpoint) -> bool {
        let is_there = matches!(endpoint.elect_now(), Err(StoreError::Busy { .. }));
        let remote = is_there.then(|| self.retriever_client(settings, MemoryNeed::Words, "serve"));
        let status =
            remote.and_then(|remote| remote.ok()?).and_then(|it| it.ask(&Request::Status).ok());
        status.and_then(|status| status.answer().ok()).is_some_and(|status| says_address(&status))
    }

    /// Identifies this build among others of the same version: another build may find other secrets, or split words
    /// differently.
    fn build(&self) -> String {
        let metadata = self.surroundings.program.as_ref().and_then(|path| path.metadata().ok());
        let stamp = metadata.map(|metadata| (metadata.len(), metadata.modified().ok()));
        format!("{} {stamp:?}", env!("CARGO_PKG_VERSION"))
    }

    /// Archives old lines as the configuration says, in the background.
    fn archive_now_and_then(&self, core: &Core) {
        let (store, policy, clock) =
            (core.store.clone(), core.config.general.clone(), self.surroundings.clock);
        if policy.archive_above_lines.is_none() && policy.archive_older_than.is_none() {
            return;
        }
        // Without a thread the next retriever does it, or the command.
        let _ = std::thread::Builder::new().name("archive".to_owned()).spawn(move || {
            loop {
                // What could not be archived is reported by the next `doctor` or by the command.
                let _ = by_policy(&store, &policy, clock().now);
                std::thread::park_timeout(Duration::from_secs(ARCHIVE_PAUSE_SECONDS));
            }
        });
    }

    /// Returns the address of the retriever with these settings.
    pub fn endpoint(&self, settled: &ResolvedSettings) -> Endpoint {
        let set = |name: &str| {
            (self.surroundings.lookup)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let named = set(RUNTIME).map(|path| self.absolute_path(&path));
        let folder = runtime_folder(named, &self.absolute_path(&settled.cache_dir));
        let ResolvedSettings {
            store,
            config,
            bound,
            model_dir,
            cache_dir,
            sessions_dir,
            watching,
            ..
        } = settled;
        let shown = |path: &Path| self.absolute_path(path).to_string_lossy().into_owned();
        let watches = if *watching == WatchMode::System { "system" } else { "poll" };
        let MemoryBound { bytes_max, vector_bytes } = bound;
        let past = config.as_of.as_ref().map(|past| format!("{} {:?}", past.time, past.end));
        let member = config.member.as_ref().map(StoreOrigin::as_str);
        let settings: [&str; 7] = [
            &*shown(store.root()),
            &shown(model_dir),
            &shown(cache_dir),
            &shown(sessions_dir),
            &config.changed_lines(|_| true).join("\n"),
            &format!("{past:?} {member:?} {bytes_max} {vector_bytes}"),
            watches,
        ];
        Endpoint::for_settings(folder, &settings)
    }

    /// Returns the command that starts it with the same settings.
    fn start(&self, program: PathBuf, settled: &ResolvedSettings) -> RetrieverCommand {
        let mut args: Vec<OsString> = Vec::new();
        // A default that is passed on as if somebody had named it would be refused where its folder is missing.
        if settled.is_store_named {
            args.extend(["--logs".into(), self.absolute_path(settled.store.root()).into()]);
        }
        args.extend(["--model".into(), self.absolute_path(&settled.model_dir).into()]);
        args.extend(["serve".into(), "--background".into()]);
        let mut environment =
            vec![(CACHE.to_owned(), self.absolute_path(&settled.cache_dir).into())];
        for name in [CONFIG, RUNTIME] {
            let value = (self.surroundings.lookup)(name).filter(|value| !value.is_empty());
            environment.extend(
                value.map(|path| (name.to_owned(), self.absolute_path(Path::new(&path)).into())),
            );
        }
        // A third-party runtime may report its use to its maker.
        environment.push(("ORT_DISABLE_TELEMETRY".to_owned(), "1".into()));
        // Not a directory of ours: on some systems it could not be removed while the retriever runs.
        let directory = lasting_folder(&self.surroundings.temporary);
        RetrieverCommand { program, args, environment, directory, clock: self.surroundings.clock }
    }
}

/// Returns a directory in which a process can be started: the given one, or that of the file system where it does not exist.
pub(crate) fn lasting_folder(temporary: &Path) -> PathBuf {
    if temporary.is_dir() {
        return temporary.to_owned();
    }
    temporary
        .ancestors()
        .last()
        .filter(|top| top.is_absolute())
        .unwrap_or(Path::new("/"))
        .to_owned()
}

pub fn already_running_error() -> ApiError {
    let message = "a retriever of this store is running already; see agent-knowledge status, or stop it with agent-knowledge serve --stop".to_owned();
    ApiError::Failed { exit: Exit::Busy, message }
}

/// Tells whether a retriever with this status has an address.
fn says_address(status: &StatusAnswer) -> bool {
    status.http.is_some() || status.https.is_some() || status.grpc.is_some()
}
