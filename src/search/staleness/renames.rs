//! Where files that are gone went: renames in the history of the checked-out commit, as git recognises them. Not here: what a
//! renamed file means for a memory (the check).

use std::collections::{BTreeMap, BTreeSet};

use super::git_questions::{GitError, GitQuestions};

/// Most files that are followed in one check, and most commits that are looked into.
const FILES_MAX: usize = 256;
const COMMITS_MAX: usize = 256;

/// Most renames of one file that are followed.
pub(super) const RENAMES_MAX: usize = 4;

/// A file under its present name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RenamedFile {
    pub(super) path: String,
    /// The id of its content in the checked-out commit.
    pub(super) blob: String,
}

/// Finds the present names of files that are gone, by their old ones. `base` is a commit before all of these renames.
pub(super) fn renamed_files(
    git: &GitQuestions,
    gone: BTreeSet<String>,
    base: Option<&str>,
) -> Result<BTreeMap<String, RenamedFile>, GitError> {
    let mut renamed = BTreeMap::new();
    let mut followed: BTreeMap<String, String> =
        gone.into_iter().take(FILES_MAX).map(|path| (path.clone(), path)).collect();
    for _ in 0..RENAMES_MAX {
        let paths: BTreeSet<&str> = followed.values().map(String::as_str).collect();
        if paths.is_empty() {
            break;
        }
        let pairs = rename_pairs(git, &paths, base)?;
        let mut next = BTreeMap::new();
        for (old, path) in followed {
            if let Some(new) = pairs.get(&path) {
                next.insert(old, new.clone());
            }
        }
        let present = present_files(git, next.values().map(String::as_str).collect())?;
        next.retain(|old, path| match present.get(path) {
            Some(blob) => {
                let file = RenamedFile { path: path.clone(), blob: blob.clone() };
                renamed.insert(old.clone(), file);
                false
            }
            None => true,
        });
        followed = next;
    }
    Ok(renamed)
}

/// Finds what became of each path in the commit that removed it last.
fn rename_pairs(
    git: &GitQuestions,
    paths: &BTreeSet<&str>,
    base: Option<&str>,
) -> Result<BTreeMap<String, String>, GitError> {
    let mut pairs = BTreeMap::new();
    // The newest commit comes first.
    for (old, new) in history_pairs(git, paths, base)? {
        if paths.contains(old.as_str()) {
            pairs.entry(old).or_insert(new);
        }
    }
    Ok(pairs)
}

/// Returns the renames in the commits that removed one of these files, or files of one of these folders, the newest first.
pub(super) fn history_pairs(
    git: &GitQuestions,
    paths: &BTreeSet<&str>,
    base: Option<&str>,
) -> Result<Vec<(String, String)>, GitError> {
    let without = base.map(|base| format!("^{base}"));
    let range = ["HEAD"].into_iter().chain(without.as_deref());
    let question = ["log", "--no-renames", "--diff-filter=D", "--format=%H"];
    let question: Vec<&str> =
        question.into_iter().chain(range).chain(["--"]).chain(paths.iter().copied()).collect();
    let commits = String::from_utf8_lossy(&git.ask(&question)?).into_owned();
    let commits: Vec<&str> = commits.lines().take(COMMITS_MAX).collect();
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let question =
        ["diff-tree", "--stdin", "--no-commit-id", "-r", "-z", "-M", "--no-rename-empty"];
    let question: Vec<&str> =
        question.into_iter().chain(["--diff-filter=R", "--name-status"]).collect();
    let answer = git.ask_with(&question, format!("{}\n", commits.join("\n")))?;
    Ok(pairs_in(&answer))
}

/// Reads `--name-status -z` of renames: the status, the old name and the new one in turn.
pub(super) fn pairs_in(answer: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(answer);
    let mut parts = text.split('\0');
    let mut pairs = Vec::new();
    while let (Some(status), Some(old), Some(new)) = (parts.next(), parts.next(), parts.next()) {
        if status.starts_with('R') {
            pairs.push((old.to_owned(), new.to_owned()));
        }
    }
    pairs
}

/// Returns the contents, by their ids, of those paths that are files of the checked-out commit.
fn present_files(
    git: &GitQuestions,
    paths: BTreeSet<&str>,
) -> Result<BTreeMap<String, String>, GitError> {
    if paths.is_empty() {
        return Ok(BTreeMap::new());
    }
    let question = ["ls-tree", "-z", "HEAD", "--"].into_iter().chain(paths);
    let answer = git.ask(&question.collect::<Vec<_>>())?;
    let text = String::from_utf8_lossy(&answer);
    let file = |line: &str| {
        let (about, path) = line.split_once('\t')?;
        Some((path.to_owned(), about.split(' ').nth(2)?.to_owned()))
    };
    Ok(text.split('\0').filter_map(file).collect())
}
