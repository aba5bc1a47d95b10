//! Which files an import reads: those that a command names, or all that are found, and those that were imported before. Not here:
//! what a file says (`markdown`), and finding files (`found_files`).

use std::collections::BTreeSet;
use std::path::Path;

use super::found_files::{FoundFiles, UnreadPath};
use super::import_plan::ImportedRule;
use super::rule_sources::is_rule_path;
use super::source::{AgentFile, UnreadableFile, is_below};

/// Why a file is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportReason {
    /// The command names it.
    Named,
    /// Agents read it.
    Found,
    /// It was imported before.
    Earlier,
}

/// What a command names. Nothing means all that are found.
#[derive(Debug, Default)]
pub struct NamedFiles {
    /// Files, by their paths from the top of the work tree.
    pub files: BTreeSet<String>,
    /// Folders of rules whose files these are.
    pub folders: Vec<String>,
    /// What is in them and not read.
    pub left: Vec<UnreadPath>,
}

impl NamedFiles {
    /// Adds a file, or the rule files of a folder.
    pub fn add(&mut self, top: &Path, name: String) {
        if top.join(&name).is_dir() {
            let FoundFiles { files, left } = FoundFiles::in_folder(top, &name);
            self.files.extend(files);
            self.left.extend(left);
            self.folders.push(name);
        } else {
            self.files.insert(name);
        }
    }

    /// Looks for rule files, if the command names none.
    #[must_use]
    pub fn find(&self, top: &Path) -> FoundFiles {
        if self.is_all() { FoundFiles::below(top) } else { FoundFiles::default() }
    }

    fn is_all(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty()
    }

    fn has_below(&self, file: &str) -> bool {
        let below = |folder: &String| file.strip_prefix(folder.as_str());
        self.folders.iter().filter_map(below).any(|rest| rest.starts_with('/'))
    }
}

/// Returns the files to import: those named, or all that are found. Which were imported before is known from the logs
/// alone, so such a file counts only if its rules prove it, or if it is gone.
#[must_use]
pub fn files_to_import(
    top: &Path,
    named: &NamedFiles,
    found: &FoundFiles,
    known: &[ImportedRule],
) -> Vec<(String, ImportReason)> {
    let is_gone = |file: &str| {
        is_rule_path(file) && is_below(file) && top.join(file).symlink_metadata().is_err()
    };
    let earlier = known.iter().filter(|known| {
        let is_known = known.proves_file_import() && is_below(&known.file);
        let is_wanted = named.is_all() || named.has_below(&known.file);
        is_wanted && (is_known || is_gone(&known.file))
    });
    let earlier: BTreeSet<&String> = earlier.map(|known| &known.file).collect();
    let listed = |file: &&String| named.files.contains(*file) || found.files.contains(file);
    let earlier = earlier.into_iter().filter(|file| !listed(file));
    let earlier = earlier.map(|name| (name.clone(), ImportReason::Earlier));
    let named = named.files.iter().map(|name| (name.clone(), ImportReason::Named));
    let found = found.files.iter().map(|name| (name.clone(), ImportReason::Found));
    named.chain(found).chain(earlier).collect()
}

/// What reading a file gave.
#[derive(Debug)]
pub enum SourceRead {
    /// Its text; an empty one if it was imported before and is gone.
    File(AgentFile),
    /// Nothing that anybody asked for.
    Nothing,
    /// It is there and not read, which is no error.
    Left(UnreadPath),
    /// It cannot be read.
    Unreadable(UnreadableFile),
}

impl SourceRead {
    /// Reads a file.
    #[must_use]
    pub fn read(top: &Path, name: &str, why: ImportReason, known: &[ImportedRule]) -> Self {
        match AgentFile::read(top, name) {
            Ok(source) => Self::File(source),
            Err(UnreadableFile::Missing) if why != ImportReason::Named => {
                let is_known = known.iter().any(|known| known.file == name);
                if is_known { Self::File(AgentFile::deleted(name)) } else { Self::Nothing }
            }
            // Only a line in a log asked for this file.
            Err(trouble)
                if why == ImportReason::Earlier
                    && !matches!(trouble, UnreadableFile::UnclosedBlock(_)) =>
            {
                Self::Nothing
            }
            // One file for several clients is mostly a file and links to it.
            Err(UnreadableFile::Link) if why == ImportReason::Found => {
                let (path, reason) = (name.to_owned(), link_text(top, name));
                Self::Left(UnreadPath { path, files: None, reason })
            }
            Err(trouble) => Self::Unreadable(trouble),
        }
    }
}

/// Says where a link leads, if that is in the work tree.
fn link_text(top: &Path, name: &str) -> String {
    let target = top.join(name).canonicalize().ok();
    let below = target.as_ref().and_then(|target| target.strip_prefix(top).ok()?.to_str());
    match below {
        Some(below) => format!("a link to {below}"),
        None => "a link; name the file that it points to".to_owned(),
    }
}
