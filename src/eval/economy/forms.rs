//! Memories in the formats of other tools. The content is ours, and only the format follows their
//! documentation. None of these programs is run here, and they might find or store more or less. If a format
//! leaves a choice, the shorter form is used. Not here: counting.

use serde_json::{Map, Value, json};

use event::Event;

/// A score takes space in the output. Its value does not matter.
const ANY_SCORE: f64 = 0.7312;

/// The format of server-memory: a graph of entities with observations, as indented JSON.
pub(super) fn server_memory(events: &[&Event]) -> String {
    let entity = |event: &&Event| {
        let command = labelled("command: ", &event.command);
        let rate = event.success_rate.map_or_else(String::new, |rate| format!("{rate} success"));
        let observations = [event.context.clone(), event.lesson.clone(), command, rate];
        let observations: Vec<String> =
            observations.into_iter().filter(|text| !text.is_empty()).collect();
        json!({
            "name": event.id.as_str(), "entityType": event.event_type.as_str(), "observations": observations,
        })
    };
    let entities: Vec<Value> = events.iter().map(entity).collect();
    format!("{:#}", json!({ "entities": entities, "relations": [] }))
}

/// The format of mem0: an array of memories with a score and metadata, as JSON on one line.
pub(super) fn mem0(events: &[&Event]) -> String {
    let memory = |event: &&Event| {
        let mut metadata = Map::new();
        metadata.insert("repo".to_owned(), event.repo.clone().into());
        metadata.insert("event_type".to_owned(), event.event_type.as_str().into());
        metadata.insert("tags".to_owned(), event.tags.clone().into());
        if let Some(rate) = event.success_rate {
            metadata.insert("success_rate".to_owned(), rate.to_string().into());
        }
        let said = [event.context.as_str(), &event.lesson, &event.command];
        let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
        json!({
            "id": event.id.as_str(), "memory": said.join(": "), "score": ANY_SCORE,
            "created_at": time(event), "metadata": metadata,
        })
    };
    Value::Array(events.iter().map(memory).collect()).to_string()
}

/// The format of basic-memory: consecutive Markdown notes with front matter.
pub(super) fn basic_memory(events: &[&Event]) -> String {
    let notes: Vec<String> = events.iter().map(|event| markdown_note(event)).collect();
    notes.join("\n")
}

fn markdown_note(event: &Event) -> String {
    let title = if event.context.is_empty() { event.id.as_str() } else { &event.context };
    let kind = event.event_type.as_str();
    let hashed: String = event.tags.iter().map(|tag| format!(" #{tag}")).collect();
    let command = labelled("- [command] ", &event.command);
    let rate = event.success_rate.map_or_else(String::new, |rate| format!("- [success] {rate}"));
    let lesson = format!("- [{kind}] {}{hashed}", event.lesson);
    let observations = [lesson, command, rate];
    let observations: Vec<String> =
        observations.into_iter().filter(|line| !line.is_empty()).collect();
    format!(
        "---\ntitle: {title}\ntype: note\ntags: [{}]\npermalink: {}\n---\n\n# {title}\n\n## Observations\n{}\n",
        event.tags.join(", "),
        event.id.as_str(),
        observations.join("\n")
    )
}

fn labelled(label: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{label}{text}") }
}

fn time(event: &Event) -> Option<String> {
    event.timestamp.map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
