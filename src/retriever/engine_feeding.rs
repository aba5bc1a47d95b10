//! Feeds an engine from the memories of this machine while a server runs (`serve --index-to`). What was sent already is not sent
//! again, so it may end and begin at any time. Not here: what is sent (crate `corpus`), asking the engine (`engine_source`).

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::failure::{refuse_unknown_keys, store_error};
use crate::resolved_settings::ResolvedSettings;
use crate::serve_options::ServeOptions;
use crate::startup::Retriever;
use api::local::Core;
use corpus::{CorpusError, Feeder, ServedEngine, Viewpoint, engine_at};
use event::Timestamp;
use memory::Memory;
use requests::ApiError;
use settings::{ConfigTable, SyncPolicy};
use writer::Moment;
use writer::exit::{Exit, complain};

/// The pause between two looks for something new. An engine is for searches of a large store, which need not see a line at once:
/// this machine does.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest pause after failures.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// An engine to feed, and from where its records are written.
type FedEngine = (Box<dyn ServedEngine>, Viewpoint);

impl Retriever<'_> {
    /// Makes the engine that is to be fed, if any, with its tables or collections, before anything is served.
    ///
    /// # Errors
    /// [`ApiError::Failed`] for an address or a variable that cannot be used, and an engine that cannot be reached.
    pub fn engine_to_feed(
        &self,
        command: &ServeOptions,
        settled: &ResolvedSettings,
    ) -> Result<Option<FedEngine>, ApiError> {
        let Some(url) = command.index_to.as_deref() else { return Ok(None) };
        refuse_unknown_keys(&settled.config, ConfigTable::Engine)?;
        let refused = |message| ApiError::Failed { exit: Exit::Config, message };
        // A replica has no table [engine], which could name the variable.
        let password = command.index_password_env.as_deref().map(|name| {
            let value = (self.surroundings.lookup)(name).filter(|value| !value.is_empty());
            value.ok_or_else(|| refused(format!("the variable {name} is not set")))
        });
        let password = password.transpose()?.map(|value| value.to_string_lossy().into_owned());
        let wrong = |why| refused(format!("--index-to {why}"));
        let engine = engine_at(url, password.as_deref()).map_err(wrong)?;
        engine.make_ready().map_err(|trouble| ApiError::Failed {
            exit: Exit::Unavailable,
            message: format!("the engine {trouble}"),
        })?;
        let host = self.surroundings.host.as_deref().unwrap_or_default();
        let Moment { random, .. } = (self.surroundings.clock)();
        #[expect(clippy::cast_possible_truncation, reason = "half of the random bits are enough")]
        let own = settled
            .store
            .ensure_origin(host, random as u64)
            .map_err(|error| store_error(&error))?;
        Ok(Some((engine, Viewpoint { own, policy: settled.config.sync.clone() })))
    }
}

/// Feeds an engine until the memories are gone.
pub fn start((engine, viewpoint): FedEngine, core: &Arc<Core>) {
    let core: Weak<Core> = Arc::downgrade(core);
    let policy = viewpoint.policy.clone();
    let may_send = move |memory: &Memory| may_leave(memory, &policy);
    let mut feeder = Feeder::new(viewpoint, Box::new(may_send));
    // Without a thread nothing is fed, and searches find what was fed before.
    let _ = std::thread::Builder::new().name("feeding".to_owned()).spawn(move || {
        let (mut pause, mut told) = (PAUSE, None);
        while let Some(core) = core.upgrade() {
            let now: Timestamp = (core.clock)().now;
            let snapshot = core.engine.snapshot_for_upkeep();
            drop(core);
            let Ok(snapshot) = snapshot else { return };
            let fed = feeder.feed(&*engine, &snapshot, now);
            drop(snapshot);
            pause = match &fed {
                Ok(_) => PAUSE,
                Err(_) => (pause * 2).min(PAUSE_MAX),
            };
            report_trouble(fed.err(), &mut told);
            std::thread::park_timeout(pause);
        }
    });
}

/// Says once that an engine cannot be fed, and once that it can again.
fn report_trouble(trouble: Option<CorpusError>, told: &mut Option<CorpusError>) {
    if *told == trouble {
        return;
    }
    let text = match &trouble {
        Some(trouble) => format!("the engine {trouble}; it is not fed"),
        None => "the engine is fed again".to_owned(),
    };
    complain(&mut std::io::stderr(), "agent-knowledge", &text);
    *told = trouble;
}

/// Tells whether a memory may leave this machine: what others shared with us, and of our own what we share, but nothing that
/// reads like an instruction.
fn may_leave(memory: &Memory, policy: &SyncPolicy) -> bool {
    let is_shared = memory.provenance.log.origin.other().is_some() || policy.shares(&memory.repo);
    is_shared && memory.flagged().is_none()
}
