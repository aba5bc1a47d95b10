//! Requests that leave out what MCP demands, or write it in another form: corrected where they can mean one thing only. Not here:
//! reading a message (`message`), the arguments themselves (`requests::tool_arguments`).

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use serde_json::{Map, Value, json};

/// The version that is spoken with a client that names none: the oldest.
const VERSION_UNNAMED: &str = "2024-11-05";

/// The methods whose requests are corrected.
const OPENING: &str = "initialize";
const WITH_ARGUMENTS: [&str; 2] = ["tools/call", "prompts/get"];

/// Tells whether rmcp could not read a request that may be corrected; it then takes the method for one of somebody else.
pub fn may_be_corrected(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    let ClientRequest::CustomRequest(custom) = &request.request else { return false };
    custom.method == OPENING || WITH_ARGUMENTS.contains(&custom.method.as_str())
}

/// What an opening that cannot be corrected should be.
pub const OPENING_EXAMPLE: &str = "`params` do not fit initialize, for example {\"protocolVersion\": \"2025-11-25\", \
    \"capabilities\": {}, \"clientInfo\": {\"name\": \"my-client\", \"version\": \"1\"}}";

/// Tells whether a message opens a session in a form that rmcp does not know. It would take it for a request of the newer era.
pub fn is_unfit_opening(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(&request.request, ClientRequest::CustomRequest(custom) if custom.method == OPENING)
}

/// Corrects a request. What has no other meaning stays as it is, and is refused.
pub fn correct(request: &mut Map<String, Value>) {
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    if method == OPENING {
        let params = request.entry("params").or_insert(Value::Null);
        fill(
            params,
            &json!({ "protocolVersion": VERSION_UNNAMED, "capabilities": {}, "clientInfo": {} }),
        );
        if let Some(client) = params.get_mut("clientInfo") {
            fill(client, &json!({ "name": "", "version": "" }));
        }
    } else if WITH_ARGUMENTS.contains(&method.as_str())
        && let Some(params) = request.get_mut("params").and_then(Value::as_object_mut)
        && let Some(arguments) = params.get("arguments").and_then(written_out)
    {
        params.insert("arguments".to_owned(), arguments);
    }
}

/// Adds the members that an object lacks.
fn fill(object: &mut Value, members: &Value) {
    if object.is_null() {
        *object = json!({});
    }
    let (Some(object), Some(members)) = (object.as_object_mut(), members.as_object()) else {
        return;
    };
    for (name, value) in members {
        let member = object.entry(name.clone()).or_insert(Value::Null);
        if member.is_null() {
            *member = value.clone();
        }
    }
}

/// Returns arguments that stand in a text, or in the empty list that some languages write for an empty object.
fn written_out(arguments: &Value) -> Option<Value> {
    match arguments {
        Value::String(text) if text.trim().is_empty() => Some(json!({})),
        Value::String(text) => event::from_json(text).ok().filter(Value::is_object),
        Value::Array(entries) => entries.is_empty().then(|| json!({})),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(mut request: Value) -> Value {
        correct(request.as_object_mut().unwrap());
        request["params"].clone()
    }

    // S-MCP-14
    #[test]
    fn arguments_may_come_as_a_text() {
        for (given, read) in [
            (json!("{\"query\":\"x\"}"), json!({"query": "x"})),
            (json!(" "), json!({})),
            (json!([]), json!({})),
            (json!("x"), json!("x")),
            (json!("[1]"), json!("[1]")),
            (json!([1]), json!([1])),
        ] {
            let call = json!({"method": "tools/call", "params": {"name": "a", "arguments": given}});
            assert_eq!(corrected(call), json!({"name": "a", "arguments": read}));
        }
    }

    // S-MCP-14
    #[test]
    fn an_opening_may_leave_out_what_it_can() {
        let whole = json!({"protocolVersion": VERSION_UNNAMED, "capabilities": {},
            "clientInfo": {"name": "", "version": ""}});
        assert_eq!(corrected(json!({"method": "initialize"})), whole);
        let named = json!({"method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {"roots": {}}, "clientInfo": {"name": "x"}}});
        let named = corrected(named);
        assert_eq!(named["clientInfo"], json!({"name": "x", "version": ""}));
        assert_eq!(named["capabilities"], json!({"roots": {}}));
    }
}
