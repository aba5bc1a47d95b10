//! Puts together the one retriever of a store, and what attaches to it. Not here: how they talk (`attach`).

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{Program, Settings, Settled, Watches, failed, unused};
use crate::args::Serve;
use crate::cli::Need;
use crate::daemon::{
    Alone, Endpoint, Host, Remote, Served, Start, ask_to_leave, detach, runtime_folder,
};
use crate::http::HttpServer;
use api::caller::Caller;
use api::local::{Core, Local};
use api::wire;
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

/// How long the retriever stays while nobody is attached, in minutes: long enough that a person who asks now
/// and then finds it there, short enough that its memory is given back before a break is over.
const IDLE_MINUTES_DEFAULT: usize = 10;

/// Longest that may be asked for: a week, after which nobody remembers having asked.
const IDLE_MINUTES_MAX: usize = 7 * 24 * 60;

/// How long writing down what was made of the logs may take at the end, in milliseconds: more than a million
/// memories need, and whoever comes next waits for no longer.
const KEEP_MS_MAX: u64 = 5_000;

/// How many retrievers are asked in turn to make room for one that was asked for over HTTP.
const SUCCESSIONS_MAX: usize = 5;

/// How long between two looks whether logs have grown too long, in seconds.
const ARCHIVE_PAUSE_SECONDS: u64 = 3_600;

/// Memories judged in one step, and the pauses between steps, in milliseconds: about a third of one processor, as
/// judging one takes some ten microseconds; and between two looks for new ones.
const ORDERS_STEP: usize = 512;
const ORDERS_STEP_MS: u64 = 10;
const ORDERS_PAUSE_MS: u64 = 15_000;

/// The folder of that, in that of the cache.
const INDEX_FOLDER: &str = "index";

/// The variable that says whether to attach at all, and its two values.
const RETRIEVER: &str = "AGENT_KNOWLEDGE_RETRIEVER";
const SHARED: &str = "shared";
const OWN: &str = "own";

impl Program<'_> {
    /// Returns what attaches to the retriever; `None` where this process is to do everything itself.
    pub(super) fn remote(
        &self,
        settings: &Settings,
        need: Need,
        program: &str,
    ) -> Result<Option<Remote>, ApiError> {
        if self.shares()? { self.attaching(settings, need, program) } else { Ok(None) }
    }

    /// Tells whether the settings want a retriever to be shared.
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

    /// Returns what attaches to the retriever, whatever the setting says.
    fn attaching(
        &self,
        settings: &Settings,
        need: Need,
        program: &str,
    ) -> Result<Option<Remote>, ApiError> {
        let caller = self.caller(self.surroundings.directory.clone());
        self.attaching_as(caller, settings, need, program)
    }

    /// Returns what attaches to the retriever for somebody.
    pub(super) fn attaching_as(
        &self,
        caller: Caller,
        settings: &Settings,
        need: Need,
        program: &str,
    ) -> Result<Option<Remote>, ApiError> {
        let Some(this) = self.surroundings.program.clone() else { return Ok(None) };
        let settled = self.settle(settings)?;
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

    /// Serves others until the end, or asks the one that does to end.
    pub(super) fn serve_others(
        &self,
        settings: &Settings,
        command: &Serve,
        messages: &mut dyn Write,
    ) -> Result<Reply, ApiError> {
        let idle = wire::number("idle_minutes", command.idle_minutes.clone(), 0..=IDLE_MINUTES_MAX);
        let idle = idle?.unwrap_or(IDLE_MINUTES_DEFAULT);
        if command.stop {
            return self.stop(settings);
        }
        if command.background {
            detach();
        }
        let settled = self.settle(settings)?;
        let endpoint = self.endpoint(&settled);
        endpoint.ensure().map_err(|error| failed(&error))?;
        let http_socket = self.http_socket(command, settings, &endpoint)?;
        let Some(elected) = self.elected(settings, &endpoint, command)? else {
            return Ok(elsewhere());
        };
        let root = settled.store.root().to_owned();
        let checkpoints = checkpoints(&self.build(), &settled, &endpoint);
        unused::forget(
            &settled.cache_dir.join(INDEX_FOLDER),
            &endpoint,
            (self.surroundings.clock)().now,
        );
        let clock = Box::new(self.surroundings.clock);
        let core = Self::core(settled, Need::Meaning, Watches::AsSet, clock, Some(checkpoints))?;
        let core = Arc::new(core);
        let idle =
            (idle > 0).then(|| Duration::from_secs(60 * u64::try_from(idle).unwrap_or(u64::MAX)));
        let host = Host::listen(endpoint, Arc::clone(&core), env!("CARGO_PKG_VERSION"), idle);
        let mut host = host.map_err(|error| ApiError::Failed {
            exit: Exit::Io,
            message: format!("failed to listen for clients: {error}"),
        })?;
        self.archive_now_and_then(&core);
        look_for_orders(&core);
        // Where signals cannot be watched they end the process, which loses nothing.
        let _ = when_asked_to_stop(host.stopper());
        let machine = self.caller(PathBuf::new()).host;
        let http = http_socket
            .map(|http_socket| http_socket.open(&mut host, machine, command, messages))
            .transpose()?;
        if !command.background {
            complain(
                messages,
                "agent-knowledge",
                &format!("serving {}; Ctrl-C ends it", root.display()),
            );
        }
        let why = host.run();
        http.into_iter().for_each(HttpServer::end);
        // Who comes next need not wait; what is kept has a lock of its own.
        drop(elected);
        core.engine.save_checkpoint(Duration::from_millis(KEEP_MS_MAX));
        Ok(ended(why))
    }

    /// Takes the place of the one retriever; none if it was to be taken in the background and another has it.
    fn elected(
        &self,
        settings: &Settings,
        endpoint: &Endpoint,
        command: &Serve,
    ) -> Result<Option<FileLock>, ApiError> {
        let lock = match command {
            Serve { background: true, .. } => endpoint.elect(),
            Serve { http: Some(_), .. } => self.succeed(settings, endpoint)?,
            Serve { .. } => endpoint.elect_now(),
        };
        match lock {
            Ok(lock) => Ok(Some(lock)),
            Err(StoreError::Busy { .. }) if command.background => Ok(None),
            Err(StoreError::Busy { .. }) => Err(running_already()),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Takes the place of a retriever that cannot be reached over HTTP. Its clients attach to who comes after it, and
    /// the quickest of them may start another before we are there: then that one is asked too.
    fn succeed(
        &self,
        settings: &Settings,
        endpoint: &Endpoint,
    ) -> Result<Result<FileLock, StoreError>, ApiError> {
        let mut lock = endpoint.elect_now();
        for _ in 0..SUCCESSIONS_MAX {
            if !matches!(lock, Err(StoreError::Busy { .. })) {
                break;
            }
            let Some(remote) = self.attaching(settings, Need::Words, "serve")? else { break };
            let status = remote.status()?.json;
            // Where no retriever answered but this process itself, the one there is may have an address too.
            if status.get("retriever").is_none() || status.get("http").is_some() {
                break;
            }
            // One that ended by itself meanwhile leaves its place too.
            let _ = ask_to_leave(&remote);
            lock = endpoint.elect();
        }
        Ok(lock)
    }

    /// Tells whether there is a retriever that can be reached over HTTP. None is started to find out.
    pub(super) fn has_address(&self, settings: &Settings, endpoint: &Endpoint) -> bool {
        let is_there = matches!(endpoint.elect_now(), Err(StoreError::Busy { .. }));
        let remote = is_there.then(|| self.attaching(settings, Need::Words, "serve"));
        let status = remote.and_then(|remote| remote.ok()?).and_then(|it| it.status().ok());
        status.is_some_and(|status| status.json.get("http").is_some())
    }

    /// Tells this program from others of the same version: another build may see other secrets, or cut words
    /// elsewhere.
    fn build(&self) -> String {
        let metadata = self.surroundings.program.as_ref().and_then(|path| path.metadata().ok());
        let stamp = metadata.map(|metadata| (metadata.len(), metadata.modified().ok()));
        format!("{} {stamp:?}", env!("CARGO_PKG_VERSION"))
    }

    /// Archives old lines as the configuration says, beside all else.
    fn archive_now_and_then(&self, core: &Core) {
        let (store, policy, clock) =
            (core.store.clone(), core.config.archive, self.surroundings.clock);
        if policy == ArchivePolicy::default() {
            return;
        }
        // Without a thread the next retriever does it, or the command.
        let _ = std::thread::Builder::new().name("archive".to_owned()).spawn(move || {
            loop {
                // What could not be archived is told by the next `doctor` or by the command.
                let _ = by_policy(&store, policy, clock().now);
                std::thread::park_timeout(Duration::from_secs(ARCHIVE_PAUSE_SECONDS));
            }
        });
    }

    fn stop(&self, settings: &Settings) -> Result<Reply, ApiError> {
        let remote = self.attaching(settings, Need::Words, "serve")?;
        let has_ended = remote.is_some_and(|remote| ask_to_leave(&remote));
        let text = if has_ended { "The retriever is ending." } else { "No retriever is running." };
        Ok(Reply::new(text.to_owned(), json!({ "stopped": has_ended })))
    }

    /// Names the place of the retriever with these settings.
    fn endpoint(&self, settled: &Settled) -> Endpoint {
        let set = |name: &str| {
            (self.surroundings.lookup)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let named = set("AGENT_KNOWLEDGE_RUNTIME").map(|path| self.absolute(&path));
        let folder = runtime_folder(named, &self.absolute(&settled.cache_dir));
        let Settled { store, config, bound, model_dir, cache_dir, watching } = settled;
        let shown = |path: &Path| self.absolute(path).to_string_lossy().into_owned();
        let watches = if *watching == Watching::System { "system" } else { "poll" };
        let settings = [
            &*shown(store.root()),
            &shown(model_dir),
            &shown(cache_dir),
            &format!("{config:?} {bound:?}"),
            watches,
        ];
        Endpoint::of(folder, &settings)
    }

    /// Says how to start it so that it settles on the same.
    fn start(&self, program: PathBuf, settled: &Settled) -> Start {
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
        // A runtime that somebody brought along may tell its maker how it is used.
        set.push(("ORT_DISABLE_TELEMETRY".to_owned(), "1".into()));
        // No directory of ours: it could not be removed on some systems while the retriever is there.
        let root = self.surroundings.temporary.clone();
        Start { program, args: args.to_vec(), set, directory: root }
    }

    /// The same place whatever directory it is named from, and whether it is there yet or not; links in it are
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
    let message = "a retriever of this store is running already; agent-knowledge status tells more, and agent-knowledge serve --stop ends it".to_owned();
    ApiError::Failed { exit: Exit::Busy, message }
}

/// Finds out beforehand which memories read like instructions: for a question that meets hundreds of candidates
/// for the first time it would take longer than all else. In small steps, since nobody waits for it.
fn look_for_orders(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    // Without a thread it is found out when it is asked.
    let _ = std::thread::Builder::new().name("orders".to_owned()).spawn(move || {
        let mut next = 0;
        while let Some(core) = core.upgrade()
            && let Ok(snapshot) = core.engine.snapshot_for_upkeep()
        {
            let is_done;
            (next, is_done) = judge_some(&snapshot, next);
            // Nothing is held over the pause: the end waits for it.
            drop((snapshot, core));
            let pause_ms = if is_done { ORDERS_PAUSE_MS } else { ORDERS_STEP_MS };
            std::thread::park_timeout(Duration::from_millis(pause_ms));
        }
    });
}

/// Judges some memories from a number on; returns the number to go on from, and whether that was all. Those that
/// were judged before, in a checkpoint for instance, take no time.
fn judge_some(snapshot: &Snapshot, from: usize) -> (usize, bool) {
    // Some may have gone meanwhile, and others have their numbers.
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

/// Where what is made of the logs is kept. Vectors of another model are none.
fn checkpoints(program: &str, settled: &Settled, endpoint: &Endpoint) -> Checkpoints {
    let folder = settled.cache_dir.join(INDEX_FOLDER).join(endpoint.name());
    let model = format!("all-MiniLM-L6-v2 {:?}", settled.config.embedding);
    let has_model = settled.bound.vector_bytes > 0;
    Checkpoints::at(folder, program, has_model.then_some(model.as_str()))
}

fn elsewhere() -> Reply {
    Reply::new("Another retriever was quicker.".to_owned(), json!({ "served": false }))
}

fn ended(why: Served) -> Reply {
    let text = match why {
        Served::Idle => "Nobody was attached any more.",
        Served::Asked => "Asked to end.",
        Served::Unreachable => "The socket is gone; the next client starts another retriever.",
    };
    Reply::new(text.to_owned(), json!({ "served": true, "ended": text }))
}
