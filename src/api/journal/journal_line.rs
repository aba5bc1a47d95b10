//! The lines of a journal as they are shown to listeners and on pages: with whole ids, and with what became of the memories that an
//! agent was shown. Not here: reading the lines (`reading`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::agent_delivery::{DeliveredMemories, DeliveryLine};
use super::kind;
use super::sequence::Sequence;
use event::{MemoryChange, Timestamp, Verdict};
use memory::Memory;
use reply::InjectedEntry;
use search::snapshot::Snapshot;

/// How long a report by the same agent counts for what it was shown, in seconds, where no session ties both together: a day.
const REPORT_SECONDS_MAX: i64 = 24 * 3_600;

/// Bytes of the short form of one of our ids.
const SHORT_BYTES: usize = 8;

/// What a line holds for the next process only.
const INTERNAL: [&str; 5] = ["event", "log", "place", "log_bytes", "tree"];

/// The memories that an agent was shown, by the form of the id that stands there.
#[derive(Debug, Default)]
pub struct JournalMemories(HashMap<String, Arc<Memory>>);

impl JournalMemories {
    /// Looks the memories up, all in one go: looking up one takes as long.
    #[must_use]
    pub fn look_up<'a>(ids: impl Iterator<Item = &'a str>, snapshot: &Snapshot) -> Self {
        let wanted: HashSet<&str> = ids.collect();
        if wanted.is_empty() {
            return Self::default();
        }
        let mut found = HashMap::new();
        for memory in snapshot.memories().iter() {
            let id = memory.id.as_str();
            // Telling the short form of an id takes longer than looking up what it can be.
            let end = id.len().checked_sub(SHORT_BYTES).and_then(|start| id.get(start..));
            if !wanted.contains(id) && !end.is_some_and(|end| wanted.contains(end)) {
                continue;
            }
            for form in [memory.id.short(), id] {
                if wanted.contains(form) {
                    found.insert(form.to_owned(), Arc::clone(memory));
                }
            }
        }
        Self(found)
    }

    /// Returns the memories of a line that the agent reported on later, for one verdict. Its session must be the same or,
    /// where one of the two names none, the agent, within a day.
    #[must_use]
    pub fn reported(&self, line: &DeliveryLine, verdict: Verdict) -> Vec<String> {
        let shown = line.memories().filter_map(|id| self.0.get(id));
        let fitting = shown.filter(|memory| {
            memory.about().iter().any(|version| {
                let event = &version.event;
                let is_it =
                    MemoryChange::from_event(event) == Some(MemoryChange::Feedback(verdict));
                let session = event.session_id.as_deref();
                is_it && follows(line, event.timestamp, session, &event.agent_id)
            })
        });
        fitting.map(|memory| memory.id.to_string()).collect()
    }

    fn whole(&self, id: &str) -> String {
        self.0.get(id).map_or_else(|| id.to_owned(), |memory| memory.id.to_string())
    }
}

/// Tells whether a report can be one on what this line says was shown.
fn follows(line: &DeliveryLine, at: Option<Timestamp>, session: Option<&str>, agent: &str) -> bool {
    let told_at = line.at.parse::<Timestamp>().ok();
    let (Some(told_at), Some(at)) = (told_at, at) else { return false };
    let later_by = at.as_second() - told_at.as_second();
    match (line.session.as_deref(), session) {
        (Some(own), Some(session)) => later_by >= 0 && own == session,
        _ => (0..=REPORT_SECONDS_MAX).contains(&later_by) && line.agent == agent,
    }
}

/// Returns the memories that a line of any kind names as shown.
pub fn delivered_ids(line: &Value) -> impl Iterator<Item = &str> {
    line["memories"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the kind and the content of a line for a listener. `None` for a line that is none of its business.
#[must_use]
pub fn listener_line<'a>(
    (sequence, line): &'a (Sequence, Value),
    memories: &JournalMemories,
) -> Option<(&'a str, Value)> {
    match line["event"].as_str()? {
        kind::INJECTED => {
            let line = DeliveryLine::deserialize(line).ok()?;
            let entry = page_entry(*sequence, line, memories);
            Some((kind::INJECTED, serde_json::to_value(entry).ok()?))
        }
        kind::PLACES | kind::SILENT | kind::TREE => None,
        other => {
            let fields = line.as_object()?.iter();
            let kept = fields.filter(|(name, _)| !INTERNAL.contains(&name.as_str()));
            Some((other, Map::from_iter(kept.map(|(name, it)| (name.clone(), it.clone()))).into()))
        }
    }
}

/// Returns what an agent was shown, as an entry of a page.
#[must_use]
pub fn page_entry(
    sequence: Sequence,
    line: DeliveryLine,
    memories: &JournalMemories,
) -> InjectedEntry {
    let (helped, failed) =
        (memories.reported(&line, Verdict::Worked), memories.reported(&line, Verdict::Failed));
    let DeliveryLine { at, agent, session, repo, by, occasion, tokens, delivered, .. } = line;
    let DeliveredMemories { asked, memories: ids } = delivered.unwrap_or_default();
    let ids = ids.iter().map(|id| memories.whole(id)).collect();
    InjectedEntry {
        sequence: sequence.to_string(),
        at,
        agent,
        session,
        repo,
        by,
        occasion,
        asked,
        tokens,
        memories: ids,
        helped,
        failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // S-EVENT-5
    #[test]
    fn a_report_belongs_to_session_or_agent() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let delivery = |session: Option<&str>| DeliveryLine {
            at: "2026-01-02T00:00:00Z".to_owned(),
            agent: "codex".to_owned(),
            session: session.map(str::to_owned),
            ..DeliveryLine::default()
        };
        let (then, later, late) =
            (at("2026-01-01T23:59:59Z"), at("2026-01-02T00:00:00Z"), at("2026-01-04T00:00:00Z"));
        for (session, reported_at, of, by, is_it) in [
            (Some("s"), later, Some("s"), "other", true),
            (Some("s"), late, Some("s"), "codex", true),
            (Some("s"), later, Some("t"), "codex", false),
            (Some("s"), then, Some("s"), "codex", false),
            (Some("s"), later, None, "codex", true),
            (None, later, Some("t"), "codex", true),
            (None, late, None, "codex", false),
            (None, later, None, "claude-code", false),
            (None, None, None, "codex", false),
        ] {
            assert_eq!(
                follows(&delivery(session), reported_at, of, by),
                is_it,
                "{session:?} {of:?} {by}"
            );
        }
    }

    // S-EVENT-3
    #[test]
    fn listeners_see_no_internal_lines_or_fields() {
        let at = Sequence { generation: 1, offset: 2 };
        let none = JournalMemories::default();
        let of =
            |line: Value| listener_line(&(at, line), &none).map(|(kind, it)| (kind.to_owned(), it));
        assert_eq!(of(json!({ "event": "places", "logs": {} })), None);
        assert_eq!(of(json!({ "event": "silent" })), None);
        assert_eq!(of(json!({ "event": "tree", "tree": "00" })), None);
        let stale = json!({ "event": "stale", "id": "m1", "work_tree": "api", "tree": "00" });
        let expected = json!({ "id": "m1", "work_tree": "api" });
        assert_eq!(of(stale), Some(("stale".to_owned(), expected)));
        assert_eq!(of(json!({})), None);
        let added = json!({ "event": "added", "id": "m1", "log": "a.jsonl", "place": [1, "x"] });
        assert_eq!(of(added), Some(("added".to_owned(), json!({ "id": "m1" }))));
        let (_, entry) =
            of(json!({ "event": "injected", "memories": ["m1"], "log_bytes": 9 })).unwrap();
        assert_eq!((&entry["sequence"], &entry["memories"]), (&json!("1-2"), &json!(["m1"])));
        assert!(entry.get("log_bytes").is_none() && entry["asked"].is_null(), "{entry}");
    }
}
