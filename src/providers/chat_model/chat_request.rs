//! The form in which a language model is asked: OpenAI's chat completions. A request is a task and the data to which it
//! applies; an answer holds one JSON object. Not here: tasks (`pair_question`, `lesson_question`, `tag_question`), sending (`chat`).

use serde_json::{Deserializer, Value, json};

/// What a model is asked.
pub(super) struct ChatRequest {
    /// What to do with the data.
    pub(super) task: &'static str,
    /// The data. It stands in a message of its own, as JSON, so that no text in it can end it.
    pub(super) data: Value,
}

impl ChatRequest {
    /// Returns the request for a model of this name.
    pub(super) fn for_model(&self, model: &str) -> Value {
        json!({
            "model": model,
            "temperature": 0,
            "messages": [
                { "role": "system", "content": self.task },
                { "role": "user", "content": self.data.to_string() },
            ],
        })
    }
}

/// Finds the last JSON object with one of these fields in the answer of a server, or of a program that prints the object
/// alone. Models often write text before their answer, and quote what they read.
pub(super) fn object_with(fields: &[&str], answer: &str) -> Option<Value> {
    let whole: Option<Value> = serde_json::from_str(answer.trim()).ok();
    let content =
        whole.as_ref().and_then(|whole| whole.pointer("/choices/0/message/content")?.as_str());
    let text = content.unwrap_or(answer);
    let object = |(start, _): (usize, &str)| {
        let rest = text.get(start..)?;
        let value = Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
        fields.iter().any(|field| value.get(field).is_some()).then_some(value)
    };
    text.rmatch_indices('{').find_map(object)
}
