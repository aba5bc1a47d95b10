//! The report on the import of a store: exact counts, and why items are left out. Not here: importing.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::agent_files::shown;
use ::exchange::harvest::Harvest;
use ::exchange::import_batch::{BatchId, ImportBatch};
use ::exchange::stores::ForeignStore;
use api::Reply;
use event::RepoKey;
use writer::exit::Exit;

/// Most refused items that are told one by one.
const REFUSED_MAX: usize = 20;

/// The results of an import.
pub(super) struct StoreReport {
    text: String,
    json: Value,
    exit: Exit,
    id: Option<String>,
}

impl StoreReport {
    pub(super) fn of(
        path: &Path,
        store: &ForeignStore,
        harvest: &Harvest,
        batch: &ImportBatch,
    ) -> Self {
        let name = shown(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
        let counts = [
            (batch.fresh.len(), "new"),
            (batch.unchanged, "unchanged"),
            (batch.back.len(), "back"),
            (batch.set_aside, "set aside"),
            (batch.refused.len(), "refused"),
            (harvest.left_out.values().sum(), "left out"),
        ];
        let told = counts.iter().filter(|(count, word)| *count > 0 || *word == "new");
        let told: Vec<String> = told.map(|(count, word)| format!("{count} {word}")).collect();
        let mut text =
            format!("{name}: {}, {} read: {}\n", store.name, harvest.read(), told.join(", "));
        for (why, count) in &harvest.left_out {
            let _ = writeln!(text, "  left out: {count} × {}", shown(why));
        }
        for refused in batch.refused.iter().take(REFUSED_MAX) {
            let problem = shown(&refused.problems.to_string());
            let _ = writeln!(text, "  refused: {}: {problem}", shown(&refused.key));
        }
        if let Some(more) = batch.refused.len().checked_sub(REFUSED_MAX).filter(|more| *more > 0) {
            let _ = writeln!(text, "  refused: {more} more (--json lists all)");
        }
        if !batch.links.is_empty() {
            let _ = writeln!(text, "  links between them: {}", batch.links.len());
        }
        if !batch.replaced.is_empty() {
            let _ =
                writeln!(text, "  changed notes that replace a memory: {}", batch.replaced.len());
        }
        if batch.flagged > 0 {
            let (count, what) =
                (batch.flagged, "of them read like instructions, so searches hold them back");
            let _ = writeln!(text, "  {count} {what}");
        }
        let exit = if batch.refused.is_empty() { Exit::Done } else { Exit::Invalid };
        Self { text, json: json_of(store, harvest, batch), exit, id: None }
    }

    /// Tells under which name the import was written.
    pub(super) fn written_as(&mut self, id: &BatchId) {
        let _ =
            writeln!(self.text, "To take it back: agent-knowledge import --undo {}", id.as_str());
        self.id = Some(id.as_str().to_owned());
    }

    /// Returns how the program ends.
    pub(super) fn exit(&self) -> Exit {
        self.exit
    }

    pub(super) fn reply(self, repo: &RepoKey) -> Reply {
        let reply = Reply::new(self.text, self.json);
        reply.with("repo", repo.as_str().into()).with("import", json!(self.id))
    }
}

fn json_of(store: &ForeignStore, harvest: &Harvest, batch: &ImportBatch) -> Value {
    let refused = batch.refused.iter();
    let refused: Vec<Value> = refused
        .map(|one| json!({ "item": one.key, "problem": one.problems.to_string() }))
        .collect();
    json!({
        "store": store.name,
        "read": harvest.read(),
        "new": batch.fresh.len(),
        "unchanged": batch.unchanged,
        "back": batch.back.len(),
        "set_aside": batch.set_aside,
        "replaced": batch.replaced.len(),
        "links": batch.links.len(),
        "flagged": batch.flagged,
        "refused": refused,
        "left_out": harvest.left_out,
    })
}
