//! The memory in this process: an engine that all callers share, and a writer for each. `impl Api for Local` is the
//! table of contents; each request is answered in one of four folders. Not here: retrievers in other processes (crate
//! `retriever`).

mod caller_files;
mod change;
mod citation;
mod find;
mod list;
mod look;
mod repositories;
mod shared_core;
mod snapshots;
mod unread_logs;

pub use shared_core::{Core, DoctorCheck, Local};

use requests::{Api, ApiError, Reply, Request, Voice};

impl Api for Local {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        match request {
            Request::Search(request) => find::search(self, request),
            Request::Context(request) => find::context(self, request),
            Request::Sessions(request) => find::search_sessions(self, request),
            Request::Save(draft) => change::save(self, (**draft).clone(), voice.client()),
            Request::Change(request) => change::change(self, request, voice),
            Request::Sweep(request) => change::sweep(self, request),
            Request::Link(request) => change::link(self, request, voice),
            Request::Patterns(request) => change::patterns(self, request, voice),
            Request::List(listing) => self.with_all(|all| list::list(self, listing, all)),
            Request::Recent(request) => self.with_all(|all| list::recent(self, request, all)),
            Request::LogEvents(request) => {
                self.with_all(|all| list::log_events(self, request, all))
            }
            Request::Analyze(request) => self.with_all(|all| list::analyze(self, request, all)),
            Request::Review(request) => self.with_all(|all| list::review(self, request, all)),
            Request::Complete(request) => list::complete(self, request),
            Request::Show(ids) => look::show(self, ids),
            Request::Related(request) => self.with_all(|all| look::related(self, request, all)),
            Request::Stale(request) => self.with_all(|all| look::stale(self, request, all)),
            Request::Digest => self.with_all(|all| look::digest(self, all)),
            Request::Status => look::status(self),
            Request::Doctor => look::doctor(self),
            Request::Whoami => look::whoami(self),
        }
    }
}
