//! Calls about several memories, of which each may be known to another side: one after the other, and an answer for each. Not
//! here: where a memory is looked for (`remote_team`).

use guard::secrets::RedactedText;
use std::hash::{BuildHasher, RandomState};

use serde_json::{Value, json};

use access::agent_name::agent_name;
use requests::{ApiError, Reply, Voice};

/// Returns the name that a model's client gives.
pub fn client_name(voice: &Voice) -> Option<RedactedText> {
    match voice {
        Voice::Model { client, .. } => client.as_deref().and_then(agent_name),
        Voice::Caller => None,
    }
}

/// Returns a mark that no other deed has.
pub fn random_key() -> String {
    // Each of the two has random keys of its own.
    let (one, other) = (RandomState::new().hash_one(0), RandomState::new().hash_one(1));
    format!("{one:016x}{other:016x}")
}

/// Does the same with each memory, and joins the replies. One that fails says so among the others.
pub fn call_each(
    ids: &[String],
    one: impl Fn(&str) -> Result<Reply, ApiError>,
) -> Result<Reply, ApiError> {
    let (mut texts, mut memories, mut whole) = (Vec::new(), Vec::new(), None);
    let mut first_error = None;
    for id in ids {
        match one(id) {
            Ok(Reply { text, json }) => {
                texts.push(text);
                let done = json.get("memories").and_then(Value::as_array);
                memories.extend(done.cloned().unwrap_or_default());
                whole = Some(json);
            }
            Err(error) => {
                texts.push(error.to_string());
                memories.push(json!({ "id": id, "status": "failed", "why": error.to_string() }));
                first_error.get_or_insert(error);
            }
        }
    }
    let text = texts.join("\n");
    match (whole, first_error) {
        (None, Some(ApiError::NotFound(_))) => Err(ApiError::NotFound(text)),
        (None, Some(ApiError::Failed { exit, .. })) => {
            Err(ApiError::Failed { exit, message: text })
        }
        (None, Some(error)) => Err(error),
        (whole, _) => {
            let mut json = whole.unwrap_or_default();
            if let Some(fields) = json.as_object_mut() {
                fields.insert("memories".to_owned(), memories.into());
            }
            Ok(Reply { text, json })
        }
    }
}
