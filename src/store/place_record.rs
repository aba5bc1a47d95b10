//! What the store remembers of the directories that it served: which repository each was, so that one which gets a remote, moves or is
//! renamed finds its memories again. Lines are only added. Not here: how a directory's repository is found (`place`), and what
//! somebody is asked about it (`former_repos`).

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use event::{RepoKey, Timestamp, parse_timestamp};
use guard::secrets::RedactedText;
use place::{VersionControl, WorkTree, common_dir_key};
use serde_json::{Value, json};

use super::folder_owner::open_private;
use super::layout::{FileId, Store, open_to_read};

/// The folder of the record, inside the store.
const FOLDER: &str = ".places";

/// The file in it.
const FILE: &str = "directories";

/// Most bytes that are read, the newest. This holds some ten thousand directories.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Most bytes of git's own log of a branch that are read: its first line is enough.
const FIRST_LINE_BYTES_MAX: u64 = 1024;

/// A directory as it was when it was last seen to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceRecord {
    /// Since when.
    pub since: Timestamp,
    /// The directory with the repository's own files, shared by its work trees.
    pub directory: PathBuf,
    /// The identity of that directory on its file system, which a move keeps.
    pub file: String,
    /// The first commit at which the repository's HEAD stood, which a copy keeps. Clones and forks may have the same.
    pub first_commit: Option<String>,
    /// The key of its repository, before aliases.
    pub repo: RepoKey,
    /// Whether somebody was asked what it was before.
    pub asked: bool,
}

impl PlaceRecord {
    /// Describes a work tree as it is now. `None` where its path holds a secret, or is no text.
    fn of_tree(tree: &WorkTree, repo: &RepoKey, now: Timestamp) -> Option<Self> {
        let directory = tree.common_dir.to_str()?;
        let is_plain = RedactedText::stamp(directory).as_str() == directory;
        let file = FileId::from_path(&tree.common_dir)?.to_string();
        is_plain.then(|| Self {
            since: now,
            directory: tree.common_dir.clone(),
            file,
            first_commit: first_commit(tree),
            repo: repo.clone(),
            asked: false,
        })
    }

    /// Tells whether both say the same, whenever that was.
    fn is_same(&self, other: &Self) -> bool {
        (&self.directory, &self.file, &self.repo) == (&other.directory, &other.file, &other.repo)
    }

    fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        Some(Self {
            since: parse_timestamp(text("since")?)?,
            directory: PathBuf::from(text("directory")?),
            file: text("file")?.to_owned(),
            first_commit: text("first_commit").map(str::to_owned),
            repo: RepoKey::parse(text("repo")?).ok()?,
            asked: value.get("asked").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    fn line(&self) -> String {
        let Self { since, directory, file, first_commit, repo, asked } = self;
        let mut line = json!({ "since": format!("{since:.0}"), "directory": directory, "file": file, "repo": repo.as_str() });
        if let (Some(commit), Some(fields)) = (first_commit, line.as_object_mut()) {
            fields.insert("first_commit".to_owned(), json!(commit));
        }
        if let (true, Some(fields)) = (*asked, line.as_object_mut()) {
            fields.insert("asked".to_owned(), json!(true));
        }
        format!("{line}\n")
    }
}

impl Store {
    /// Returns what is remembered, the oldest first. Lines that cannot be read are skipped.
    #[must_use]
    pub fn place_records(&self) -> Vec<PlaceRecord> {
        let path = self.root().join(FOLDER).join(FILE);
        let Ok(Some((mut file, found))) = open_to_read(&path) else { return Vec::new() };
        let mut bytes = Vec::new();
        // The newest lines count; the first one of a long file may be cut, and is skipped then.
        let from = found.len().saturating_sub(FILE_BYTES_MAX);
        let read = file.seek(SeekFrom::Start(from));
        if read.and_then(|_| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)).is_err() {
            return Vec::new();
        }
        String::from_utf8_lossy(&bytes).lines().filter_map(PlaceRecord::parse).collect()
    }

    /// Returns the key that a repository had when it was last seen with a remote. Its directory must be the same one.
    #[must_use]
    pub fn remembered_key(&self, common_dir: &Path) -> Option<RepoKey> {
        let file = FileId::from_path(common_dir)?.to_string();
        let records = self.place_records();
        let last = records.iter().rev().find(|record| record.directory == common_dir)?;
        let is_remote = !last.repo.is_of_one_machine();
        (last.file == file && is_remote).then(|| last.repo.clone())
    }

    /// Tells whether a work tree whose repository has memories is another repository now: it got a remote, though nothing says yet that
    /// its former memories belong to it.
    #[must_use]
    pub fn is_changed_place(&self, tree: &WorkTree, repo: &RepoKey) -> bool {
        let own_key = common_dir_key(&tree.common_dir);
        let got_remote = *repo != own_key && self.log_of(&own_key).symlink_metadata().is_ok();
        let is_known =
            |record: &PlaceRecord| record.directory == tree.common_dir && record.repo == *repo;
        got_remote && !self.place_records().iter().any(is_known)
    }

    /// Remembers which repository a work tree is, if that is news. A failure is ignored: no answer depends on it alone.
    pub fn remember_place(&self, tree: &WorkTree, repo: &RepoKey, now: Timestamp) {
        if tree.control != VersionControl::Git || !self.root().exists() {
            return;
        }
        let Some(record) = PlaceRecord::of_tree(tree, repo, now) else { return };
        let known = self.place_records();
        let last = known.iter().rev().find(|old| old.directory == record.directory);
        if !last.is_some_and(|last| last.is_same(&record)) {
            let _ = self.add_place_record(&record);
        }
    }

    /// Remembers that somebody was asked what a work tree was before.
    pub fn remember_question(&self, tree: &WorkTree, repo: &RepoKey, now: Timestamp) {
        if let Some(record) = PlaceRecord::of_tree(tree, repo, now) {
            let _ = self.add_place_record(&PlaceRecord { asked: true, ..record });
        }
    }

    fn add_place_record(&self, record: &PlaceRecord) -> Option<()> {
        let path = self.ensure_folder(FOLDER).ok()?.join(FILE);
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        open_private(&mut options, &path).ok()?.write_all(record.line().as_bytes()).ok()
    }
}

/// Returns the first commit at which HEAD stood, by the first line of git's own log of it.
fn first_commit(tree: &WorkTree) -> Option<String> {
    let path: &Path = &tree.common_dir.join("logs/HEAD");
    let (file, _) = open_to_read(path).ok()??;
    let mut bytes = Vec::new();
    file.take(FIRST_LINE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let line = String::from_utf8_lossy(&bytes);
    let commit = line.split(' ').nth(1)?;
    let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| commit.to_owned())
}
