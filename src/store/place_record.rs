//! What the store remembers of the directories that it served: which repository each was, so that one which gets a remote, moves or is
//! renamed finds its memories again. Lines are only added. Not here: how a directory's repository is found (`place`), and what
//! somebody is asked about it (`former_repos`).

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use event::{RepoKey, Timestamp, parse_timestamp};
use serde_json::{Value, json};

use super::directory_identity::DirectoryIdentity;
use super::folder_owner::open_private;
use super::layout::{Store, open_to_read};

/// The folder of the record, inside the store.
const FOLDER: &str = ".places";

/// The file in it.
const FILE: &str = "directories";

/// Most bytes that are read, the newest. This holds some ten thousand directories.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A directory as it was when it was last seen to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRecord {
    /// Since when.
    pub since: Timestamp,
    /// The directory with the repository's own files, shared by its work trees, or the folder of a project without version control.
    pub directory: PathBuf,
    /// The identity of that directory on its file system, which a move keeps.
    pub(crate) identity: DirectoryIdentity,
    /// A commit of the repository, mostly the first at which its HEAD stood. A copy keeps it, and clones and forks may have the same.
    pub first_commit: Option<String>,
    /// The key of its repository, before aliases.
    pub repo: RepoKey,
    /// Whether somebody was asked what it was before.
    pub asked: bool,
}

impl PlaceRecord {
    /// Tells whether another record is about the same repository: the directory, or a commit.
    pub(super) fn is_same_repository(&self, other: &Self) -> bool {
        let is_commit = self.first_commit.is_some() && self.first_commit == other.first_commit;
        is_commit || self.identity.is_same(&other.identity)
    }

    fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let (file, born) = (text("file")?.to_owned(), text("born").map(str::to_owned));
        Some(Self {
            since: parse_timestamp(text("since")?)?,
            directory: PathBuf::from(text("directory")?),
            identity: DirectoryIdentity { file, born },
            first_commit: text("first_commit").map(str::to_owned),
            repo: RepoKey::parse(text("repo")?).ok()?,
            asked: value.get("asked").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    fn line(&self) -> String {
        let Self { since, directory, identity, first_commit, repo, asked } = self;
        let mut line = json!({ "since": format!("{since:.0}"), "directory": directory, "file": identity.file, "repo": repo.as_str() });
        if let Some(fields) = line.as_object_mut() {
            let optional = [("born", &identity.born), ("first_commit", first_commit)];
            let given =
                optional.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
            fields.extend(given.map(|(name, value)| (name.to_owned(), json!(value))));
            if *asked {
                fields.insert("asked".to_owned(), json!(true));
            }
        }
        format!("{line}\n")
    }
}

/// The text of the record, the newest lines.
#[derive(Debug, Default)]
pub(super) struct PlaceText(String);

impl PlaceText {
    /// Returns all records, the oldest first. Lines that cannot be read are skipped.
    pub(super) fn all(&self) -> Vec<PlaceRecord> {
        self.0.lines().filter_map(PlaceRecord::parse).collect()
    }

    /// Returns the records of one directory. The other lines are not even read as JSON, as there may be thousands.
    pub(super) fn of_directory(&self, directory: &Path) -> Vec<PlaceRecord> {
        let Some(name) = directory.to_str() else { return Vec::new() };
        let written = json!(name).to_string();
        let lines = self.0.lines().filter(|line| line.contains(&written));
        lines.filter_map(PlaceRecord::parse).filter(|one| one.directory == directory).collect()
    }
}

impl Store {
    /// Reads what is remembered. Where it cannot be read, nothing is.
    pub(super) fn place_text(&self) -> PlaceText {
        let path = self.root().join(FOLDER).join(FILE);
        let Ok(Some((mut file, found))) = open_to_read(&path) else { return PlaceText::default() };
        let mut bytes = Vec::new();
        // The newest lines count; the first one of a long file may be cut, and is skipped then.
        let from = found.len().saturating_sub(FILE_BYTES_MAX);
        let read = file.seek(SeekFrom::Start(from));
        match read.and_then(|_| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)) {
            Ok(_) => PlaceText(String::from_utf8_lossy(&bytes).into_owned()),
            Err(_) => PlaceText::default(),
        }
    }

    /// Returns what is remembered, the oldest first.
    #[must_use]
    pub fn place_records(&self) -> Vec<PlaceRecord> {
        self.place_text().all()
    }

    /// Adds a record.
    pub(super) fn add_place_record(&self, record: &PlaceRecord) -> Option<()> {
        let path = self.ensure_folder(FOLDER).ok()?.join(FILE);
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        open_private(&mut options, &path).ok()?.write_all(record.line().as_bytes()).ok()
    }
}
