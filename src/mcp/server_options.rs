//! What differs from one MCP server to another: a process of one client, or a service over HTTP. Not here: the server (`mcp_server`).

use std::sync::Arc;
use std::time::Duration;

use crate::delivery_recorder::DeliveryRecorder;
use crate::session_place::SessionPlace;
use requests::rights::Rights;
use requests::tool::ToolSet;

/// What differs from one process to another.
#[derive(Clone)]
pub struct McpOptions {
    /// The tools that are listed and answered.
    pub tool_set: ToolSet,
    /// Gets the name of the client, at the calls that every client makes.
    pub on_client_name: ClientNameObserver,
    /// Writes down what tools tell.
    pub recorder: Option<DeliveryRecorder>,
    /// Where the session works; without one, each call names its repository.
    pub place: Option<Arc<dyn SessionPlace>>,
    /// Whether the server can send the client a notification.
    pub pushes: bool,
    /// What the client may do; tools beyond that are not listed.
    pub rights: Rights,
    /// How long answers may take after the client closed its end of a pipe.
    pub last_answers: Duration,
}

/// The time for the last answers, in milliseconds. A client that pipes its requests in closes the pipe and still wants the answers;
/// calls take milliseconds, and seconds where a model is read first. Longer would leave a process that nobody knows of.
const LAST_ANSWERS_MS: u64 = 30_000;

impl Default for McpOptions {
    fn default() -> Self {
        let (tool_set, rights) = (ToolSet::default(), Rights::Admin);
        let (recorder, place) = (None, None);
        let last_answers = Duration::from_millis(LAST_ANSWERS_MS);
        Self {
            tool_set,
            on_client_name: None,
            recorder,
            place,
            pushes: false,
            rights,
            last_answers,
        }
    }
}

/// A function that is called with the name of a client.
pub type ClientNameObserver = Option<Arc<dyn Fn(&str) + Send + Sync>>;
