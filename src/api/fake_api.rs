//! An [`Api`] for tests of MCP, HTTP and the command line: it repeats the request, and fails for
//! some.

use std::sync::PoisonError;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::{
    AnalyzeRequest, Api, ApiError, ChangeRequest, CompleteRequest, ContextRequest, LinkRequest,
    Listing, LogEventsRequest, PatternsRequest, RelatedRequest, Reply, ReviewRequest,
    SearchRequest, SessionSearchRequest, StaleRequest, SweepRequest, Voice,
};
use event::{Draft, Problems};
use writer::exit::Exit;

/// Repeats each request.
#[derive(Default)]
pub struct Fake {
    /// The requests, in order.
    pub asked: Mutex<Vec<String>>,
    /// A search waits until the sender of this is dropped.
    pub hold: Option<Mutex<Receiver<()>>>,
}

impl Fake {
    /// Makes one that has been asked nothing.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn reply(&self, asked: String) -> Result<Reply, ApiError> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        Ok(Reply { json: json!({ "asked": asked }), text: asked })
    }
}

impl Api for Fake {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        if let Some(hold) = &self.hold {
            let _ = hold.lock().unwrap_or_else(PoisonError::into_inner).recv();
        }
        if request.query == "fail" {
            let message = "failed to read the log: disk on fire".to_owned();
            return Err(ApiError::Failed { exit: Exit::Io, message });
        }
        if !request.ids.is_empty() {
            return self.show(&request.ids);
        }
        self.reply(format!("search {:?} {:?} {:?}", request.query, request.scope, request.mode))
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        self.reply(format!("context {:?} {}", request.task, request.max_tokens))
    }

    fn save(&self, draft: Draft, client: Option<&str>) -> Result<Reply, ApiError> {
        if draft.lesson.is_none() {
            return Err(Problems::one("lesson", "is empty").into());
        }
        let session = draft.session_id.unwrap_or_default();
        self.reply(format!("save {:?} by {client:?} in {session:?}", draft.lesson))
    }

    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.reply(format!("change {:?} {:?} by {voice:?}", request.ids, request.change))
    }

    fn review(&self, request: &ReviewRequest) -> Result<Reply, ApiError> {
        self.reply(format!("review {:?} {}", request.repo, request.limit))
    }

    fn sweep(&self, request: &SweepRequest) -> Result<Reply, ApiError> {
        self.reply(format!("sweep {:?} {:?}", request.sweep, request.extent))
    }

    fn link(&self, request: &LinkRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.reply(format!("link {request:?} by {voice:?}"))
    }

    fn search_sessions(&self, request: &SessionSearchRequest) -> Result<Reply, ApiError> {
        self.reply(format!("sessions {:?} {:?}", request.query, request.scope))
    }

    fn related(&self, request: &RelatedRequest) -> Result<Reply, ApiError> {
        self.reply(format!("related {:?} {}", request.start, request.depth()))
    }

    fn analyze(&self, request: &AnalyzeRequest) -> Result<Reply, ApiError> {
        self.reply(format!("analyze {:?} {}", request.topic, request.limit))
    }

    fn patterns(&self, request: &PatternsRequest, voice: &Voice) -> Result<Reply, ApiError> {
        self.reply(format!("patterns {request:?} by {voice:?}"))
    }

    fn stale(&self, request: &StaleRequest) -> Result<Reply, ApiError> {
        self.reply(format!("stale {:?}", request.repo))
    }

    fn list(&self, listing: &Listing) -> Result<Reply, ApiError> {
        self.reply(format!("list {listing:?}"))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        if ids.iter().any(|id| id.starts_with("no")) {
            return Err(ApiError::NotFound("no memory nope; nearest: m12, m120".to_owned()));
        }
        self.reply(format!("show {ids:?}"))
    }

    fn log_events(&self, request: &LogEventsRequest) -> Result<Reply, ApiError> {
        self.reply(format!("log events {request:?}"))
    }

    fn recent(&self, limit: usize) -> Result<Reply, ApiError> {
        self.reply(format!("recent {limit}"))
    }

    fn complete(&self, request: &CompleteRequest) -> Result<Reply, ApiError> {
        let asked = format!("complete {:?} {:?}", request.slot, request.typed);
        let values: Vec<String> = (0..150).map(|number| format!("v{number}")).collect();
        let reply = self.reply(asked)?;
        Ok(reply.with("values", values.into()).with("total", 150.into()))
    }

    fn status(&self) -> Result<Reply, ApiError> {
        self.reply("status".to_owned())
    }

    fn digest(&self) -> Result<Reply, ApiError> {
        self.reply("digest".to_owned())
    }

    fn doctor(&self) -> Result<Reply, ApiError> {
        self.reply("doctor".to_owned())
    }

    fn whoami(&self) -> Result<Reply, ApiError> {
        self.reply("whoami".to_owned())
    }
}
