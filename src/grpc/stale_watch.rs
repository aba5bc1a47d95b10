//! The stream of memories that a work tree contradicts. The work tree is checked again periodically; where nothing has changed, the
//! result of the last check stands. Not here: the stream itself (`watch_stream`), finding stale memories (`search::staleness`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tonic::Status;

use crate::grpc_status::status;
use crate::rpc_event::{EventSource, RpcEvent};
use crate::wire::object;
use api::local::Local;
use daemon::guests::Guests;
use event::Problems;
use reply::{StaleAnswer, StaleFields};
use requests::Request;
use requests::{Api, StaleRequest};
use web::apis::Audience;
use web::http_caller::http_caller;

/// How often a work tree is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A look that takes longer is repeated later, so that looking takes at most a twentieth of a processor.
const REST_PER_LOOK: u32 = 19;

/// What is known of the work tree that a client watches.
pub struct StaleWatch {
    directory: PathBuf,
    only_new: bool,
    /// The memories that are stale, by id.
    known: Option<BTreeMap<String, StaleFields>>,
}

impl StaleWatch {
    pub fn from_request(given: &Map<String, Value>) -> Result<Self, Status> {
        let directory = given.get("directory").and_then(Value::as_str).unwrap_or_default();
        let directory = PathBuf::from(directory);
        if !directory.is_absolute() {
            let problem = Problems::one("directory", "must be an absolute path of a work tree");
            return Err(status(&problem.into()));
        }
        let only_new = given.get("only_new").and_then(Value::as_bool).unwrap_or_default();
        Ok(Self { directory, only_new, known: None })
    }
}

impl EventSource for StaleWatch {
    fn poll(&mut self, guests: &Guests) -> Result<Vec<RpcEvent>, Status> {
        let mut caller = http_caller(None, Audience::Owner);
        caller.directory = Some(self.directory.clone());
        let local = Local::new(Arc::clone(guests.core()), caller);
        let reply =
            local.ask(&Request::Stale(StaleRequest::default())).map_err(|error| status(&error))?;
        let stale = reply.answer::<StaleAnswer>().map(|answer| answer.found.stale);
        let stale = stale.into_iter().flatten();
        let now: BTreeMap<String, StaleFields> =
            stale.map(|one| (one.memory.event.id.clone(), one)).collect();
        let is_first = self.known.is_none();
        let before = self.known.take().unwrap_or_default();
        let event = |event: &str, (id, memory): (&String, &StaleFields)| RpcEvent {
            name: id.clone(),
            event: event.to_owned(),
            json: object(serde_json::to_value(memory).unwrap_or_default()),
        };
        let is_reported = !(is_first && self.only_new);
        let stale = now.iter().filter(|(id, _)| is_reported && !before.contains_key(*id));
        let fresh = before.iter().filter(|(id, _)| !now.contains_key(*id));
        let stale = stale.map(|stale_memory| event("stale", stale_memory));
        let found = stale.chain(fresh.map(|stale_memory| event("fresh", stale_memory))).collect();
        self.known = Some(now);
        Ok(found)
    }
    fn pause(&self, took: Duration) -> Duration {
        LOOK_EVERY.max(took * REST_PER_LOOK)
    }
}
