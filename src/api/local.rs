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

pub use shared_core::{Core, DoctorCheck, Local};

use self::damage::undamaged_answer;
use requests::{Api, ApiError, ContextRequest, Mode, Reply, Request, SearchRequest, Voice};

impl Api for Local {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        match request {
            Request::Search(request) => self.search(request),
            Request::Context(request) => self.context(request),
            Request::Show(ids) => self.show(ids),
            Request::Sessions(request) => past_sessions::search(self, request),
            Request::Save(draft) => save::save(self, (**draft).clone(), voice.client()),
            Request::Change(request) => change::change(self, request, voice),
            Request::Sweep(request) => bulk_change::sweep(self, request),
            Request::Link(request) => links::link(self, request, voice),
            Request::Patterns(request) => analysis::patterns(self, request, voice),
            Request::Review(request) => {
                undamaged_answer(|used| contradictions::review(self, request, used))
            }
            Request::Related(request) => {
                undamaged_answer(|used| related::related(self, request, used))
            }
            Request::Analyze(request) => {
                undamaged_answer(|used| analysis::analyze(self, request, used))
            }
            Request::Stale(request) => {
                undamaged_answer(|used| staleness::stale(self, request, used))
            }
            Request::List(listing) => undamaged_answer(|used| listing::list(self, listing, used)),
            Request::LogEvents(request) => {
                undamaged_answer(|used| log_events::log_events(self, request, used))
            }
            Request::Recent(limit) => undamaged_answer(|used| listing::recent(self, *limit, used)),
            Request::Complete(request) => {
                undamaged_answer(|used| listing::complete(self, request, used))
            }
            Request::Digest => undamaged_answer(|used| state::digest(self, used)),
            Request::Status => state::status(self),
            Request::Doctor => state::doctor(self),
            Request::Whoami => state::whoami(self),
        }
    }
}

impl Local {
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
        undamaged_answer(|used| find::search(self, request, used))
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        let then = past::answer(self, request.as_of, Mode::Hybrid, |it| {
            it.context(&ContextRequest { as_of: None, ..request.clone() })
        });
        if let Some(then) = then {
            return then;
        }
        undamaged_answer(|used| context::context(self, request, used))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        undamaged_answer(|used| listing::show(self, ids, used))
    }
}
