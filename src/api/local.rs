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
mod shared_core;
mod snapshots;
mod staleness;
mod state;
mod tag_suggestions;
mod write;

pub use shared_core::{Core, Doctor, Local};

use self::damage::sound_answer;
use crate::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, LogEventsRequest, Mode, PatternsRequest, RelatedRequest, Reply, ReviewRequest,
    SearchRequest, SessionSearchRequest, StaleRequest, SweepRequest, Voice,
};
use event::Draft;

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
