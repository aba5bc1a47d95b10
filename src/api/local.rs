//! The memory in this process: an engine that all callers share, and a writer for each. `impl Api for Local` is the
//! table of contents; each call is answered by the file it names. Not here: retrievers in other processes (crate
//! `retriever`).

mod change;
mod citation;
mod damage;
mod find;
mod list;
mod look;
mod memory_bound;
mod repositories;
mod shared_core;
mod snapshots;

pub use shared_core::{Core, Doctor, Local};

use self::change::{bulk_change, contradictions, links, memory_change, save};
use self::damage::sound_answer;
use self::find::{as_of, briefing, search_run, session_search};
use self::list::{analysis, listing, log_events};
use self::look::{related, staleness, status};
use requests::{Api, ApiError, ContextRequest, Mode, Reply, Request, SearchRequest, Voice};

impl Api for Local {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        match request {
            Request::Search(request) => self.search(request),
            Request::Context(request) => self.context(request),
            Request::Show(ids) => self.show(ids),
            Request::Sessions(request) => session_search::search(self, request),
            Request::Save(draft) => save::save(self, (**draft).clone(), voice.client()),
            Request::Change(request) => memory_change::change(self, request, voice),
            Request::Sweep(request) => bulk_change::sweep(self, request),
            Request::Link(request) => links::link(self, request, voice),
            Request::Patterns(request) => analysis::patterns(self, request, voice),
            Request::Review(request) => {
                sound_answer(|used| contradictions::review(self, request, used))
            }
            Request::Related(request) => sound_answer(|used| related::related(self, request, used)),
            Request::Analyze(request) => {
                sound_answer(|used| analysis::analyze(self, request, used))
            }
            Request::Stale(request) => sound_answer(|used| staleness::stale(self, request, used)),
            Request::List(listing) => sound_answer(|used| listing::list(self, listing, used)),
            Request::LogEvents(request) => {
                sound_answer(|used| log_events::log_events(self, request, used))
            }
            Request::Recent(limit) => sound_answer(|used| listing::recent(self, *limit, used)),
            Request::Complete(request) => {
                sound_answer(|used| listing::complete(self, request, used))
            }
            Request::Digest => sound_answer(|used| status::digest(self, used)),
            Request::Status => status::status(self),
            Request::Doctor => status::doctor(self),
            Request::Whoami => status::whoami(self),
        }
    }
}

impl Local {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        let then = as_of::answer(self, request.as_of, request.mode, |it| {
            it.search(&SearchRequest { as_of: None, ..request.clone() })
        });
        if let Some(then) = then {
            return then;
        }
        if !request.ids.is_empty() {
            return self.show(&request.ids);
        }
        sound_answer(|used| search_run::search(self, request, used))
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        let then = as_of::answer(self, request.as_of, Mode::Hybrid, |it| {
            it.context(&ContextRequest { as_of: None, ..request.clone() })
        });
        if let Some(then) = then {
            return then;
        }
        sound_answer(|used| briefing::context(self, request, used))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        sound_answer(|used| listing::show(self, ids, used))
    }
}
