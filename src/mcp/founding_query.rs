//! The call `query` of the first design, which programs written for it still make: an array of lessons as JSON. It is not
//! listed, since `memory_search` does the same for a model in fewer tokens. Not here: the tools that are listed (`schema`).

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use requests::Request;
use requests::{Api, ApiError, ApiRequest, Reply, SearchRequest, SearchScope};

/// Its name.
pub const QUERY: &str = "query";

/// The fields of each lesson, as the first design names them.
const FIELDS: [&str; 4] = ["lesson", "context", "timestamp", "success_rate"];

/// Answers it: `text`, and perhaps `repo`, where alone is looked then, and `limit`.
///
/// # Errors
/// Those of a search.
pub fn answer_query(api: &dyn Api, mut arguments: JsonObject) -> Result<Reply, ApiError> {
    if let Some(text) = arguments.remove("text") {
        arguments.insert("query".to_owned(), text);
    }
    let request = SearchRequest::from_tool(arguments)?;
    let scope = match request.scope {
        SearchScope::All(Some(repo)) => SearchScope::Only(Some(repo)),
        other => other,
    };
    let found = api.ask(&Request::Search(SearchRequest { scope, ..request }))?;
    let memories = found.json.get("memories").and_then(Value::as_array);
    // The form has no place for a mark, so what reads like an order stays away.
    let is_harmless = |memory: &&Value| memory.get("flagged").is_none();
    let lessons: Vec<Value> =
        memories.into_iter().flatten().filter(is_harmless).map(lesson).collect();
    let json = Value::Array(lessons);
    Ok(Reply::new(json.to_string(), json))
}

fn lesson(memory: &Value) -> Value {
    let field = |name: &str| (name.to_owned(), memory.get(name).cloned().unwrap_or(json!("")));
    Value::Object(FIELDS.into_iter().map(field).collect())
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
        assert_eq!(lesson(&memory), expected);
    }
}
