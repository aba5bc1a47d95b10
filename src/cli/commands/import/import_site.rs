//! Where an import of agent files runs, which files it reads, and what was imported there before. Not here: the import.

use std::path::{Path, PathBuf};

use clients::agent_files::ImportedRule;
use event::RepoKey;
use guard::text::{Layout, neutralise};
use reply::{ImportedAnswer, ImportedMemory};
use requests::{Api, ApiError, Listing, Request};
use writer::Writer;

/// The caller's work tree, with the writer of its memories.
pub(crate) struct ImportSite {
    pub(crate) top: PathBuf,
    pub(crate) repo: RepoKey,
    pub(crate) writer: Writer,
}

/// Returns what was imported into this repository before.
pub(crate) fn imported_rules(api: &dyn Api) -> Result<Vec<ImportedRule>, ApiError> {
    let ImportedAnswer { memories, .. } = api.ask_for(&Request::List(Listing::OfAgentFiles))?;
    let known = |one: ImportedMemory| {
        let ImportedMemory { id, file, live, note, note_source, is_rule } = one;
        ImportedRule { id, file, is_live: live, note, note_source, is_rule }
    };
    Ok(memories.into_iter().map(known).collect())
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteMode {
    DryRun,
    Change,
}

impl From<bool> for WriteMode {
    fn from(is_dry_run: bool) -> Self {
        if is_dry_run { Self::DryRun } else { Self::Change }
    }
}

pub(crate) fn neutral_line(text: &str) -> String {
    neutralise(text, Layout::Line)
}

/// Returns when a file was last written, and its length; `None` where there is none.
pub(crate) fn file_version(top: &Path, name: &str) -> Option<(std::time::SystemTime, u64)> {
    let found = top.join(name).symlink_metadata().ok()?;
    Some((found.modified().ok()?, found.len()))
}
