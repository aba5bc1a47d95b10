//! Runs the shared retriever of a store, and connects to it. Not here: the protocol between them (`daemon`).

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::stopping::{elsewhere, ended};
use super::{GlobalOptions, Program, ResolvedSettings, Watches, failed, unused};
use crate::args::Serve;
use crate::cli::Need;
use crate::daemon::{
    Alone, Endpoint, Host, Remote, Served, Start, ask_to_leave, detach, runtime_folder,
};
use api::caller::Caller;
use api::local::{Core, Local};
use api::requests;
use api::work_trees::watcher;
use api::{Api, ApiError};
use engine::checkpoint::Checkpoints;
use engine::watch::Watching;
use event::EventId;
use reply::Reply;
use search::snapshot::Snapshot;
use store::{ArchivePolicy, FileLock, StoreError, when_asked_to_stop};
use upkeep::archive::by_policy;
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

/// Memories checked in one step, and the milliseconds between steps: about a third of one processor, since one check
/// takes some ten microseconds. Then the milliseconds between two looks for new memories.
const ORDERS_STEP: usize = 512;
const ORDERS_STEP_MS: u64 = 10;
const ORDERS_PAUSE_MS: u64 = 15_000;

/// The folder of checkpoints, below the cache directory.
const INDEX_FOLDER: &str = "index";

/// The variable that says whether to share a retriever, and its two values.
const RETRIEVER: &str = "AGENT_KNOWLEDGE_RETRIEVER";
const SHARED: &str = "shared";
const OWN: &str = "own";

impl Program<'_> {
    /// Returns a client of the retriever; `None` where this process answers itself.
    pub(super) fn remote(
        &self,
        settings: &GlobalOptions,
        need: Need,
        program: &str,
    ) -> Result<Option<Remote>, ApiError> {
        if self.shares()? { self.attaching(settings, need, program) } else { Ok(None) }
    }

    /// Tells whether the settings ask for a shared retriever.
    pub(super) fn shares(&self) -> Result<bool, ApiError> {
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

    /// Returns a client of the retriever, whatever the setting says.
    pub(super) fn attaching(
        &self,
        settings: &GlobalOptions,
        need: Need,
        program: &str,
    ) -> Result<Option<Remote>, ApiError> {
        let caller = self.caller(self.surroundings.directory.clone());
        self.attaching_as(caller, settings, need, program)
    }

    /// Returns a client of the retriever, for a caller.
    pub(super) fn attaching_as(
        &self,
        caller: Caller,
        settings: &GlobalOptions,
        need: Need,
        program: &str,
    ) -> Result<Option<Remote>, ApiError> {
        let Some(this) = self.surroundings.program.clone() else { return Ok(None) };
        let settled = self.settle(settings)?;
        if !settled.is_store_named && need == Need::Meaning {
            // The retriever is told the store by its name, and a store that does not exist cannot be watched.
            let _ = settled.store.ensure();
        }
        let (start, endpoint) = (self.start(this, &settled), self.endpoint(&settled));
        let clock = self.surroundings.clock;
        let (watches, speaker) = (self.watching(), caller.clone());
        let alone: Alone = Box::new(move || {
            let core = Self::core(settled.clone(), need, watches, Box::new(clock), None)?;
            Ok(Arc::new(Local::new(Arc::new(core), speaker.clone())) as Arc<dyn Api>)
        });
        Ok(Some(Remote {
            endpoint,
            start,
            program: program.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            caller,
            alone,
            fresh_id: Box::new(move || {
                let Moment { now, random } = clock();
                EventId::mint(now, random)
            }),
            state: <_>::default(),
        }))
    }

    /// Runs the retriever until it ends, or stops the running one.
    pub(super) fn serve_others(
        &self,
        settings: &GlobalOptions,
        command: &Serve,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let idle =
            requests::number("idle_minutes", command.idle_minutes.clone(), 0..=IDLE_MINUTES_MAX);
        let idle = idle?.unwrap_or(IDLE_MINUTES_DEFAULT);
        let started = self.started();
        if command.stop {
            return self.stop(settings);
        }
        if command.background {
            detach();
        }
        let settled = self.settle(settings)?;
        let endpoint = self.endpoint(&settled);
        endpoint.ensure().map_err(|error| failed(&error))?;
        let listening = self.listening(command, settings, &endpoint)?;
        let Some(elected) = self.elected(settings, &endpoint, command)? else {
            return Ok(elsewhere());
        };
        if endpoint.is_forbidden_since(started) {
            return Ok(ended(Served::Asked));
        }
        endpoint.name_holder();
        let root = settled.store.root().to_owned();
        let sessions_dir = settled.sessions_dir.clone();
        self.exchange_now_and_then(&settled);
        let checkpoints = checkpoints(&self.build(), &settled, &endpoint);
        unused::forget(
            &settled.cache_dir.join(INDEX_FOLDER),
            &endpoint,
            (self.surroundings.clock)().now,
        );
        let clock = Box::new(self.surroundings.clock);
        let core = Self::core(settled, Need::Meaning, Watches::AsSet, clock, Some(checkpoints))?;
        let core = Arc::new(core);
        self.let_ask_doctor(settings, &core);
        self.import_now_and_then(sessions_dir);
        let idle =
            (idle > 0).then(|| Duration::from_secs(60 * u64::try_from(idle).unwrap_or(u64::MAX)));
        let host = Host::listen(endpoint, Arc::clone(&core), env!("CARGO_PKG_VERSION"), idle);
        let mut host = host.map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to listen for clients: {error}"),
        })?;
        self.archive_now_and_then(&core);
        look_for_orders(&core);
        watcher::start(&core, host.attendance());
        // Where signals cannot be watched they end the process, which loses nothing.
        let _ = when_asked_to_stop(host.stopper());
        let machine = self.caller(PathBuf::new()).host;
        let servers = listening.open(&mut host, machine.as_deref(), command, messages)?;
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
        Ok(ended(why))
    }

    /// Becomes the one retriever; `None` where it was started in the background and another one runs.
    fn elected(
        &self,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
        command: &Serve,
    ) -> Result<Option<FileLock>, ApiError> {
        let lock = match command {
            serve if serve.has_address() => self.succeed(settings, endpoint)?,
            Serve { background: true, .. } => endpoint.elect(),
            Serve { .. } => endpoint.elect_now(),
        };
        match lock {
            Ok(lock) => Ok(Some(lock)),
            Err(StoreError::Busy { .. }) if command.background => Ok(None),
            Err(StoreError::Busy { .. }) => Err(running_already()),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Replaces a retriever that has no address. Its clients connect to the next one, and the quickest of them
    /// may start another before this one is ready: then that one is asked too.
    fn succeed(
        &self,
        settings: &GlobalOptions,
        endpoint: &Endpoint,
    ) -> Result<Result<FileLock, StoreError>, ApiError> {
        let mut lock = endpoint.elect_now();
        for _ in 0..SUCCESSIONS_MAX {
            if !matches!(lock, Err(StoreError::Busy { .. })) {
                break;
            }
            let Some(remote) = self.attaching(settings, Need::Words, "serve")? else { break };
            let status = remote.status()?.json;
            // If no retriever answered, the running one may still have an address.
            if status.get("retriever").is_none() || says_address(&status) {
                break;
            }
            // A retriever that ended by itself meanwhile makes room too.
            let _ = ask_to_leave(&remote);
            lock = endpoint.elect();
        }
        Ok(lock)
    }

    /// Tells whether a running retriever has an address. None is started to find out.
    pub(super) fn has_address(&self, settings: &GlobalOptions, endpoint: &Endpoint) -> bool {
        let is_there = matches!(endpoint.elect_now(), Err(StoreError::Busy { .. }));
        let remote = is_there.then(|| self.attaching(settings, Need::Words, "serve"));
        let status = remote.and_then(|remote| remote.ok()?).and_then(|it| it.status().ok());
        status.is_some_and(|status| says_address(&status.json))
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
            (core.store.clone(), core.config.archive, self.surroundings.clock);
        if policy == ArchivePolicy::default() {
            return;
        }
        // Without a thread the next retriever does it, or the command.
        let _ = std::thread::Builder::new().name("archive".to_owned()).spawn(move || {
            loop {
                // What could not be archived is reported by the next `doctor` or by the command.
                let _ = by_policy(&store, policy, clock().now);
                std::thread::park_timeout(Duration::from_secs(ARCHIVE_PAUSE_SECONDS));
            }
        });
    }

    /// Returns the address of the retriever with these settings.
    pub(super) fn endpoint(&self, settled: &ResolvedSettings) -> Endpoint {
        let set = |name: &str| {
            (self.surroundings.lookup)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let named = set("AGENT_KNOWLEDGE_RUNTIME").map(|path| self.absolute(&path));
        let folder = runtime_folder(named, &self.absolute(&settled.cache_dir));
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
        let shown = |path: &Path| self.absolute(path).to_string_lossy().into_owned();
        let watches = if *watching == Watching::System { "system" } else { "poll" };
        let settings: [&str; 6] = [
            &*shown(store.root()),
            &shown(model_dir),
            &shown(cache_dir),
            &shown(sessions_dir),
            &format!("{config:?} {bound:?}"),
            watches,
        ];
        Endpoint::of(folder, &settings)
    }

    /// Returns the command that starts it with the same settings.
    fn start(&self, program: PathBuf, settled: &ResolvedSettings) -> Start {
        let args: [OsString; 6] = [
            "--logs".into(),
            self.absolute(settled.store.root()).into(),
            "--model".into(),
            self.absolute(&settled.model_dir).into(),
            "serve".into(),
            "--background".into(),
        ];
        let mut set =
            vec![("AGENT_KNOWLEDGE_CACHE".to_owned(), self.absolute(&settled.cache_dir).into())];
        for name in ["AGENT_KNOWLEDGE_CONFIG", "AGENT_KNOWLEDGE_RUNTIME"] {
            let value = (self.surroundings.lookup)(name).filter(|value| !value.is_empty());
            set.extend(value.map(|path| (name.to_owned(), self.absolute(Path::new(&path)).into())));
        }
        // A third-party runtime may report its use to its maker.
        set.push(("ORT_DISABLE_TELEMETRY".to_owned(), "1".into()));
        // Not a directory of ours: on some systems it could not be removed while the retriever runs.
        let root = self.surroundings.temporary.clone();
        Start { program, args: args.to_vec(), set, directory: root, clock: self.surroundings.clock }
    }

    /// Returns the same path whatever directory it is named from, and whether it exists or not; links in it are
    /// followed.
    fn absolute(&self, path: &Path) -> PathBuf {
        let path = self.surroundings.directory.join(path);
        let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
        let Some((part, there)) = there else { return path };
        let rest = path.strip_prefix(part).unwrap_or(Path::new(""));
        rest.components().fold(there, |place, component| place.join(component))
    }
}

pub(super) fn running_already() -> ApiError {
    let message = "a retriever of this store is running already; see agent-knowledge status, or stop it with agent-knowledge serve --stop".to_owned();
    ApiError::Failed { exit: Exit::Busy, message }
}

/// Tells whether a retriever with this status has an address.
fn says_address(status: &serde_json::Value) -> bool {
    ["http", "https", "grpc"].iter().any(|server| status.get(server).is_some())
}

/// Finds in advance which memories read like instructions. Doing it during a search that meets hundreds of new
/// candidates would take longer than everything else. It goes in small steps, because nobody waits for it.
fn look_for_orders(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    // Without a thread it is found when a search needs it.
    let _ = std::thread::Builder::new().name("orders".to_owned()).spawn(move || {
        let mut next = 0;
        while let Some(core) = core.upgrade()
            && let Ok(snapshot) = core.engine.snapshot_for_upkeep()
        {
            let is_done;
            (next, is_done) = judge_some(&snapshot, next);
            // Nothing is held during the pause: the end waits for it.
            drop((snapshot, core));
            let pause_ms = if is_done { ORDERS_PAUSE_MS } else { ORDERS_STEP_MS };
            std::thread::park_timeout(Duration::from_millis(pause_ms));
        }
    });
}

/// Checks some memories from a number on. Returns the number to continue from, and whether all are done. Memories
/// checked before, for example in a checkpoint, take no time.
fn judge_some(snapshot: &Snapshot, from: usize) -> (usize, bool) {
    // Some memories may be gone meanwhile, and others have their numbers.
    let from = from.min(snapshot.memories().len());
    let rest = snapshot.memories().iter().enumerate().skip(from);
    let mut unjudged = rest.filter(|(_, memory)| !memory.is_flag_known());
    let mut next = from;
    for (number, memory) in unjudged.by_ref().take(ORDERS_STEP) {
        let _ = memory.flagged();
        next = number + 1;
    }
    match unjudged.next() {
        Some(_) => (next, false),
        None => (snapshot.memories().len(), true),
    }
}

/// Returns where checkpoints are kept. Vectors of another model do not count.
fn checkpoints(program: &str, settled: &ResolvedSettings, endpoint: &Endpoint) -> Checkpoints {
    let folder = settled.cache_dir.join(INDEX_FOLDER).join(endpoint.name());
    let model = format!("all-MiniLM-L6-v2 {:?}", settled.config.embedding);
    let has_model = settled.bound.vector_bytes > 0;
    Checkpoints::at(folder, program, has_model.then_some(model.as_str()))
}
