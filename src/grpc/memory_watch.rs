//! What happens to memories, from the journal: a stream begins at its present end or goes on after any event, so that a client
//! that comes back misses and repeats nothing. Not here: the stream (`watch_stream`), who writes the journal (`api::journal`).

use std::time::Duration;

use serde_json::{Map, Value, json};
use tonic::Status;

use crate::grpc_status::status;
use crate::rpc_event::{EventSource, RpcEvent};
use crate::wire::object;
use api::journal::journal_line::{JournalMemories, listener_line};
use api::journal::sequence::Sequence;
use api::journal::{Journal, kind};
use daemon::guests::Guests;
use event::Problems;

/// How often the journal is looked at: what another process appends is told within a fifth of a second.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How much of the journal is read at a time.
const PIECE_BYTES: u64 = 64 * 1024;

/// The event with which a stream begins. It tells where, before anything has happened.
const BEGUN: &str = "begun";

/// What is known of the journal that a client watches.
pub struct MemoryWatch {
    journal: Journal,
    /// Where it goes on. `None` while there is no journal.
    from: Option<Sequence>,
    /// Only these events; all, if there are none.
    events: Vec<String>,
    /// Whether the client may hear what is for the owner of the server.
    is_owner: bool,
    has_begun: bool,
    /// Whether the last look left something.
    has_more: bool,
}

impl MemoryWatch {
    /// Reads the request.
    pub fn from_request(
        given: &Map<String, Value>,
        is_owner: bool,
        guests: &Guests,
    ) -> Result<Self, Status> {
        let journal =
            guests.core().delivery_journal.as_ref().map(|teller| teller.journal().clone());
        let off = "there are no events: the journal is off; journal = true in the configuration turns it on";
        let journal = journal.ok_or_else(|| Status::unavailable(off))?;
        let after = given.get("after").and_then(Value::as_str).filter(|after| !after.is_empty());
        let from = match after {
            None => journal.end_sequence(),
            Some(after) => Some(Sequence::parse(after).ok_or_else(|| {
                let problem = Problems::one("after", "must be the sequence of an earlier event");
                status(&problem.into())
            })?),
        };
        let events = given.get("events").and_then(Value::as_array).into_iter().flatten();
        let events = events.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { journal, from, events, is_owner, has_begun: false, has_more: false })
    }

    fn is_wanted(&self, event: &str) -> bool {
        if !self.is_owner && kind::is_for_owner(event) {
            return false;
        }
        // Whoever missed something must hear of it.
        let is_always = [BEGUN, kind::LOST].contains(&event);
        is_always || self.events.is_empty() || self.events.iter().any(|wanted| wanted == event)
    }
}

impl EventSource for MemoryWatch {
    fn poll(&mut self, guests: &Guests) -> Result<Vec<RpcEvent>, Status> {
        let mut found = Vec::new();
        if !self.has_begun {
            self.has_begun = true;
            found.push(event(self.from, BEGUN, &json!({})));
        }
        // A journal that is made while somebody watches is told from its beginning.
        let Some(from) = self.from.or_else(|| self.journal.start_sequence()) else {
            return Ok(found);
        };
        let Some(piece) = self.journal.read_on(from, PIECE_BYTES) else {
            self.from = self.journal.end_sequence();
            found.push(event(self.from, kind::LOST, &json!({})));
            return Ok(found);
        };
        self.has_more = piece.next != from;
        self.from = Some(piece.next);
        if piece.lines.is_empty() {
            return Ok(found);
        }
        let snapshot = guests.core().engine.snapshot_now();
        let told = piece.lines.iter().map(|(_, line)| line);
        let memories = snapshot.map(|snapshot| JournalMemories::look_up(told, &snapshot));
        let memories = memories.unwrap_or_default();
        for line in &piece.lines {
            let Some((kind, data)) = listener_line(line, &memories) else { continue };
            if self.is_wanted(kind) {
                found.push(event(Some(line.0), kind, &data));
            }
        }
        Ok(found)
    }

    fn pause(&self, _: Duration) -> Duration {
        if self.has_more { Duration::ZERO } else { LOOK_EVERY }
    }
}

fn event(at: Option<Sequence>, kind: &str, data: &Value) -> RpcEvent {
    RpcEvent {
        name: at.map(|at| at.to_string()).unwrap_or_default(),
        event: kind.to_owned(),
        json: object(data.clone()),
    }
}
