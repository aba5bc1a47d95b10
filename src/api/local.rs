//! The memory in this process: an engine that all callers share, and a writer for each. `impl Api for Local` is the
//! table of contents; each call is answered by the file it names. Not here: retrievers in other processes (crate
//! `retriever`).

mod analysis;
mod beside;
mod browse;
mod bulk_change;
mod change;
mod citation;
mod context;
mod contradictions;
mod damage;
mod duplicates;
mod ends;
mod filters;
mod find;
mod injected;
mod links;
mod listing;
mod log_events;
mod memory_bound;
mod page_end;
mod past;
mod past_sessions;
mod query_vector;
mod records;
mod related;
mod repositories;
mod reranked;
mod save;
mod savings;
mod snapshots;
mod staleness;
mod state;
mod tag_suggestions;
mod write;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use self::damage::sound_answer;
use super::caller::{Caller, Patience};
use super::journal::told::Teller;
use super::query_log::QueryLog;
use super::reranker::RerankerNow;
use super::second_source::SecondSource;
use super::work_trees::WorkTrees;
use crate::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, LogEventsRequest, Mode, PatternsRequest, RelatedRequest, Reply, ReviewRequest,
    SearchRequest, SessionSearchRequest, StaleRequest, SweepRequest, Voice,
};
use ::search::links::LinkCache;
use engine::watch::Watching;
use engine::{Engine, View};
use event::{Draft, RepoKey, Timestamp};
use index::lexical::AnalysisCache;
use reply::ReplyReader;
use sessions::past_sessions::PastSessions;
use store::{Config, Store};
use writer::{Identity, Moment, Writer};

/// Checks everything around the logs, without changing anything.
pub type Doctor = Box<dyn Fn(&Core) -> Reply + Send + Sync>;

/// What all callers of one process share.
pub struct Core {
    /// The running engine.
    pub engine: Engine,
    /// Where the logs are.
    pub store: Store,
    /// Settings; aliases are followed.
    pub config: Config,
    /// How changes of files are noticed.
    pub watching: Watching,
    /// The directory of the embedding model.
    pub model_dir: PathBuf,
    /// The log of searches that found nothing; `None` for none.
    pub query_log: Option<QueryLog>,
    /// Writes down what agents are told; `None` where that is switched off.
    pub teller: Option<Teller>,
    /// The links of the last snapshot that was asked for them.
    pub links: LinkCache,
    /// The words of texts that saves compared.
    pub words: Mutex<AnalysisCache>,
    /// The past sessions of other tools, as far as they are kept.
    pub past_sessions: PastSessions,
    /// The work trees that callers came from.
    pub work_trees: WorkTrees,
    /// The memory as of a past time, while somebody asks for it.
    pub past: past::PastMemory,
    /// Where searches look besides; `None` for nowhere.
    pub second_source: Option<Arc<dyn SecondSource>>,
    /// Who orders likely hits, as the settings say from moment to moment; `None` for nobody.
    pub reranker: Option<RerankerNow>,
    /// Checks everything around the logs, where the program lets callers ask for that.
    pub doctor: OnceLock<Doctor>,
    /// Tells the time, and gives random bits.
    pub clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

/// The memory in this process, for one caller.
pub struct Local {
    core: Arc<Core>,
    writer: Writer,
    place: Option<store::DetectedRepo>,
    here: Option<RepoKey>,
    patience: Patience,
    told_about_model: AtomicBool,
    past_sessions: SessionAccess,
    answers_others: bool,
}

/// Whether the caller may be told of past sessions and of work trees, which belong to the user of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionAccess {
    Granted,
    Withheld,
}

/// A replica answers as of the full minute, in milliseconds: the replicas of a team give one answer, not one for each
/// millisecond. A minute changes no order that anybody could see.
const REPLICA_STEP_MS: i64 = 60_000;

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
        let place = directory.as_deref().map(store::DetectedRepo::of_directory);
        let here = place.as_ref().map(|place| config.current(&place.key));
        if let (Some(place), Some(here)) = (&place, &here) {
            core.work_trees.came_from(place, here);
        }
        let directory = directory.unwrap_or_default();
        let writer = Writer { store, config, directory, identity };
        let told_about_model = AtomicBool::new(false);
        Self {
            core,
            writer,
            place,
            here,
            patience,
            told_about_model,
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
    fn reader(&self) -> ReplyReader {
        let is_person = self.patience == Patience::OF_A_PERSON;
        if is_person { ReplyReader::CommandLine } else { ReplyReader::Caller }
    }

    /// Tells whether the caller is not the user of this machine.
    fn is_of_others(&self) -> bool {
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

    /// Returns how many memories are embedded, and how many there are.
    ///
    /// # Errors
    /// [`ApiError::Failed`], after a bug.
    pub fn embedded(&self) -> Result<(usize, usize), ApiError> {
        let View { snapshot, .. } = snapshots::view(self)?;
        let signed = snapshot.signed() + snapshot.withheld;
        Ok((snapshot.embedded().min(signed), snapshot.memories().len()))
    }
}

impl Api for Local {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        let then = past::answer(self, request.as_of, request.mode, |it| {
            it.search(&SearchRequest { as_of: None, ..request.clone() })
        });
        if let Some(then) = then {
            return then;
        }
        if !request.ids.is_empty() {
            return self.show(&request.ids);
        }
        sound_answer(|used| find::search(self, request, used))
    }

    fn search_sessions(&self, request: &SessionSearchRequest) -> Result<Reply, ApiError> {
        past_sessions::search(self, request)
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        let then = past::answer(self, request.as_of, Mode::Hybrid, |it| {
            it.context(&ContextRequest { as_of: None, ..request.clone() })
        });
        if let Some(then) = then {
            return then;
        }
        sound_answer(|used| context::context(self, request, used))
    }

    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        save::save(self, draft, client)
    }

    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError> {
        change::change(self, request, voice)
    }

    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError> {
        sound_answer(|used| contradictions::review(self, request, used))
    }

    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError> {
        bulk_change::sweep(self, request)
    }

    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
        links::link(self, request, voice)
    }

    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError> {
        sound_answer(|used| related::related(self, request, used))
    }

    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError> {
        sound_answer(|used| analysis::analyze(self, request, used))
    }

    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError> {
        analysis::patterns(self, request, voice)
    }

    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError> {
        sound_answer(|used| staleness::stale(self, request, used))
    }

    fn list(&self, listing: &Listing) -> Result<Reply, ApiError> {
        sound_answer(|used| listing::list(self, listing, used))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        sound_answer(|used| listing::show(self, ids, used))
    }

    fn log_events(&self, request: &LogEventsRequest) -> Result<Reply, ApiError> {
        sound_answer(|used| log_events::log_events(self, request, used))
    }

    fn recent(&self, limit: usize) -> Result<Reply, ApiError> {
        sound_answer(|used| listing::recent(self, limit, used))
    }

    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError> {
        sound_answer(|used| listing::complete(self, request, used))
    }

    fn status(&self) -> Result<Reply, ApiError> {
        state::status(self)
    }

    fn digest(&self) -> Result<Reply, ApiError> {
        sound_answer(|used| state::digest(self, used))
    }

    fn doctor(&self) -> Result<Reply, ApiError> {
        state::doctor(self)
    }

    fn whoami(&self) -> Result<Reply, ApiError> {
        state::whoami(self)
    }
}
