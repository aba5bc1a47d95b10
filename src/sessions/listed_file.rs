//! The transcripts of a tool and the folders that were listed to find them. Rows know both by hashes, so who did not list the folder of
//! a file cannot say that it is gone. Not here: which files are read (`session_import`), the hashes (`row_text`).

use std::collections::HashSet;

use rusqlite::{Transaction, params};

use super::import_scope::ImportScope;
use super::row_text::{root_key, shown_file};
use transcripts::source::{TranscriptFile, TranscriptPlaces, TranscriptReader};

/// A file, and the key of the folder that was listed to find it.
pub(super) struct ListedFile {
    pub(super) file: TranscriptFile,
    pub(super) root: i64,
}

/// Lists the transcripts of a tool, in all of its roots. `listed` gets the keys of the roots that could be listed.
pub(super) fn listed_files(
    reader: &dyn TranscriptReader,
    places: &TranscriptPlaces<'_>,
    scope: &ImportScope,
    listed: &mut HashSet<i64>,
    errors: &mut Vec<String>,
) -> Vec<ListedFile> {
    let name = reader.tool().name;
    let named = scope.roots.iter().filter(|(tool, _)| tool == name).map(|(_, root)| root.clone());
    let roots = reader.roots(places).into_iter().chain(named);
    roots
        .flat_map(|root| {
            let (files, key) = (reader.find(&root), root_key(&root));
            match &files {
                Ok(_) => drop(listed.insert(key)),
                Err(error) => errors.push(error.about(&shown_file(&root, &root))),
            }
            files.unwrap_or_default().into_iter().map(move |file| ListedFile { file, root: key })
        })
        .collect()
}

/// Writes which folders were listed when files were found.
pub(super) fn keep_roots(write: &Transaction<'_>, roots: &[(i64, i64)]) -> rusqlite::Result<()> {
    let mut statement = write.prepare_cached("INSERT OR REPLACE INTO file_root VALUES (?1, ?2)")?;
    roots.iter().try_for_each(|(file, root)| statement.execute(params![file, root]).map(drop))
}
