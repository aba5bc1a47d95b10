//! Records what tools delivered to an agent: which memories, at how many tokens, and for which question. Not here: the journal
//! (`api::journal`).

use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::JsonObject;

use crate::mcp_caller::McpCaller;
use api::journal::agent_delivery::{AgentDelivery, AgentPlace, BY_TOOL, DeliveryJournal};
use clients::hooks::session_dedup::line_id;
use event::Timestamp;
use guard::secrets::RedactedText;
use place::RepositoryWord;
use requests::tool;
use requests::{
    ApiRequest, ContextRequest, RelatedRequest, Reply, SearchRequest, SearchScope,
    SessionSearchRequest,
};

/// What is known of the callers of a server before they call.
#[derive(Clone)]
pub struct DeliveryRecorder {
    /// Writes it down.
    pub journal: DeliveryJournal,
    /// The working directory, which decides the repository of a call that names none.
    pub directory: Option<PathBuf>,
    /// The name of an agent that does not give one.
    pub agent: RedactedText,
    /// The session of an agent that does not name one.
    pub session: Option<RedactedText>,
    /// Returns the time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// What an agent wanted to know.
pub struct ToolQuestion {
    asked: Option<RedactedText>,
    repo: Option<String>,
    ids: Vec<String>,
}

impl ToolQuestion {
    /// Reads the arguments of a tool. `None` for a tool that delivers no memories.
    pub fn from_arguments(tool: &str, arguments: JsonObject) -> Option<Self> {
        let nothing = Vec::new;
        let (asked, repo, ids) = match tool {
            tool::SEARCH => {
                let request = SearchRequest::from_tool(arguments).ok()?;
                let (SearchScope::All(repo) | SearchScope::Only(repo)) = request.scope;
                (Some(request.query), repo, request.ids)
            }
            tool::CONTEXT => {
                let request = ContextRequest::from_tool(arguments).ok()?;
                let files = || RedactedText::redact(&request.files.join(" "));
                (Some(request.task.unwrap_or_else(files)), request.repo, nothing())
            }
            tool::RELATED => {
                let _ = RelatedRequest::from_tool(arguments).ok()?;
                (None, None, nothing())
            }
            tool::SESSIONS => {
                // The ids are those of sessions.
                (Some(SessionSearchRequest::from_tool(arguments).ok()?.query), None, nothing())
            }
            _ => return None,
        };
        Some(Self { asked: asked.filter(|asked| !asked.trim().is_empty()), repo, ids })
    }
}

impl DeliveryRecorder {
    /// Writes an answer down.
    pub fn record_answer(
        &self,
        tool: &str,
        question: &ToolQuestion,
        reply: &Reply,
        caller: &McpCaller,
    ) {
        let named: Vec<&str> = reply.text.lines().filter_map(line_id).collect();
        let is_silent = named.is_empty() && question.ids.is_empty();
        // Past sessions are no memories.
        let is_memory = |id: &&&str| tool != tool::SESSIONS && !id.contains('#');
        let memories: Vec<String> = if question.ids.is_empty() {
            named.iter().filter(is_memory).map(|id| (*id).to_owned()).collect()
        } else {
            question.ids.clone()
        };
        let named = question.repo.as_ref().filter(|repo| RepositoryWord::read(repo).is_none());
        let place = match (named, &self.directory) {
            (Some(name), _) => AgentPlace::Named(name),
            (None, Some(directory)) => AgentPlace::Directory(directory),
            (None, None) => AgentPlace::Unknown,
        };
        let delivery = AgentDelivery {
            agent: caller.name.as_ref().unwrap_or(&self.agent),
            session: caller.session_id.as_ref().or(self.session.as_ref()),
            place,
            by: BY_TOOL,
            occasion: tool,
            query: question.asked.as_ref(),
            text: &reply.text,
            is_silent,
            memories: &memories,
        };
        self.journal.record(&delivery, (self.clock)());
    }
}
