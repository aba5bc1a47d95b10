//! An [`Api`] for tests of MCP, HTTP and the command line: it repeats the request, and fails for
//! some.

use std::sync::PoisonError;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::{Api, ApiError, Reply, Request, SearchRequest, Voice};
use event::Problems;
use writer::exit::Exit;

/// Repeats each request.
#[derive(Default)]
pub struct FakeApi {
    /// The requests, in order.
    pub requests: Mutex<Vec<String>>,
    /// A search waits until the sender of this is dropped.
    pub hold: Option<Mutex<Receiver<()>>>,
}

impl FakeApi {
    /// Makes one that has been asked nothing.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn reply(&self, asked: String) -> Result<Reply, ApiError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        Ok(Reply { json: json!({ "asked": asked }), text: asked })
    }
}

impl Api for FakeApi {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        match request {
            Request::Search(request) => self.search(request),
            Request::Show(ids) => self.show(ids),
            Request::Save(draft) if draft.lesson.is_none() => {
                Err(Problems::one("lesson", "is empty").into())
            }
            Request::Complete(_) => {
                let values: Vec<String> = (0..150).map(|number| format!("v{number}")).collect();
                let reply = self.reply(asked(request, voice))?;
                Ok(reply.with_field("values", values.into()).with_field("total", 150.into()))
            }
            _ => self.reply(asked(request, voice)),
        }
    }
}

impl FakeApi {
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
        self.reply(asked(&request.clone().into(), &Voice::Caller))
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        if ids.iter().any(|id| id.starts_with("no")) {
            return Err(ApiError::NotFound("no memory nope; nearest: m12, m120".to_owned()));
        }
        self.reply(asked(&Request::Show(ids.to_vec()), &Voice::Caller))
    }
}

/// Says a request in a line.
fn asked(request: &Request, voice: &Voice) -> String {
    match request {
        Request::Search(request) => {
            format!("search {:?} {:?} {:?}", request.query, request.scope, request.mode)
        }
        Request::Context(request) => format!("context {:?} {}", request.task, request.max_tokens),
        Request::Save(draft) => {
            let session = draft.session_id.clone().unwrap_or_default();
            format!("save {:?} by {:?} in {session:?}", draft.lesson, voice.client())
        }
        Request::Link(request) => format!("link {request:?} by {voice:?}"),
        Request::Analyze(request) => format!("analyze {:?} {}", request.topic, request.limit),
        Request::Stale(request) => format!("stale {:?}", request.repo),
        Request::List(listing) => format!("list {listing:?}"),
        Request::Show(ids) => format!("show {ids:?}"),
        Request::Recent(request) => format!("recent {}", request.limit),
        // No test reads more of the others than their names.
        _ => format!("{request:?}").to_lowercase(),
    }
}
