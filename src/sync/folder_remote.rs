//! A remote that is a folder which all can reach: a shared drive, or the stand-in for one in tests. Each origin has a folder
//! in it, with the contents of its files under the names of their sums, and `TREE`, which lists them. A new tree replaces the old
//! one in one step. Not here: git (`git_remote`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use event::StoreOrigin;
use store::FileLock;

use crate::content_sum::sum;
use crate::transport::{FILES_MAX, ORIGINS_MAX};
use crate::{
    FetchedTips, FilePart, Listing, NextTree, PublishOutcome, SyncError, Tip, Tips, Transport,
    TreeFile,
};

/// Where the origins are, below the folder.
const PLACE: &str = "agent-knowledge/v1";

/// The list of an origin's files: sum, length and path, a line each.
const TREE_PATH: &str = "TREE";

/// The longest list, in bytes.
const TREE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How long a publication waits for another one of the same origin, in milliseconds.
const LOCK_MS_MAX: u64 = 2_000;

/// A folder as a remote.
pub struct FolderRemote<'a> {
    root: PathBuf,
    /// What the origins had when they were last asked.
    trees: BTreeMap<StoreOrigin, String>,
    steps: &'a dyn Fn(&'static str),
}

impl<'a> FolderRemote<'a> {
    /// Names a folder. `steps` is called with the name of each step.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>, steps: &'a dyn Fn(&'static str)) -> Self {
        Self { root: root.into(), trees: BTreeMap::new(), steps }
    }

    fn folder_of(&self, origin: &StoreOrigin) -> PathBuf {
        self.root.join(PLACE).join(origin.as_str())
    }

    fn error(&self, why: impl std::fmt::Display) -> SyncError {
        SyncError::Remote { remote: self.root.display().to_string(), why: why.to_string() }
    }

    /// Reads a plain file, at most `bytes_max` of it.
    fn read_file(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>, SyncError> {
        let mut options = OpenOptions::new();
        options.read(true);
        let file = store::open_private(&mut options, path).map_err(|error| match error.kind() {
            // The drive is still there, and the file is not.
            ErrorKind::NotFound if self.root.is_dir() => unreadable("a file is missing"),
            _ => self.error(error),
        })?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(unreadable("something else is in the place of a file"));
        }
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes).map_err(|error| self.error(error))?;
        Ok(bytes)
    }

    fn tree_of(&self, origin: &StoreOrigin) -> Option<String> {
        let tree = self.folder_of(origin).join(TREE_PATH);
        String::from_utf8(self.read_file(&tree, TREE_BYTES_MAX).ok()?).ok()
    }

    /// Writes a file so that others see all of it or none. Others must be able to read it, so it is not private.
    fn write_file(&self, path: &Path, bytes: &[u8]) -> Result<(), SyncError> {
        let new = path.with_extension("new");
        // Whatever somebody put there goes; nothing is written through a link, and nothing waits for a pipe.
        let _ = std::fs::remove_file(&new);
        let made = OpenOptions::new().write(true).create_new(true).open(&new);
        let written = made.and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.and_then(|()| std::fs::rename(&new, path)).map_err(|error| self.error(error))
    }

    /// Removes contents that are in no tree any more. What cannot be removed only takes room.
    fn remove_others(folder: &Path, tree: &str) {
        let kept: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for name in entries.filter_map(|entry| entry.file_name().into_string().ok()) {
            if is_sum(&name) && !kept.contains(name.as_str()) {
                let _ = std::fs::remove_file(folder.join(name));
            }
        }
    }
}

impl Transport for FolderRemote<'_> {
    fn tips(&mut self) -> Result<Tips, SyncError> {
        if !self.root.is_dir() {
            return Err(self.error("there is no such folder; is the drive connected?"));
        }
        let mut tips = Tips::default();
        self.trees.clear();
        let Ok(entries) = std::fs::read_dir(self.root.join(PLACE)) else { return Ok(tips) };
        for entry in entries {
            let entry = entry.map_err(|error| self.error(error))?;
            let name = entry.file_name().into_string().unwrap_or_default();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let origin = StoreOrigin::parse(&name).filter(|_| is_folder);
            match origin.filter(|_| tips.tips.len() < ORIGINS_MAX) {
                Some(origin) => {
                    if let Some(tree) = self.tree_of(&origin) {
                        tips.tips.insert(origin.clone(), tip_of(&tree));
                        self.trees.insert(origin, tree);
                    }
                }
                None if name.ends_with(".lock") => {}
                None => tips.odd += 1,
            }
        }
        Ok(tips)
    }

    fn bring(&mut self, wanted: &[(StoreOrigin, Tip)]) -> Result<FetchedTips, SyncError> {
        let found = wanted
            .iter()
            .filter_map(|(origin, _)| Some((origin.clone(), tip_of(self.trees.get(origin)?))));
        Ok(FetchedTips { tips: found.collect(), failed: Vec::new() })
    }

    fn list(&mut self, origin: &StoreOrigin, _: &Tip) -> Result<Listing, SyncError> {
        let tree = self.trees.get(origin).map(String::as_str).unwrap_or_default();
        if tree.lines().count() > FILES_MAX {
            return Err(unreadable("there are too many files"));
        }
        let mut listing = Listing::default();
        for line in tree.lines() {
            match parse_entry(line) {
                Some(file) => listing.files.push(file),
                None => listing.odd += 1,
            }
        }
        Ok(listing)
    }

    fn read(
        &mut self,
        origin: &StoreOrigin,
        files: &[&TreeFile],
    ) -> Result<Vec<Vec<u8>>, SyncError> {
        let folder = self.folder_of(origin);
        let read = |file: &&TreeFile| {
            let bytes = self.read_file(&folder.join(&file.sum), file.bytes)?;
            match sum(&bytes) == file.sum {
                true => Ok(bytes),
                false => Err(unreadable("a file is not what its name says")),
            }
        };
        files.iter().map(read).collect()
    }

    fn prepare(&mut self, next: &NextTree<'_>) -> Result<Tip, SyncError> {
        Ok(tip_of(&tree_text(next, self.trees.get(next.origin))))
    }

    fn publish(&mut self, next: &NextTree<'_>, tip: &Tip) -> Result<PublishOutcome, SyncError> {
        let folder = self.folder_of(next.origin);
        std::fs::create_dir_all(&folder).map_err(|error| self.error(error))?;
        let _turn = FileLock::acquire(&folder.with_extension("lock"), LOCK_MS_MAX)
            .map_err(|error| self.error(error))?;
        let published = self.tree_of(next.origin);
        if published.as_deref().map(tip_of).as_ref() != next.on {
            return Ok(PublishOutcome::Conflict);
        }
        for part in next.files.values() {
            if let FilePart::New(bytes) = part {
                (self.steps)("write");
                self.write_file(&folder.join(sum(bytes)), bytes)?;
            }
        }
        let tree = tree_text(next, published.as_ref());
        (self.steps)("tree");
        self.write_file(&folder.join(TREE_PATH), tree.as_bytes())?;
        (self.steps)("remove");
        Self::remove_others(&folder, &tree);
        debug_assert_eq!(tip_of(&tree), *tip, "the tree that was prepared");
        self.trees.insert(next.origin.clone(), tree);
        Ok(PublishOutcome::Done)
    }

    fn forget(&mut self) -> Result<(), SyncError> {
        Ok(())
    }
}

/// Returns the error for a tree that no store publishes.
fn unreadable(why: &str) -> SyncError {
    SyncError::Unreadable(why.to_owned())
}

/// Writes the list of a tree. `before` is the list of the one that it follows.
fn tree_text(next: &NextTree<'_>, before: Option<&String>) -> String {
    let before = before.map(String::as_str).unwrap_or_default().lines().filter_map(parse_entry);
    let lengths: BTreeMap<String, u64> = before.map(|file| (file.sum, file.bytes)).collect();
    let line = |(path, part): (&&str, &FilePart<'_>)| match part {
        FilePart::Same(sum) => {
            format!("{sum} {} {path}\n", lengths.get(*sum).copied().unwrap_or_default())
        }
        FilePart::New(bytes) => format!("{} {} {path}\n", sum(bytes), bytes.len()),
    };
    next.files.iter().map(line).collect()
}

fn parse_entry(line: &str) -> Option<TreeFile> {
    let mut parts = line.splitn(3, ' ');
    let sum = parts.next().filter(|sum| is_sum(sum))?.to_owned();
    let bytes = parts.next()?.parse().ok()?;
    Some(TreeFile { path: parts.next()?.to_owned(), sum, bytes })
}

fn is_sum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn tip_of(tree: &str) -> Tip {
    Tip(sum(tree.as_bytes()))
}
