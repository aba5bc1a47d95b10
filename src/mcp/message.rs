//! Reads one message of a client from its bytes. An unreadable message becomes a JSON-RPC error that carries the id of the request
//! wherever the id can be read, since a client waits for it. Not here: lines (`line_transport`), the answers (`mcp`).

use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use serde_json::{Deserializer, Map, Value};

use crate::request_corrections::{OPENING_EXAMPLE, correct, is_unfit_opening, may_be_corrected};
use event::{from_json, replace_lone_surrogates};

/// The bytes that a text may begin with to name its encoding.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Why a message is answered with an error instead of being served.
#[derive(Debug, PartialEq)]
pub struct UnreadableMessage {
    id: Option<RequestId>,
    code: ErrorCode,
    message: String,
}

impl UnreadableMessage {
    /// A message over the limit, of which the beginning is known.
    pub fn too_long(head: &[u8], bytes_max: usize) -> Self {
        let message = format!("the message has more than {bytes_max} bytes");
        Self { id: id_in(&String::from_utf8_lossy(head)), ..invalid(None, message) }
    }

    /// A request whose id belongs to one that is not answered yet.
    pub fn id_in_use(id: RequestId) -> Self {
        let message = "`id` belongs to a request that is not answered yet".to_owned();
        invalid(Some(id), message)
    }

    /// The answer to it.
    pub fn answer(self) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(ErrorData::new(self.code, self.message, None), self.id)
    }
}

/// Reads a message. `None` needs no answer: a notification that MCP does not know, or an answer to nothing we asked.
///
/// # Errors
/// [`UnreadableMessage`], for which the client waits if it sent a request.
pub fn read_message(bytes: &[u8]) -> Result<Option<ClientJsonRpcMessage>, UnreadableMessage> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match serde_json::from_slice(bytes) {
        // rmcp reads a request with an id of another type as a notification, which gets no answer.
        Ok(JsonRpcMessage::Notification(_)) | Err(_) => read_lenient(bytes),
        Ok(message) if may_be_corrected(&message) => read_lenient(bytes),
        Ok(message) => Ok(Some(message)),
    }
}

/// Returns the body of a request with half characters replaced and what it leaves out filled in; nothing if it can be read as it is.
///
/// # Errors
/// [`UnreadableMessage`], as for [`read_message`].
pub fn readable_body(body: &[u8]) -> Result<Option<String>, UnreadableMessage> {
    read_message(body)?;
    let Ok(text) = std::str::from_utf8(body) else { return Ok(None) };
    let is_refused = serde_json::from_str::<Value>(text).is_err();
    let repaired = is_refused.then(|| replace_lone_surrogates(text)).flatten();
    let text = repaired.as_deref().unwrap_or(text);
    if !serde_json::from_str(text).is_ok_and(|message| may_be_corrected(&message)) {
        return Ok(repaired);
    }
    let mut fields: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    correct(&mut fields);
    Ok(Some(Value::Object(fields).to_string()))
}

fn read_lenient(bytes: &[u8]) -> Result<Option<ClientJsonRpcMessage>, UnreadableMessage> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("not UTF-8 from byte {} on", error.valid_up_to());
        unparsed(&String::from_utf8_lossy(bytes), message)
    })?;
    let value = from_json(text).map_err(|error| unparsed(text, format!("not JSON: {error}")))?;
    let Value::Object(mut fields) = value else {
        let message = "a message is one JSON object on one line; MCP has no batches".to_owned();
        return Err(invalid(None, message));
    };
    let has_method = fields.contains_key("method");
    let is_answer = fields.contains_key("result") || fields.contains_key("error");
    let expects_answer = fields.contains_key("id") && (has_method || !is_answer);
    if expects_answer {
        correct(&mut fields);
        check(&fields)?;
    } else if !has_method && !is_answer {
        return Err(invalid(None, "a request needs `method`, for example \"ping\"".to_owned()));
    }
    let id = id_of(&fields);
    match serde_json::from_value(Value::Object(fields)) {
        Ok(message) if is_unfit_opening(&message) => {
            let message = OPENING_EXAMPLE.to_owned();
            Err(UnreadableMessage { id, code: ErrorCode::INVALID_PARAMS, message })
        }
        Ok(message) => Ok(Some(message)),
        Err(_) if !expects_answer => Ok(None),
        Err(_) => Err(invalid(id, "not a request of MCP".to_owned())),
    }
}

/// Checks the form of a request, so that its error names the field.
fn check(fields: &Map<String, Value>) -> Result<(), UnreadableMessage> {
    let id = id_of(fields);
    let problem = if id.is_none() {
        "`id` must be a string or an integer, for example 1"
    } else if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        "`jsonrpc` must be \"2.0\""
    } else if !fields.get("method").is_some_and(Value::is_string) {
        "`method` must be a string, for example \"ping\""
    } else if fields.get("params").is_some_and(|params| !params.is_object()) {
        let message = "`params` must be an object, for example {}".to_owned();
        return Err(UnreadableMessage { id, code: ErrorCode::INVALID_PARAMS, message });
    } else {
        return Ok(());
    };
    Err(invalid(id, problem.to_owned()))
}

fn invalid(id: Option<RequestId>, message: String) -> UnreadableMessage {
    UnreadableMessage { id, code: ErrorCode::INVALID_REQUEST, message }
}

fn unparsed(text: &str, message: String) -> UnreadableMessage {
    UnreadableMessage { id: id_in(text), code: ErrorCode::PARSE_ERROR, message }
}

fn id_of(fields: &Map<String, Value>) -> Option<RequestId> {
    serde_json::from_value(fields.get("id")?.clone()).ok()
}

/// Finds the `id` of an object that is broken somewhere, at its top level.
fn id_in(text: &str) -> Option<RequestId> {
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '[', ']', '"']) {
        let (mark, after) = rest.get(at..)?.split_at_checked(1)?;
        rest = after;
        match mark {
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.checked_sub(1)?,
            _ => {
                let end = end_of_string(after)?;
                let (name, behind) = (after.get(..end)?, after.get(end + 1..)?);
                rest = behind;
                let value = behind.trim_start().strip_prefix(':');
                if let (1, "id", Some(value)) = (depth, name, value) {
                    let mut values = Deserializer::from_str(value).into_iter::<RequestId>();
                    return values.next()?.ok();
                }
            }
        }
    }
    None
}

/// Returns where a string ends, from behind its first quote.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> (i32, Option<String>) {
        let unreadable = read_message(bytes).unwrap_err();
        (unreadable.code.0, unreadable.id.map(|id| id.to_string()))
    }

    // S-MCP-8
    #[test]
    fn unreadable_requests_are_refused_with_their_id() {
        let deep = format!(r#"{{"id":"deep","x":{}}}"#, "[".repeat(200));
        let cases: [(&[u8], i32, Option<&str>); 15] = [
            (b"hello", -32700, None),
            (br#"{"jsonrpc":"2.0","id":7,"method":"ping""#, -32700, Some("7")),
            (br#"{"params":{"id":1},"id":"a","method":ping}"#, -32700, Some("a")),
            (br#"{"params":{"id":1},"method":ping}"#, -32700, None),
            (b"{\"id\":8,\"method\":\"p\xFFing\"}", -32700, Some("8")),
            (deep.as_bytes(), -32700, Some("deep")),
            (b"[]", -32600, None),
            (b"{}", -32600, None),
            (br#"{"jsonrpc":"2.0","id":9}"#, -32600, Some("9")),
            (br#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#, -32600, Some("9")),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, None),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, None),
            (br#"{"jsonrpc":"2.0","id":9,"method":7}"#, -32600, Some("9")),
            (br#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#, -32602, Some("9")),
            (
                br#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"clientInfo":"me"}}"#,
                -32602,
                Some("9"),
            ),
        ];
        for (bytes, code, id) in cases {
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(refusal(bytes), (code, id.map(str::to_owned)), "{shown}");
        }
    }

    // S-MCP-8
    #[test]
    fn half_a_character_is_read_as_a_replacement() {
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"text":"fix \ud83d"}}"#;
        let shown = format!("{:?}", read_message(line).unwrap().unwrap());
        assert!(shown.contains("fix \u{FFFD}"), "{shown}");
        assert!(readable_body(line).unwrap().unwrap().contains("\\ufffd"));
        assert_eq!(readable_body(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap(), None);
    }

    // S-MCP-8
    #[test]
    fn what_expects_no_answer_gets_none() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"textDocument/didOpen"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#,
        ] {
            assert!(read_message(line.as_bytes()).is_ok(), "{line}");
        }
    }
}
