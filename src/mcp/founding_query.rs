//! The call `query` of the first design, which programs written for it still make: an array of lessons as JSON. It is not
//! listed, since `memory_search` does the same for a model in fewer tokens. Not here: the tools that are listed (`schema`).

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use reply::{EventFields, SearchAnswer};
use requests::Request;
use requests::{Api, ApiError, ApiRequest, Reply, SearchRequest, SearchScope};

/// Its name.
pub const QUERY: &str = "query";

/// Returns its arguments as those of a search: `text`, and perhaps `repo`, where alone is looked then, and `limit`.
pub fn search_arguments(mut arguments: JsonObject) -> JsonObject {
    if let Some(text) = arguments.remove("text") {
        arguments.insert("query".to_owned(), text);
    }
    arguments
}

/// Answers it, by the arguments of a search.
///
/// # Errors
/// Those of a search.
pub fn answer_query(api: &dyn Api, arguments: JsonObject) -> Result<Reply, ApiError> {
    let request = SearchRequest::from_tool(arguments)?;
    let scope = match request.scope {
        SearchScope::All(Some(repo)) => SearchScope::Only(Some(repo)),
        other => other,
    };
    let found = api.ask(&Request::Search(SearchRequest { scope, ..request }))?;
    let found: SearchAnswer = found.answer().unwrap_or_default();
    let memories = found.memories.into_iter().map(|hit| hit.memory.event);
    // The form has no place for a mark, so what reads like an order stays away.
    let harmless = memories.filter(|memory| memory.flagged.is_none());
    let json: Value = harmless.map(lesson).collect();
    Ok(Reply::new(json.to_string(), json))
}

/// Returns a lesson, its fields named and ordered as in the first design.
fn lesson(memory: EventFields) -> Value {
    let EventFields { lesson, context, timestamp, success_rate, .. } = memory;
    json!({ "lesson": lesson, "context": context, "timestamp": timestamp.unwrap_or_default(),
        "success_rate": success_rate.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-MCP-11
    #[test]
    fn a_lesson_has_the_four_fields() {
        let memory = json!({"id": "m1", "lesson": "l", "timestamp": "t", "success_rate": "1/2", "tags": ["a"]});
        let expected =
            json!({"lesson": "l", "context": "", "timestamp": "t", "success_rate": "1/2"});
        assert_eq!(lesson(serde_json::from_value(memory).unwrap()), expected);
    }
}
