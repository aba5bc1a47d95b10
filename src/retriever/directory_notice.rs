//! Notes whether a command asked the working directory for something, so that another directory in its place is told only where it
//! decides anything. Each request says itself whether it names its repository. Not here: finding the directory (`StartDirectory`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use api::requests::listing::RecordsOf;
use api::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, LogEventsRequest, PatternsRequest, RelatedRequest, Reply, ReviewRequest,
    SearchRequest, SearchScope, SessionSearchRequest, StaleRequest, SweepRequest, Voice, WalkStart,
};
use event::Draft;
use writer::takes_directory;

/// Whether the directory was asked for.
#[derive(Debug, Clone, Default)]
pub struct DirectoryAsked(Arc<AtomicBool>);

impl DirectoryAsked {
    /// Notes that it was, if so.
    pub fn note(&self, is_asked: bool) {
        self.0.fetch_or(is_asked, Ordering::Relaxed);
    }

    /// Tells whether it was, since this was asked last.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    /// Returns the same memory, which notes what it is asked.
    pub fn noting(&self, inner: Arc<dyn Api>) -> Arc<dyn Api> {
        Arc::new(NotingApi { inner, asked: self.clone() })
    }
}

struct NotingApi {
    inner: Arc<dyn Api>,
    asked: DirectoryAsked,
}

impl Api for NotingApi {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        // Shown by id, a memory is the same from everywhere; otherwise the repository here ranks first.
        let is_unnamed = matches!(&request.scope, SearchScope::All(None) | SearchScope::Only(None));
        self.asked.note(is_unnamed && request.ids.is_empty());
        self.inner.search(request)
    }

    fn search_sessions(&self, request: &SessionSearchRequest) -> Result<Reply, ApiError> {
        self.inner.search_sessions(request)
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        self.asked.note(request.repo.is_none());
        self.inner.context(request)
    }

    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        self.asked.note(takes_directory(&draft));
        self.inner.save(draft, client)
    }

    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.inner.change(request, voice)
    }

    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError> {
        self.asked.note(request.repo.is_none());
        self.inner.review(request)
    }

    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError> {
        self.inner.sweep(request)
    }

    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.inner.link(request, voice)
    }

    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError> {
        let is_file = matches!(&request.start, WalkStart::Change(_));
        self.asked.note(is_file && request.repo.is_none());
        self.inner.related(request)
    }

    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError> {
        self.inner.analyze(request)
    }

    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.inner.patterns(request, voice)
    }

    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError> {
        self.asked.note(request.repo.is_none());
        self.inner.stale(request)
    }

    fn list(&self, listing: &Listing) -> Result<Reply, ApiError> {
        self.asked.note(match listing {
            Listing::OfAgentFiles | Listing::Grown { .. } => true,
            Listing::Records(request) => request.of == RecordsOf::Here,
            Listing::Known(_)
            | Listing::Export(_)
            | Listing::OfSession(_)
            | Listing::Sessions(_)
            | Listing::Page(_)
            | Listing::Outline(_)
            | Listing::SuggestedTags(_)
            | Listing::Injected(_)
            | Listing::Savings(_) => false,
        });
        self.inner.list(listing)
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        self.inner.show(ids)
    }

    fn log_events(&self, request: &LogEventsRequest) -> Result<Reply, ApiError> {
        self.inner.log_events(request)
    }

    fn recent(&self, limit: usize) -> Result<Reply, ApiError> {
        self.inner.recent(limit)
    }

    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError> {
        self.inner.complete(request)
    }

    fn status(&self) -> Result<Reply, ApiError> {
        self.inner.status()
    }

    fn digest(&self) -> Result<Reply, ApiError> {
        self.inner.digest()
    }

    fn doctor(&self) -> Result<Reply, ApiError> {
        self.inner.doctor()
    }

    fn whoami(&self) -> Result<Reply, ApiError> {
        self.asked.note(true);
        self.inner.whoami()
    }
}
