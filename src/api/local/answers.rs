//! [`Api`] in this process: each answer is made once more where what it was made from turns out damaged. Not here:
//! the answers (`local`).

use std::cell::RefCell;

use super::Local;
use crate::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, PatternsRequest, RelatedRequest, ReviewRequest, SearchRequest, StaleRequest,
    SweepRequest, Voice,
};
use event::Draft;
use reply::Reply;
use search::snapshot::Snapshot;

/// The state that an answer was made from.
#[derive(Default)]
pub(super) struct Seen(RefCell<Option<Snapshot>>);

impl Seen {
    pub(super) fn note(&self, snapshot: &Snapshot) {
        self.0.replace(Some(snapshot.clone()));
    }

    /// Whether a record that was needed could not be read.
    fn is_damaged(&self) -> bool {
        self.0.borrow().as_ref().is_some_and(Snapshot::is_damaged)
    }
}

/// Answers, and once more where a record of a checkpoint was not what had been written: the next state is made
/// from the logs.
fn soundly(answer: impl Fn(&Seen) -> Result<Reply, ApiError>) -> Result<Reply, ApiError> {
    let seen = Seen::default();
    let reply = answer(&seen);
    if seen.is_damaged() { answer(&Seen::default()) } else { reply }
}

impl Api for Local {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        soundly(|seen| self.found(request, seen))
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        soundly(|seen| self.briefed(request, seen))
    }

    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        self.saved(draft, client)
    }

    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.changed(request, voice)
    }

    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError> {
        soundly(|seen| self.reviewed(request, seen))
    }

    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError> {
        self.swept(request)
    }

    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.linked(request, voice)
    }

    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError> {
        soundly(|seen| self.walked(request, seen))
    }

    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError> {
        soundly(|seen| self.analyzed(request, seen))
    }

    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.patterned(request, voice)
    }

    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError> {
        soundly(|seen| self.looked_over(request, seen))
    }

    fn list(&self, listing: &Listing) -> Result<Reply, ApiError> {
        soundly(|seen| self.listed_as(listing, seen))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        soundly(|seen| self.shown(ids, seen))
    }

    fn recent(&self, limit: usize) -> Result<Reply, ApiError> {
        soundly(|seen| self.listed(limit, seen))
    }

    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError> {
        soundly(|seen| self.completed(request, seen))
    }

    fn status(&self) -> Result<Reply, ApiError> {
        self.told()
    }

    fn digest(&self) -> Result<Reply, ApiError> {
        soundly(|seen| self.summed(seen))
    }

    fn whoami(&self) -> Result<Reply, ApiError> {
        self.resolved()
    }
}
