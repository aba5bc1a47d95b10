//! One call of a tool: what it asks, and its answer as text. Not here: whether the client may call it (`permission`), reading one
//! argument (`requests`).

use guard::secrets::{RedactedText, redacted};
use rmcp::model::JsonObject;

use crate::founding_query::{QUERY, answer_query, search_arguments};
use crate::mcp_caller::McpCaller;
use crate::schema::find_tool;
use requests::tool::{SEARCH, VerbTool};
use requests::tool_arguments::ToolArguments;
use requests::verb::Verb;
use requests::{Api, ApiError, Reply};

/// A call.
pub struct ToolCall {
    name: String,
    found: Option<(&'static Verb, VerbTool)>,
    arguments: JsonObject,
    note: Option<String>,
}

impl ToolCall {
    /// Takes what the tool knows out of what the client sent.
    pub fn read(name: &str, given: JsonObject) -> Self {
        // That call is a search by other names.
        let is_founding = name == QUERY;
        let found = find_tool(if is_founding { SEARCH } else { name });
        let given = if is_founding { search_arguments(given) } else { given };
        let read = match &found {
            Some((verb, tool)) => ToolArguments::read(verb, tool, given),
            None => ToolArguments { arguments: given, note: None },
        };
        let ToolArguments { arguments, note } = read;
        Self { name: name.to_owned(), found, arguments, note }
    }

    /// Returns the verb, if there is such a tool.
    pub fn verb(&self) -> Option<&'static Verb> {
        self.found.map(|(verb, _)| verb)
    }

    /// Returns the arguments that the tool knows.
    pub fn arguments(&self) -> &JsonObject {
        &self.arguments
    }

    /// Answers it, if the tool is among `names`. Whatever was not taken as it was given stands below the answer.
    ///
    /// # Errors
    /// The text of the error.
    pub fn answer(
        self,
        api: &dyn Api,
        names: &[&str],
        caller: &McpCaller,
    ) -> Result<Reply, String> {
        let Self { name, found, arguments, note } = self;
        if name == QUERY {
            return answer_query(api, arguments).map_err(|error| error_text(&error, note));
        }
        let Some((_, tool)) = found.filter(|(_, tool)| names.contains(&tool.name)) else {
            return Err(format!("unknown tool; the tools are {}", names.join(", ")));
        };
        let session = caller.session_id.clone().map(RedactedText::into_string);
        let answer = (tool.request)(arguments).and_then(|request| {
            api.ask_as(&request.words_only().in_session(session), &caller.voice())
        });
        match answer {
            Ok(reply) => Ok(Reply { text: with_note(reply.text, note), ..reply }),
            Err(error) => Err(error_text(&error, note)),
        }
    }
}

/// Returns the text of an error. A field with another name may be why a value is missing.
fn error_text(error: &ApiError, note: Option<String>) -> String {
    let text = redacted(&error.to_string()).into_owned();
    if matches!(error, ApiError::Invalid(_)) { with_note(text, note) } else { text }
}

fn with_note(text: String, note: Option<String>) -> String {
    match note {
        Some(note) => format!("{}\n\n{note}", text.trim_end()),
        None => text,
    }
}
