//! The memory of an agent in a container: that of this machine and that of the team's server, as one [`Api`]. A write goes to the
//! own log first, so it survives an outage of the server, and from there to the server under the same id. A search and a
//! briefing ask both at once; a server that does not answer costs a bounded wait, and is told once. Not here: requests to the server
//! (`team_server`), the delivery of lines (`outbox`).

use guard::secrets::RedactedText;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use crate::memory_calls::{call_each, client_name, random_key};
use crate::outage::Outage;
use crate::outbox::Outbox;
use crate::shareable_names::ShareableNames;
use crate::team_actions::TeamAction;
use crate::team_questions::{context_request, reply_in, search_request};
use crate::team_server::{
    AnswerContentType, PATH_BYTES_MAX, PendingAnswer, ServerRequest, TeamServer, url_encoded,
};
use requests::{
    Api, ApiError, ChangeRequest, ContextRequest, Reply, Request, SearchRequest, SearchScope,
    Shape, Voice,
};
use settings::Config;
use store::Store;
use writer::exit::Exit;

use crate::team_server::ServerAddress;

/// How long an answer waits for the server, from the moment it was asked. A server in the same data centre answers in a tenth.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long a call waits for the server where the server alone has the memory.
const ONLY_THERE: Duration = Duration::from_secs(5);

/// How long the end waits for what is not delivered yet.
const LAST_DELIVERY: Duration = Duration::from_secs(2);

/// The memory of this machine and of the team's server.
pub struct RemoteTeam {
    local: Arc<dyn Api>,
    server: Arc<TeamServer>,
    named: ShareableNames,
    outage: Outage,
    told: Mutex<Told>,
    /// `None` once it is dropped.
    outbox: Option<Outbox>,
}

/// What was told about deliveries.
#[derive(Default)]
struct Told {
    refused: usize,
    waits: bool,
}

impl RemoteTeam {
    /// Joins the memory of this machine with a server that takes this token. `certificates` are those that are believed
    /// instead of the system's.
    ///
    /// # Errors
    /// [`ApiError::Failed`].
    pub fn join(
        local: Arc<dyn Api>,
        (address, token): (ServerAddress, String),
        (store, config): (Store, Config),
        certificates: Option<&Path>,
    ) -> Result<Self, ApiError> {
        let failed = |message: String| ApiError::Failed { exit: Exit::Config, message };
        let server = TeamServer::at(address, token, certificates).map_err(failed)?;
        let server = Arc::new(server);
        let outbox = Outbox::start(store.clone(), config.sync.clone(), Arc::clone(&server));
        let outbox =
            outbox.map_err(|error| failed(format!("failed to start a thread: {error}")))?;
        Ok(Self {
            named: ShareableNames::new(Arc::clone(&local), store, config),
            local,
            server,
            outage: Outage::default(),
            told: Mutex::default(),
            outbox: Some(outbox),
        })
    }

    /// Asks the server, unless it did not answer a moment ago.
    fn send(&self, request: ServerRequest) -> Option<PendingAnswer> {
        (!self.outage.is_resting()).then(|| self.server.ask(request))
    }

    /// Waits for an answer to a question. `None` where there is none in time.
    fn heard(&self, asked: Option<PendingAnswer>) -> Option<Reply> {
        match asked?.wait(PATIENCE).and_then(|answer| reply_in(&answer)) {
            Ok(reply) => {
                self.outage.clear();
                reply
            }
            Err(unheard) => {
                self.outage.record(unheard);
                None
            }
        }
    }

    /// Answers from both memories, where the server can be asked.
    fn of_both(
        &self,
        there: Option<ServerRequest>,
        own: impl FnOnce() -> Result<Reply, ApiError>,
        merge: impl FnOnce(&Reply, &Reply) -> Reply,
    ) -> Result<Reply, ApiError> {
        let Some(there) = there else { return own() };
        let (server, bytes) = (self.server.shown(), there.path.len());
        if bytes > PATH_BYTES_MAX {
            let notice = format!(
                "Note: this question is too long for {server} ({bytes} bytes, at most {PATH_BYTES_MAX}); this is from this machine alone."
            );
            return Ok(reply::with_notice(own()?, &notice));
        }
        let asked = self.send(there);
        let own = own()?;
        let reply = match self.heard(asked) {
            Some(team) => merge(&own, &team),
            None => own,
        };
        let outage = self.outage.notice();
        let outage =
            outage.map(|why| format!("Note: {server} {why}; this is from this machine alone."));
        let notices = outage.into_iter().chain(self.refusal());
        Ok(notices.fold(reply, |reply, notice| reply::with_notice(reply, &notice)))
    }

    /// Returns what is to be said about the last line that the server did not take, once.
    fn refusal(&self) -> Option<String> {
        let state = self.outbox.as_ref()?.state();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = state.refusal.filter(|_| state.refused > told.refused)?;
        told.refused = state.refused;
        Some(format!("Note: {} did not take {refusal}.", self.server.shown()))
    }

    fn stays(&self, other: &str) -> ApiError {
        let server = self.server.shown();
        let message = format!("{other} stays on this machine, so {server} cannot be told of it");
        ApiError::Failed { exit: Exit::Usage, message }
    }

    /// Asks the server for what this machine does not know, and returns this error if it does not either.
    fn or_there(&self, request: ServerRequest, unknown: ApiError) -> Result<Reply, ApiError> {
        let server = self.server.shown();
        let failed = |exit, message| Err(ApiError::Failed { exit, message });
        let not_now =
            |why: &str| failed(Exit::Busy, format!("{unknown}; {server} may know it, but {why}"));
        let Some(asked) = self.send(request) else { return not_now("did not answer a moment ago") };
        let answer = match asked.wait(ONLY_THERE) {
            Ok(answer) if answer.form == AnswerContentType::Problem && answer.status == 404 => {
                Ok(None)
            }
            Ok(answer) if answer.form == AnswerContentType::Problem => {
                return failed(Exit::Unavailable, format!("{server} {}", answer.shown()));
            }
            answer => answer.and_then(|answer| reply_in(&answer)),
        };
        match answer {
            Ok(reply) => {
                self.outage.clear();
                reply.ok_or(unknown)
            }
            Err(unheard) => {
                let said = not_now(unheard.status.map_or("did not answer", |_| &unheard.why));
                self.outage.record(unheard);
                said
            }
        }
    }

    /// After a write: it is delivered, and what stands in the way is told once.
    fn written(&self, done: Result<Reply, ApiError>) -> Result<Reply, ApiError> {
        let Reply { mut text, json } = done?;
        let Some(outbox) = &self.outbox else { return Ok(Reply { text, json }) };
        outbox.wake();
        if let Some(refusal) = self.refusal() {
            text.push_str(&format!(" {refusal}"));
        }
        let waits = outbox.state().waiting_reason;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = waits.as_ref().filter(|_| !told.waits) {
            let server = self.server.shown();
            text.push_str(&format!(" Note: it is sent to {server} later, because {why}."));
        }
        told.waits = waits.is_some();
        Ok(Reply { text, json })
    }
}

impl Drop for RemoteTeam {
    fn drop(&mut self) {
        if let Some(outbox) = self.outbox.take() {
            outbox.finish(LAST_DELIVERY);
        }
    }
}

impl Api for RemoteTeam {
    fn ask_as(&self, request: &Request, voice: &Voice) -> Result<Reply, ApiError> {
        match request {
            Request::Search(request) => self.search(request),
            Request::Context(request) => self.context(request),
            Request::Show(ids) => self.show(ids),
            Request::Change(request) => self.change(request, voice),
            Request::Status => self.status(),
            _ if request.writes() => self.written(self.local.ask_as(request, voice)),
            _ => self.local.ask_as(request, voice),
        }
    }
}

impl RemoteTeam {
    fn search(&self, request: &SearchRequest) -> Result<Reply, ApiError> {
        if !request.ids.is_empty() {
            return self.show(&request.ids);
        }
        let there = match &request.scope {
            SearchScope::All(None) => search_request(request, self.named.shareable_repo(None)),
            SearchScope::All(named) | SearchScope::Only(named) => {
                let repo = self.named.shareable_repo(named.as_deref());
                repo.and_then(|repo| search_request(request, Some(repo)))
            }
        };
        self.of_both(
            there,
            || self.local.ask(&SearchRequest { shape: Shape::Whole, ..request.clone() }.into()),
            |own, team| reply::merge_search(own, team, request.limit, request.max_tokens),
        )
    }

    fn context(&self, request: &ContextRequest) -> Result<Reply, ApiError> {
        let repo = self.named.shareable_repo(request.repo.as_deref());
        self.of_both(
            repo.and_then(|repo| context_request(request, repo)),
            || self.local.ask(&ContextRequest { shape: Shape::Whole, ..request.clone() }.into()),
            |own, team| reply::merge_briefing(own, team, request.max_tokens),
        )
    }

    fn change(&self, request: &ChangeRequest, voice: &Voice) -> Result<Reply, ApiError> {
        let done = self.local.ask_as(&request.clone().into(), voice);
        if !matches!(done, Err(ApiError::NotFound(_))) {
            return self.written(done);
        }
        let deed = TeamAction::from(&request.change);
        call_each(&request.ids, |id| {
            let alone = ChangeRequest { ids: vec![id.to_owned()], ..request.clone() };
            match self.local.ask_as(&alone.into(), voice) {
                Err(error @ ApiError::NotFound(_)) => {
                    // Only the other one may be unknown here, while this one stays.
                    for named in std::iter::once(id).chain(deed.other_memory()) {
                        if self.named.is_own_memory(named)? {
                            return Err(self.stays(named));
                        }
                    }
                    let mut there = deed.request(
                        id,
                        request.note.as_deref(),
                        client_name(voice).map(RedactedText::into_string),
                    );
                    there.idempotency_key = Some(random_key());
                    self.or_there(there, error)
                }
                done => self.written(done),
            }
        })
    }

    fn show(&self, ids: &[String]) -> Result<Reply, ApiError> {
        let shown = self.local.ask(&Request::Show(ids.to_vec()));
        if !matches!(shown, Err(ApiError::NotFound(_))) {
            return shown;
        }
        call_each(ids, |id| match self.local.ask(&Request::Show(vec![id.to_owned()])) {
            Err(error @ ApiError::NotFound(_)) => {
                self.or_there(ServerRequest::get(format!("memories/{}", url_encoded(id))), error)
            }
            shown => shown,
        })
    }

    fn status(&self) -> Result<Reply, ApiError> {
        let reply = self.local.ask(&Request::Status)?;
        let state = self.outbox.as_ref().map(Outbox::state).unwrap_or_default();
        let server = self.server.shown();
        let mut line = format!("{server}: {} delivered", state.delivered);
        if let Some(refusal) = &state.refusal {
            line.push_str(&format!(", {} refused, the last one {refusal}", state.refused));
        }
        if let Some(why) = &state.waiting_reason {
            line.push_str(&format!("; lessons wait, because {why}"));
        }
        let json = json!({ "url": server, "delivered": state.delivered, "refused": state.refused,
            "refusal": state.refusal, "waits": state.waiting_reason });
        Ok(reply.with_line("remote", &line).with_field("remote", json))
    }
}
