//! Writes many events given as JSON: one object, an array, or one object per line. Valid events are written,
//! invalid ones are reported with their position. Not here: rules about fields (`event::validate`).

use std::collections::{BTreeMap, HashMap, hash_map::Entry};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::exit::Exit;
use super::side_by_side::side_by_side;
use super::{Moment, PreparedEvent, Receipt, RecordError, Target, WAITS, Writer};
use crate::draft_scope::{self, applies, draft_for_all};
use event::{Draft, MemoryScope, Problems, RepoKey, draft_from_json, from_json};
use store::{Destination, Durability};

/// The result of one event.
#[derive(Debug)]
pub struct BatchOutcome {
    /// The position in the input, counted from 1.
    pub place: usize,
    /// The receipt, or why the event was not written.
    pub result: Result<Receipt, BatchError>,
}

/// Why an event of a batch was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchError {
    /// The fields are wrong.
    Refused(Problems),
    /// The append of all events of the repository failed.
    Failed {
        /// The exit code of the failure.
        exit: Exit,
        /// The error message.
        message: String,
    },
}

impl From<RecordError> for BatchError {
    fn from(error: RecordError) -> Self {
        let (exit, message) = (Exit::of_record(&error), error.to_string());
        match error {
            RecordError::Invalid(problems) => Self::Refused(problems),
            RecordError::Store(_) | RecordError::NotSaved { .. } => Self::Failed { exit, message },
        }
    }
}

/// The resolved target of each `repo`. Resolving lists the store or reads git's files, which is too slow to
/// repeat for every event. All events of a batch with the same `repo` and scope therefore share one target.
type Targets = HashMap<(Option<String>, MemoryScope), Arc<Target>>;

/// A draft whose repository is resolved.
struct PlacedDraft {
    draft: Draft,
    target: Arc<Target>,
    moment: Moment,
}

/// Writes every valid event of `text`. Events of one repository share one append.
pub fn record_all(
    writer: &Writer,
    text: &str,
    durability: Durability,
    moment: impl FnMut() -> Moment,
) -> Vec<BatchOutcome> {
    record_each(writer, drafts_in(text), durability, moment)
}

/// Tells whether the directory decides where an event of `text` goes.
#[must_use]
pub fn takes_directory(text: &str) -> bool {
    drafts_in(text)
        .into_iter()
        .flatten()
        .any(|draft| draft_scope::takes_directory(&draft_for_all(draft)))
}

/// Reports on each event, one JSON object per line.
#[must_use]
pub fn reports(outcomes: &[BatchOutcome]) -> String {
    side_by_side(outcomes.iter().collect(), |outcome| format!("{}\n", outcome.report())).concat()
}

/// Writes every valid draft. Drafts of one repository share one append.
pub fn record_drafts(
    writer: &Writer,
    drafts: Vec<Draft>,
    durability: Durability,
    moment: impl FnMut() -> Moment,
) -> Vec<BatchOutcome> {
    record_each(writer, drafts.into_iter().map(Ok).collect(), durability, moment)
}

fn record_each(
    writer: &Writer,
    drafts: Vec<Result<Draft, Problems>>,
    durability: Durability,
    mut moment: impl FnMut() -> Moment,
) -> Vec<BatchOutcome> {
    let mut targets = Targets::default();
    let mut placed = |draft: Result<Draft, Problems>| {
        let (draft, moment) = (draft_for_all(draft?), moment());
        let target = target_of(writer, &draft, &mut targets)?;
        Ok(PlacedDraft { draft, target, moment })
    };
    let placed: Vec<Result<PlacedDraft, RecordError>> =
        drafts.into_iter().map(&mut placed).collect();
    let prepared = side_by_side(placed, |placed| {
        let PlacedDraft { draft, target, moment } = placed?;
        writer.prepare_at(&target, draft, moment)
    });
    let mut outcomes = Vec::new();
    let mut ready: BTreeMap<RepoKey, Vec<(usize, PreparedEvent)>> = BTreeMap::new();
    for (place, prepared) in (1..).zip(prepared) {
        match prepared {
            Ok(prepared) => {
                ready.entry(prepared.repo().clone()).or_default().push((place, prepared));
            }
            Err(error) => outcomes.push(BatchOutcome { place, result: Err(error.into()) }),
        }
    }
    for (repo, same) in ready {
        append(writer, &repo, same, durability, &mut outcomes);
    }
    outcomes.sort_by_key(|outcome| outcome.place);
    outcomes
}

/// Reads the input: one value, an array, or one value per line. Invalid values become problems at their position.
fn drafts_in(text: &str) -> Vec<Result<Draft, Problems>> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    match from_json(text) {
        Ok(Value::Array(values)) => side_by_side(values, |value| draft_of(Ok(value))),
        Ok(value) => vec![draft_of(Ok(value))],
        Err(_) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).collect();
            side_by_side(lines, |line| draft_of(from_json(line)))
        }
    }
}

fn target_of(
    writer: &Writer,
    draft: &Draft,
    targets: &mut Targets,
) -> Result<Arc<Target>, RecordError> {
    Ok(match targets.entry((draft.repo.clone(), applies(draft))) {
        Entry::Occupied(known) => Arc::clone(known.get()),
        Entry::Vacant(new) => {
            let (repo, applies) = new.key();
            let target = writer.target_search().target_of(repo.as_deref(), *applies)?;
            Arc::clone(new.insert(Arc::new(target)))
        }
    })
}

fn draft_of(value: serde_json::Result<Value>) -> Result<Draft, Problems> {
    let example = "for example {\"event_type\":\"error\",\"lesson\":\"...\"}";
    match value {
        Ok(Value::Object(object)) => Ok(draft_from_json(object)),
        Ok(_) => Err(Problems::one("event", format!("must be a JSON object, {example}"))),
        Err(why) => Err(Problems::one("event", format!("is not JSON ({why}), {example}"))),
    }
}

fn append(
    writer: &Writer,
    repo: &RepoKey,
    ready: Vec<(usize, PreparedEvent)>,
    durability: Durability,
    outcomes: &mut Vec<BatchOutcome>,
) {
    let lines: Vec<_> = ready.iter().map(|(_, prepared)| prepared.line().clone()).collect();
    let appended = store::append(&writer.store, repo, &lines, durability);
    let appended = appended.map_err(|error| BatchError::Failed {
        exit: Exit::of_store(&error),
        message: format!("failed to {error}"),
    });
    if appended.is_ok() {
        ready.iter().for_each(|(_, prepared)| prepared.remember_place(&writer.store));
    }
    for (place, prepared) in ready {
        let result = appended.clone().map(|appended| prepared.receipt(&appended));
        outcomes.push(BatchOutcome { place, result });
    }
}

impl Receipt {
    /// Returns the report on what was written, as the fields of a JSON object.
    #[must_use]
    pub fn report(&self) -> Map<String, Value> {
        let status = match self.durability {
            Durability::Written => "written",
            Durability::Synced => "synced",
        };
        let waits = (self.place == Destination::Spool).then_some(("waits", WAITS));
        let flagged = self.flagged().map(|why| ("flagged", why.as_str()));
        let source = self.not_believed.as_ref().map(|_| ("source", "agent"));
        let always = [("status", status), ("id", self.id.as_str()), ("repo", self.repo.as_str())];
        let texts = always.into_iter().chain(waits).chain(flagged).chain(source);
        let mut report: Map<String, Value> =
            texts.map(|(name, value)| (name.to_owned(), value.into())).collect();
        if !self.missing_files.is_empty() {
            report.insert("missing_files".to_owned(), json!(self.missing_files));
        }
        if !self.redacted.is_empty() {
            report.insert("redacted".to_owned(), json!(self.redacted.rules()));
        }
        if let Some(end) = self.expired {
            report.insert("expired".to_owned(), format!("{end:.0}").into());
        }
        report
    }
}

impl BatchOutcome {
    /// Returns the report on this event, as one JSON object.
    #[must_use]
    pub fn report(&self) -> Value {
        match &self.result {
            Ok(receipt) => {
                let mut report = Map::from_iter([("event".to_owned(), self.place.into())]);
                report.extend(receipt.report());
                Value::Object(report)
            }
            Err(BatchError::Refused(problems)) => {
                let problems: Vec<Value> = problems
                    .iter()
                    .map(|problem| json!({ "field": problem.field, "message": problem.message }))
                    .collect();
                json!({ "event": self.place, "status": "refused", "problems": problems })
            }
            Err(BatchError::Failed { message, .. }) => {
                json!({ "event": self.place, "status": "failed", "error": message })
            }
        }
    }

    /// Returns the exit code for this outcome.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match &self.result {
            Ok(_) => Exit::Done,
            Err(BatchError::Refused(_)) => Exit::Invalid,
            Err(BatchError::Failed { exit, .. }) => *exit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;
    use settings::Config;
    use store::Store;

    fn report(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer {
            store: Store::at(folder.path().join("logs")),
            config: Config::default(),
            directory: folder.path().to_owned(),
            identity: Identity { agent_id: "tester".into(), ..Identity::default() },
        };
        let mut random = 0;
        let moment = || {
            random += 1;
            Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random }
        };
        let outcomes = record_all(&writer, text, Durability::Written, moment);
        outcomes
            .iter()
            .map(|outcome| outcome.report()["status"].as_str().unwrap().to_owned())
            .collect()
    }

    const GOOD: &str = r#"{"repo":"a","event_type":"error","lesson":"x"}"#;

    // S-WRITE-5
    #[test]
    fn one_event_an_array_and_lines_are_all_read() {
        assert_eq!(report(GOOD), ["written"]);
        assert_eq!(report(&GOOD.replace(',', ",\n")), ["written"]);
        assert_eq!(report(&format!("[{GOOD},{GOOD}]")), ["written", "written"]);
        assert_eq!(report(&format!("\u{FEFF}{GOOD}\r\n\n{GOOD}\n")), ["written", "written"]);
        assert!(report(" \n").is_empty());
    }

    #[test]
    fn a_batch_finds_out_once_what_a_name_means() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        std::fs::write(folder.path().join("github.com+acme+a.jsonl"), "").unwrap();
        let writer = Writer {
            store,
            config: Config::default(),
            directory: folder.path().to_owned(),
            identity: Identity::default(),
        };
        let mut calls = 0;
        let moment = || {
            calls += 1;
            if calls == 2 {
                // A second lookup would find the name ambiguous.
                std::fs::write(folder.path().join("github.com+other+a.jsonl"), "").unwrap();
            }
            Moment { now: "2026-01-02T03:04:05Z".parse().unwrap(), random: calls }
        };
        let text = format!("{GOOD}\n{GOOD}");
        let outcomes = record_all(&writer, &text, Durability::Written, moment);
        let repos: Vec<_> =
            outcomes.iter().map(|outcome| outcome.result.as_ref().unwrap().repo.as_str()).collect();
        assert_eq!(repos, ["github.com/acme/a"; 2]);
    }

    #[test]
    fn bad_events_are_reported_and_good_ones_written() {
        let other = GOOD.replace("\"a\"", "\"b\"");
        let text = format!("{GOOD}\nnot json\n{other}\n[1]\n{{\"lesson\":\"\"}}\n{GOOD}\n");
        assert_eq!(
            report(&text),
            ["written", "refused", "written", "refused", "refused", "written"]
        );
    }
}
