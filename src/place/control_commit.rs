//! A commit by which a repository of Mercurial or Jujutsu is known again, from its files. Mercurial's index of changes names the first
//! one, as did Sapling's; Jujutsu keeps its commits in a git repository and names those that it needs. Not here: git's commits
//! (`known_commit`).

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::known_commit::has_commit;
use crate::small_file::{small_path, small_text};

/// The bytes of the first entry of Mercurial's index up to the end of its name, and where that begins
/// (Mercurial's documentation, "internals.revlogs", version 1).
const ENTRY_BYTES: usize = 52;
const NAME_AT: usize = 32;

/// Most names of commits that Jujutsu keeps which are looked through.
const KEPT_MAX: usize = 10_000;

/// Returns a commit of the repository with these files, always the same as long as it is there.
#[must_use]
pub fn commit_of_control_files(files: &Path) -> Option<String> {
    first_change(files).or_else(|| kept_commit(&git_store(files)?))
}

/// Tells whether the repository with these files has a commit. `None` where they cannot tell.
#[must_use]
pub fn control_files_have_commit(files: &Path, commit: &str) -> Option<bool> {
    match git_store(files) {
        Some(store) => has_commit(&store, commit),
        None => first_change(files).map(|first| first == commit),
    }
}

/// Returns the first change of a repository of Mercurial.
fn first_change(files: &Path) -> Option<String> {
    let mut entry = [0; ENTRY_BYTES];
    File::open(files.join("store/00changelog.i")).ok()?.read_exact(&mut entry).ok()?;
    // The first entry begins with the version of the format.
    let is_known = matches!(entry, [_, _, 0, 1, ..]);
    let name = entry.get(NAME_AT..).filter(|_| is_known)?;
    Some(name.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the git repository in which Jujutsu keeps everything.
fn git_store(files: &Path) -> Option<PathBuf> {
    let store = files.join("repo/store");
    Some(store.join(small_path(&store.join("git_target"))?))
}

/// Returns the first in order of the commits that Jujutsu keeps.
fn kept_commit(store: &Path) -> Option<String> {
    const KEPT: &str = "refs/jj/keep";
    let entries = std::fs::read_dir(store.join(KEPT)).into_iter().flatten().flatten();
    let loose =
        entries.take(KEPT_MAX).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let packed = small_text(&store.join("packed-refs")).unwrap_or_default();
    let packed = packed.lines().filter_map(|line| line.split_once(' '));
    let packed = packed.filter(|(_, name)| name.starts_with(KEPT)).map(|(id, _)| id.to_owned());
    let is_commit = |name: &String| {
        matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    loose.chain(packed).filter(is_commit).min()
}
