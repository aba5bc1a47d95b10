//! The report on the import of a store: exact counts, and why items are left out. Not here: importing.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::commands::import::import_site::neutral_line;
use event::{EventId, RepoKey};
use exchange::harvest::{Harvest, UnreadNote};
use exchange::import_batch::{BatchId, ImportBatch, TextPair};
use exchange::stores::ForeignStore;
use requests::Reply;
use writer::exit::Exit;

/// Why an item of another repository is left out.
const ELSEWHERE: &str =
    "memory of another repository (--from agent-knowledge without --repo keeps each in its own)";

/// Most refused items, and most memories of one sort, that are listed one by one.
const LISTED_MAX: usize = 20;

/// The results of an import.
#[derive(Serialize)]
pub(crate) struct StoreReport {
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    exit: Exit,
    store: &'static str,
    /// How many items were read.
    read: usize,
    /// How many of them are left out, by reason.
    left_out: BTreeMap<String, usize>,
    /// Files and folders that were not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_read: Vec<UnreadFile>,
    /// Memories of earlier imports that the store no longer has.
    gone: Vec<EventId>,
    new: usize,
    unchanged: usize,
    back: usize,
    set_aside: usize,
    replaced: usize,
    replacements: Vec<ReportedPair>,
    /// Memories that stand beside another text of the same item.
    beside: Vec<ReportedPair>,
    links: usize,
    /// How many new ones read like instructions.
    flagged: usize,
    refused: Vec<RefusedEntry>,
    repo: String,
    /// The name under which it was written.
    import: Option<String>,
}

/// A file or folder that was not read.
#[derive(Serialize)]
struct UnreadFile {
    path: String,
    reason: &'static str,
}

impl From<&UnreadNote> for UnreadFile {
    fn from(unread: &UnreadNote) -> Self {
        Self { path: unread.name.clone(), reason: unread.why }
    }
}

/// A memory, and the one that replaces it or stands beside it.
#[derive(Serialize)]
struct ReportedPair {
    old: EventId,
    new: EventId,
}

/// An item that cannot be saved.
#[derive(Serialize)]
struct RefusedEntry {
    item: String,
    problem: String,
}

impl StoreReport {
    pub(crate) fn new(
        path: &Path,
        store: &ForeignStore,
        harvest: &Harvest,
        gone: &[EventId],
        batch: &ImportBatch,
        repo: &RepoKey,
    ) -> Self {
        let refused = batch
            .refused
            .iter()
            .map(|one| RefusedEntry { item: one.key.clone(), problem: one.problems.to_string() });
        Self {
            text: text_of(path, store, harvest, gone, batch),
            exit: if batch.refused.is_empty() { Exit::Done } else { Exit::Invalid },
            store: store.name,
            read: harvest.read_count(),
            left_out: left_out_counts(harvest, batch),
            not_read: harvest.unread.iter().map(UnreadFile::from).collect(),
            gone: gone.to_vec(),
            new: batch.fresh.len(),
            unchanged: batch.unchanged,
            back: batch.restored.len(),
            set_aside: batch.set_aside,
            replaced: batch.replaced.len(),
            replacements: batch.replaced.iter().map(|one| (&one.pair).into()).collect(),
            beside: batch.conflicts.iter().map(ReportedPair::from).collect(),
            links: batch.links.len(),
            flagged: batch.flagged,
            refused: refused.collect(),
            repo: repo.to_string(),
            import: None,
        }
    }

    /// Adds the name under which the import was written.
    pub(crate) fn set_batch(&mut self, id: &BatchId) {
        let _ =
            writeln!(self.text, "To take it back: agent-knowledge import --undo {}", id.as_str());
        self.import = Some(id.as_str().to_owned());
    }

    /// Returns how the program ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn reply(&self) -> Reply {
        Reply::with_text(self.text.clone(), self)
    }
}

impl From<&TextPair> for ReportedPair {
    fn from(pair: &TextPair) -> Self {
        Self { old: pair.old.clone(), new: pair.new.clone() }
    }
}

fn text_of(
    path: &Path,
    store: &ForeignStore,
    harvest: &Harvest,
    gone: &[EventId],
    batch: &ImportBatch,
) -> String {
    let name = neutral_line(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
    let left_out = left_out_counts(harvest, batch);
    let counts = [
        (batch.fresh.len(), "new"),
        (batch.unchanged, "unchanged"),
        (batch.restored.len(), "back"),
        (batch.set_aside, "set aside"),
        (batch.refused.len(), "refused"),
        (left_out.values().sum(), "left out"),
    ];
    let shown_counts = counts.iter().filter(|(count, word)| *count > 0 || *word == "new");
    let shown_counts: Vec<String> =
        shown_counts.map(|(count, word)| format!("{count} {word}")).collect();
    let mut text = format!(
        "{name}: {}, {} read: {}\n",
        store.name,
        harvest.read_count(),
        shown_counts.join(", ")
    );
    for (why, count) in &left_out {
        let _ = writeln!(text, "  left out: {count} × {}", neutral_line(why));
    }
    for unread in harvest.unread.iter().take(LISTED_MAX) {
        let _ = writeln!(text, "  not read: {}: {}", neutral_line(&unread.name), unread.why);
    }
    let more = harvest.unread.len().saturating_sub(LISTED_MAX) + harvest.more_files;
    if more > 0 {
        let _ = writeln!(text, "  not read: {more} more (--json lists up to 1000)");
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
    text.push_str(&pairs_text(batch));
    if !gone.is_empty() {
        let count = gone.len();
        let _ = writeln!(text, "  no longer in it: {count} of earlier imports, which stay here");
        list_lines(&mut text, gone.iter().map(ToString::to_string));
    }
    if batch.flagged > 0 {
        let (count, reason) =
            (batch.flagged, "of them read like instructions, so searches hold them back");
        let _ = writeln!(text, "  {count} {reason}");
    }
    text
}

/// Returns how many items are left out by reason: by their store, and by this import.
fn left_out_counts(harvest: &Harvest, batch: &ImportBatch) -> BTreeMap<String, usize> {
    let mut all = harvest.left_out.clone();
    if batch.elsewhere > 0 {
        all.insert(ELSEWHERE.to_owned(), batch.elsewhere);
    }
    all
}

/// Tells which memories are replaced, and beside which ones others stand: a note says itself which one it was, and
/// somebody else may have written it.
fn pairs_text(batch: &ImportBatch) -> String {
    let mut text = String::new();
    let replaced: Vec<&TextPair> =
        batch.replaced.iter().map(|replacement| &replacement.pair).collect();
    if !replaced.is_empty() {
        let _ = writeln!(text, "  changed notes that replace a memory: {}", replaced.len());
        list_lines(
            &mut text,
            replaced.iter().map(|pair| format!("{} replaces {}", pair.new, pair.old)),
        );
    }
    if !batch.conflicts.is_empty() {
        let count = batch.conflicts.len();
        let _ = writeln!(text, "  with another text here, so that both stay: {count}");
        list_lines(
            &mut text,
            batch.conflicts.iter().map(|pair| format!("{} beside {}", pair.new, pair.old)),
        );
    }
    text
}

/// Lists as many as a screen takes.
fn list_lines(text: &mut String, lines: impl ExactSizeIterator<Item = String>) {
    let more = lines.len().saturating_sub(LISTED_MAX);
    for line in lines.take(LISTED_MAX) {
        let _ = writeln!(text, "    {line}");
    }
    if more > 0 {
        let _ = writeln!(text, "    and {more} more (--json lists all)");
    }
}
