//! What all callers of one process share, and the memory for one of them. Not here: answers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use ::search::links::LinkCache;
use engine::Engine;
use engine::watch::WatchMode;
use event::{FolderPath, RepoKey, Timestamp};
use index::lexical::AnalysisCache;
use reply::ReplyReader;
use sessions::past_sessions::PastSessions;
use settings::Config;
use store::Store;
use writer::{Identity, Moment, Writer};

use crate::journal::agent_delivery::DeliveryJournal;
use crate::query_log::QueryLog;
use crate::reranker::RerankerSource;
use crate::second_source::SecondSource;
use crate::work_trees::WorkTrees;
use reply::Reply;
use requests::caller::{Caller, Patience};

/// Checks everything around the logs, without changing anything.
pub type DoctorCheck = Box<dyn Fn(&Core) -> Reply + Send + Sync>;

/// What all callers of one process share.
pub struct Core {
    /// The running engine.
    pub engine: Engine,
    /// Where the logs are.
    pub store: Store,
    /// Settings; aliases are followed.
    pub config: Config,
    /// How changes of files are noticed.
    pub watching: WatchMode,
    /// The directory of the embedding model.
    pub model_dir: PathBuf,
    /// The log of searches that found nothing; `None` for none.
    pub query_log: Option<QueryLog>,
    /// Writes down what agents are shown; `None` where that is switched off.
    pub delivery_journal: Option<DeliveryJournal>,
    /// The links of the last snapshot that was asked for them.
    pub links: LinkCache,
    /// The words of texts that saves compared.
    pub analysis_cache: Mutex<AnalysisCache>,
    /// The past sessions of other tools, as far as they are kept.
    pub past_sessions: PastSessions,
    /// The work trees that callers came from.
    pub work_trees: WorkTrees,
    /// The memory as of a past time, while somebody asks for it.
    pub past: PastMemory,
    /// Where searches look besides; `None` for nowhere.
    pub second_source: Option<Arc<dyn SecondSource>>,
    /// Who orders likely hits, as the settings say from moment to moment; `None` for nobody.
    pub reranker: Option<RerankerSource>,
    /// Checks everything around the logs, where the program lets callers ask for that.
    pub doctor: OnceLock<DoctorCheck>,
    /// Tells the time, and gives random bits.
    pub clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

/// The memory in this process, for one caller.
pub struct Local {
    pub(super) core: Arc<Core>,
    pub(super) writer: Writer,
    pub(super) place: Option<place::Place>,
    pub(super) here: Option<RepoKey>,
    /// The package of it at hand, looked for when first asked.
    pub(super) package: OnceLock<Option<FolderPath>>,
    pub(super) patience: Patience,
    pub(super) missing_model_reported: AtomicBool,
    pub(super) past_sessions: SessionAccess,
    pub(super) answers_others: bool,
}

/// Whether the caller may be told of past sessions and of work trees, which belong to the user of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionAccess {
    Granted,
    Withheld,
}

/// A replica answers as of the full minute, in milliseconds: the replicas of a team give one answer, not one for each
/// millisecond. A minute changes no order that anybody could see.
pub(super) const REPLICA_STEP_MS: i64 = 60_000;

impl Core {
    /// Returns the time that an answer is given for.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let now = (self.clock)().now;
        if self.config.member.is_none() {
            return now;
        }
        let passed_ms = now.as_millisecond().rem_euclid(REPLICA_STEP_MS);
        Timestamp::from_millisecond(now.as_millisecond() - passed_ms).unwrap_or(now)
    }
}

impl Local {
    /// Answers for a caller, and resolves the repository of its working directory, where it has one.
    #[must_use]
    pub fn new(core: Arc<Core>, caller: Caller) -> Self {
        let Caller { directory, agent_id, session_id, source, host, patience } = caller;
        let identity = Identity { agent_id, session_id, source, host };
        let (store, config) = (core.store.clone(), core.config.clone());
        let place = directory.as_deref().map(|directory| store.place_at(directory, &config));
        let here = place.as_ref().and_then(|place| place.repository.clone());
        if let (Some(place), Some(here)) = (&place, &here) {
            core.work_trees.record_tree(place, here);
        }
        let directory = directory.unwrap_or_default();
        let writer = Writer { store, config, directory, identity };
        let missing_model_reported = AtomicBool::new(false);
        Self {
            core,
            writer,
            place,
            here,
            package: OnceLock::new(),
            patience,
            missing_model_reported,
            past_sessions: SessionAccess::Granted,
            answers_others: false,
        }
    }

    /// Answers other machines, so that nothing private may be saved here.
    #[must_use]
    pub fn for_other_machines(self) -> Self {
        Self { answers_others: true, ..self }
    }

    /// Tells who reads the replies. Only the command line waits as long as a person does.
    pub(super) fn reader(&self) -> ReplyReader {
        let is_person = self.patience == Patience::FOR_PERSON;
        if is_person { ReplyReader::CommandLine } else { ReplyReader::Caller }
    }

    /// Tells whether the caller is not the user of this machine.
    pub(super) fn is_of_others(&self) -> bool {
        self.past_sessions == SessionAccess::Withheld
    }

    /// Says nothing of past sessions and of work trees: they are for the user of this machine, and this caller is somebody else.
    #[must_use]
    pub fn without_past_sessions(self) -> Self {
        Self { past_sessions: SessionAccess::Withheld, ..self }
    }

    /// Returns the engine, for programs that watch its progress.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.core.engine
    }
}

/// The memory as of one past time, the last that was asked about.
#[derive(Default)]
pub struct PastMemory {
    pub(super) kept: Mutex<Option<KeptPastMemory>>,
    pub(super) waiting: AtomicUsize,
    /// Whether a thread waits to free it.
    pub(super) is_freed_later: AtomicBool,
}

/// What was read up to that time, for the next question about it.
pub(super) struct KeptPastMemory {
    pub(super) time: Timestamp,
    pub(super) core: Arc<Core>,
    pub(super) used: Instant,
}
