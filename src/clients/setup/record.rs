//! The record of what was set up, so that it can be undone: one file beside the logs, and copies of the client files.
//! Later versions may add fields; unknown fields are kept. Not here: setting up or undoing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::SetupError;
use super::desired_state::FileKind;
use super::files::{self, ExpectedContent, ReadAccess};

/// The version of the format. Versions that this program cannot read have a higher number.
const VERSION: u32 = 1;

/// Everything that was set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SetupRecord {
    version: u32,
    #[serde(default)]
    pub(super) files: Vec<FileRecord>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// One file that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FileRecord {
    /// The client's name and title.
    pub(super) client: String,
    pub(super) title: String,
    pub(super) scope: String,
    /// The project it was set up for, or the working directory.
    pub(super) project: PathBuf,
    pub(super) path: PathBuf,
    /// The folders that were made for it, outermost first.
    #[serde(default)]
    pub(super) folders: Vec<PathBuf>,
    /// The name of the copy of the file as it would be without us; none if there was no file.
    #[serde(default)]
    pub(super) without_us: Option<String>,
    /// The hash of the file as we left it.
    pub(super) left: String,
    /// The program that the file names.
    pub(super) program: PathBuf,
    /// When it was changed.
    pub(super) at: String,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// The files of the record and of the copies.
#[derive(Debug, Clone)]
pub(super) struct RecordStore {
    /// The folder of the copies.
    folder: PathBuf,
    file: PathBuf,
}

impl RecordStore {
    /// Returns their paths, below our data directory.
    pub(super) fn in_data(data: &Path) -> Self {
        Self { folder: data.join("setup"), file: data.join("setup.json") }
    }

    /// The folder of the copies.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the record. A missing file is an empty record.
    pub(super) fn read(&self) -> Result<SetupRecord, SetupError> {
        let empty = SetupRecord { version: VERSION, files: Vec::new(), rest: Map::new() };
        let Some(text) = files::read(&self.file)? else { return Ok(empty) };
        let strange = |why: String| SetupError::Record { path: self.file.clone(), why };
        let record: SetupRecord =
            serde_json::from_str(&text).map_err(|error| strange(error.to_string()))?;
        if record.version > VERSION {
            return Err(strange("it was written by a newer agent-knowledge".to_owned()));
        }
        Ok(record)
    }

    /// Writes the record. An empty record has no file.
    pub(super) fn write(&self, record: &SetupRecord) -> Result<(), SetupError> {
        if record.files.is_empty() && record.rest.is_empty() {
            files::remove(&self.file)?;
            files::remove_folders(std::slice::from_ref(&self.folder));
            return Ok(());
        }
        files::make_folders(&self.file, ReadAccess::User)?;
        let text = serde_json::to_string_pretty(record).map_err(|error| SetupError::Record {
            path: self.file.clone(),
            why: error.to_string(),
        })?;
        files::write(
            &self.file,
            &format!("{text}\n"),
            FileKind::Data,
            ReadAccess::User,
            ExpectedContent::Anything,
        )
    }

    /// Writes a copy of a text, and returns its name. The same text of the same file is kept once. The copy counts once
    /// the record names it and [`Self::confirm`] was called; that of a run that was killed before is removed by the next.
    pub(super) fn keep_copy(&self, path: &Path, text: &str) -> Result<String, SetupError> {
        let fingerprint = files::fingerprint(&format!("{}\0{text}", path.display()));
        let short = fingerprint.get(..12).unwrap_or_default();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{short}-{}", file.trim_start_matches('.'));
        let copy = self.folder.join(&name);
        files::make_folders(&copy, ReadAccess::User)?;
        if files::read(&copy)?.as_deref() != Some(text) {
            let fresh = files::temporary_path(&copy);
            files::write(
                &fresh,
                text,
                FileKind::Data,
                ReadAccess::User,
                ExpectedContent::Anything,
            )?;
        }
        Ok(name)
    }

    /// Makes a copy count.
    pub(super) fn confirm(&self, name: &str) -> Result<(), SetupError> {
        let copy = self.folder.join(name);
        match std::fs::rename(files::temporary_path(&copy), &copy) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(SetupError::io("write", &copy)(error))
            }
            // A copy that was kept before stands there already.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Removes what killed runs left of the record and its copies, and beside these files.
    pub(super) fn remove_leftovers<'a>(&'a self, paths: impl Iterator<Item = &'a Path>) {
        files::remove_leftovers(&self.folder, |_| true);
        for path in paths.chain([self.file.as_path()]) {
            let path = files::link_target(path).unwrap_or_else(|_| path.to_owned());
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                files::remove_leftovers(folder, |found| Some(found) == name.to_str());
            }
        }
    }

    /// Reads a copy. The name comes from a file, so it must not lead out of the folder.
    pub(super) fn kept_copy(&self, name: &str) -> Result<Option<String>, SetupError> {
        if name.contains(['/', '\\']) || name == ".." {
            return Ok(None);
        }
        files::read(&self.folder.join(name))
    }

    /// Removes a copy.
    pub(super) fn remove_copy(&self, name: &str) -> Result<(), SetupError> {
        match self.kept_copy(name)? {
            Some(_) => files::remove(&self.folder.join(name)),
            None => Ok(()),
        }
    }
}

impl SetupRecord {
    /// Returns the record of a file.
    pub(super) fn find(&self, path: &Path) -> Option<&FileRecord> {
        self.files.iter().find(|done| done.path == path)
    }

    /// Adds the record of a file, in place of an earlier one.
    pub(super) fn insert(&mut self, done: FileRecord) {
        match self.files.iter_mut().find(|other| other.path == done.path) {
            Some(other) => *other = done,
            None => self.files.push(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-SETUP-6
    #[test]
    fn fields_of_later_versions_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let book = RecordStore::in_data(folder.path());
        assert!(book.read().unwrap().files.is_empty());
        let text = r#"{"version":1,"new":{"a":1},"files":[{"client":"codex","title":"Codex","scope":"user","project":"/p","path":"/f","left":"00","program":"/ak","at":"2026-01-02T03:04:05Z","more":[1]}]}"#;
        std::fs::write(folder.path().join("setup.json"), text).unwrap();
        let record = book.read().unwrap();
        assert_eq!(record.files[0].folders, Vec::<PathBuf>::new());
        book.write(&record).unwrap();
        let written: Value = serde_json::from_str(
            &std::fs::read_to_string(folder.path().join("setup.json")).unwrap(),
        )
        .unwrap();
        assert_eq!((&written["new"]["a"], &written["files"][0]["more"][0]), (&1.into(), &1.into()));
        std::fs::write(folder.path().join("setup.json"), "{\"version\":2}").unwrap();
        assert!(book.read().unwrap_err().to_string().contains("newer"));
    }

    #[test]
    fn copies_are_kept_once_and_stay_in_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let book = RecordStore::in_data(folder.path());
        let name = book.keep_copy(Path::new("/h/.claude.json"), "{}").unwrap();
        assert!(name.ends_with("-claude.json"), "{name}");
        assert_eq!(book.kept_copy(&name).unwrap(), None, "not before it counts");
        book.confirm(&name).unwrap();
        assert_eq!(book.keep_copy(Path::new("/h/.claude.json"), "{}").unwrap(), name);
        assert_ne!(book.keep_copy(Path::new("/other/.claude.json"), "{}").unwrap(), name);
        assert_eq!(book.kept_copy(&name).unwrap().as_deref(), Some("{}"));
        assert_eq!(book.kept_copy("../setup.json").unwrap(), None);
        book.remove_copy(&name).unwrap();
        assert_eq!(book.kept_copy(&name).unwrap(), None);
        book.remove_leftovers(std::iter::empty());
        assert_eq!(std::fs::read_dir(book.folder()).unwrap().count(), 0);
    }
}
