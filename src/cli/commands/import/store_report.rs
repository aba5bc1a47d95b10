//! The report on the import of a store: exact counts, and why items are left out. Not here: importing.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::commands::import::import_site::neutral_line;
use event::{EventId, RepoKey};
use exchange::harvest::Harvest;
use exchange::import_batch::{BatchId, ImportBatch, TextPair};
use exchange::stores::ForeignStore;
use requests::Reply;
use writer::exit::Exit;

/// Why an item of another repository is left out.
const ELSEWHERE: &str =
    "memory of another repository (--from agent-knowledge without --repo keeps each in its own)";

/// Most refused items, and most memories of one sort, that are told one by one.
const LISTED_MAX: usize = 20;

/// The results of an import.
pub(crate) struct StoreReport {
    text: String,
    json: Value,
    exit: Exit,
    id: Option<String>,
}

impl StoreReport {
    pub(crate) fn new(
        path: &Path,
        store: &ForeignStore,
        (harvest, gone): (&Harvest, &[EventId]),
        batch: &ImportBatch,
    ) -> Self {
        let name = neutral_line(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
        let left_out = left_out(harvest, batch);
        let counts = [
            (batch.fresh.len(), "new"),
            (batch.unchanged, "unchanged"),
            (batch.restored.len(), "back"),
            (batch.set_aside, "set aside"),
            (batch.refused.len(), "refused"),
            (left_out.values().sum(), "left out"),
        ];
        let told = counts.iter().filter(|(count, word)| *count > 0 || *word == "new");
        let told: Vec<String> = told.map(|(count, word)| format!("{count} {word}")).collect();
        let mut text =
            format!("{name}: {}, {} read: {}\n", store.name, harvest.read_count(), told.join(", "));
        for (why, count) in &left_out {
            let _ = writeln!(text, "  left out: {count} × {}", neutral_line(why));
        }
        for refused in batch.refused.iter().take(LISTED_MAX) {
            let problem = neutral_line(&refused.problems.to_string());
            let _ = writeln!(text, "  refused: {}: {problem}", neutral_line(&refused.key));
        }
        if let Some(more) = batch.refused.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
            let _ = writeln!(text, "  refused: {more} more (--json lists all)");
        }
        if !batch.links.is_empty() {
            let _ = writeln!(text, "  links between them: {}", batch.links.len());
        }
        text.push_str(&pairs(batch));
        if !gone.is_empty() {
            let count = gone.len();
            let _ =
                writeln!(text, "  no longer in it: {count} of earlier imports, which stay here");
            listed(&mut text, gone.iter().map(ToString::to_string));
        }
        if batch.flagged > 0 {
            let (count, what) =
                (batch.flagged, "of them read like instructions, so searches hold them back");
            let _ = writeln!(text, "  {count} {what}");
        }
        let exit = if batch.refused.is_empty() { Exit::Done } else { Exit::Invalid };
        let gone: Vec<&str> = gone.iter().map(EventId::as_str).collect();
        let of_store = json!({ "store": store.name, "read": harvest.read_count(), "left_out": left_out, "gone": gone });
        Self { text, json: joined(of_store, json_of(batch)), exit, id: None }
    }

    /// Tells under which name the import was written.
    pub(crate) fn set_batch(&mut self, id: &BatchId) {
        let _ =
            writeln!(self.text, "To take it back: agent-knowledge import --undo {}", id.as_str());
        self.id = Some(id.as_str().to_owned());
    }

    /// Returns how the program ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn reply(self, repo: &RepoKey) -> Reply {
        let reply = Reply::new(self.text, self.json);
        reply.with_field("repo", repo.as_str().into()).with_field("import", json!(self.id))
    }
}

/// Returns how many items are left out by reason: by their store, and by this import.
fn left_out(harvest: &Harvest, batch: &ImportBatch) -> BTreeMap<String, usize> {
    let mut all = harvest.left_out.clone();
    if batch.elsewhere > 0 {
        all.insert(ELSEWHERE.to_owned(), batch.elsewhere);
    }
    all
}

/// Tells which memories are replaced, and beside which ones others stand: a note says itself which one it was, and
/// somebody else may have written it.
fn pairs(batch: &ImportBatch) -> String {
    let mut text = String::new();
    let replaced: Vec<&TextPair> = batch.replaced.iter().map(|one| &one.pair).collect();
    if !replaced.is_empty() {
        let _ = writeln!(text, "  changed notes that replace a memory: {}", replaced.len());
        listed(
            &mut text,
            replaced.iter().map(|pair| format!("{} replaces {}", pair.new, pair.old)),
        );
    }
    if !batch.conflicts.is_empty() {
        let count = batch.conflicts.len();
        let _ = writeln!(text, "  with another text here, so that both stay: {count}");
        listed(
            &mut text,
            batch.conflicts.iter().map(|pair| format!("{} beside {}", pair.new, pair.old)),
        );
    }
    text
}

/// Lists as many as a screen takes.
fn listed(text: &mut String, lines: impl ExactSizeIterator<Item = String>) {
    let more = lines.len().saturating_sub(LISTED_MAX);
    for line in lines.take(LISTED_MAX) {
        let _ = writeln!(text, "    {line}");
    }
    if more > 0 {
        let _ = writeln!(text, "    and {more} more (--json lists all)");
    }
}

/// Joins the fields of two objects.
fn joined(mut one: Value, other: Value) -> Value {
    if let (Some(fields), Value::Object(more)) = (one.as_object_mut(), other) {
        fields.extend(more);
    }
    one
}

fn json_of(batch: &ImportBatch) -> Value {
    let refused = batch.refused.iter();
    let refused: Vec<Value> = refused
        .map(|one| json!({ "item": one.key, "problem": one.problems.to_string() }))
        .collect();
    let pair = |pair: &TextPair| json!({ "old": pair.old.as_str(), "new": pair.new.as_str() });
    let replacements: Vec<Value> = batch.replaced.iter().map(|one| pair(&one.pair)).collect();
    let beside: Vec<Value> = batch.conflicts.iter().map(pair).collect();
    json!({
        "new": batch.fresh.len(),
        "unchanged": batch.unchanged,
        "back": batch.restored.len(),
        "set_aside": batch.set_aside,
        "replaced": batch.replaced.len(),
        "replacements": replacements,
        "beside": beside,
        "links": batch.links.len(),
        "flagged": batch.flagged,
        "refused": refused,
    })
}
