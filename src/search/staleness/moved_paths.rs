//! What files and folders that are gone are called now: renames in the history of the checked-out commit, and those that wait for the
//! next commit. A folder went where most of its files went. Not here: which names are asked about (`api`), whether a memory still holds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use super::git_questions::{GitError, GitQuestions, is_commit_id};
use super::landed_work::common_base;
use super::renames::{RENAMES_MAX, history_pairs, pairs_in};

/// Most names that are followed for one answer.
const NAMES_MAX: usize = 256;

/// The present names of files and folders, by those that they had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MovedPaths {
    present: BTreeMap<String, String>,
}

impl MovedPaths {
    /// Returns the present name of a file or folder that is gone. What lies in a folder that went elsewhere went with it.
    #[must_use]
    pub fn present_name(&self, gone: &str) -> Option<String> {
        let whole = self.present.get(gone).cloned();
        let mut above = gone.match_indices('/').map(|(at, _)| at);
        whole.or_else(|| {
            above.find_map(|at| {
                let (folder, rest) = gone.split_at_checked(at)?;
                Some(format!("{}{rest}", self.present.get(folder)?))
            })
        })
    }

    /// Returns the former names of a file or folder, and of what is below it.
    pub fn former_names<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let is_below = move |now: &str| {
            now.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let names = self.present.iter().filter(move |(_, now)| is_below(now));
        names.map(|(former, _)| former.as_str())
    }

    /// Tells whether it has all that another one has.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        other.present.iter().all(|(former, present)| self.present.get(former) == Some(present))
    }

    /// Notes the present name of a file or folder.
    pub fn insert(&mut self, former: String, present: String) {
        self.present.insert(former, present);
    }

    /// Adds what another question found.
    pub fn extend(&mut self, more: Self) {
        self.present.extend(more.present);
    }
}

/// Finds what became of names that are gone from a work tree, within a time. Each has a commit at which it was there, if one is known.
///
/// # Errors
/// [`GitError`] if git is not there or takes too long.
pub fn moved_paths(
    top: &Path,
    gone: &BTreeMap<String, Option<String>>,
    time: Duration,
) -> Result<MovedPaths, GitError> {
    let mut found = MovedPaths::default();
    if gone.is_empty() {
        return Ok(found);
    }
    let git = GitQuestions::within(top, time);
    let staged = staged_pairs(&git)?;
    let mut base: Option<Option<String>> = None;
    let mut followed: BTreeMap<&str, String> =
        gone.keys().take(NAMES_MAX).map(|path| (path.as_str(), path.clone())).collect();
    for _ in 0..RENAMES_MAX {
        let mut next = next_names(&followed, &staged);
        followed.retain(|old, _| !next.contains_key(old));
        if !followed.is_empty() {
            let base = match &base {
                Some(base) => base,
                None => base.insert(base_of(&git, gone)?),
            };
            let paths: BTreeSet<&str> = followed.values().map(String::as_str).collect();
            next.extend(next_names(&followed, &history_pairs(&git, &paths, base.as_deref())?));
        }
        next.retain(|old, path| {
            let is_there = top.join(&*path).symlink_metadata().is_ok();
            if is_there {
                found.insert((*old).to_owned(), path.clone());
            }
            !is_there
        });
        followed = next;
        if followed.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// Returns a commit before all of these renames; `None` where a name has no commit.
fn base_of(
    git: &GitQuestions,
    gone: &BTreeMap<String, Option<String>>,
) -> Result<Option<String>, GitError> {
    let known = |commit: &'_ Option<String>| commit.clone().filter(|commit| is_commit_id(commit));
    let commits: Option<BTreeSet<String>> = gone.values().map(known).collect();
    match commits {
        Some(commits) => {
            common_base(git, std::iter::once("HEAD").chain(commits.iter().map(String::as_str)))
        }
        None => Ok(None),
    }
}

/// Returns the renames that the next commit will have.
fn staged_pairs(git: &GitQuestions) -> Result<Vec<(String, String)>, GitError> {
    let question = ["diff-index", "--cached", "-z", "-M", "--no-rename-empty", "--name-status"];
    let question: Vec<&str> = question.into_iter().chain(["--diff-filter=R", "HEAD"]).collect();
    Ok(pairs_in(&git.ask(&question)?))
}

/// Takes each name a rename further, where there is one of it.
fn next_names<'a>(
    followed: &BTreeMap<&'a str, String>,
    pairs: &[(String, String)],
) -> BTreeMap<&'a str, String> {
    let step = |path: &str| {
        let of_file = pairs.iter().find(|(old, _)| old == path).map(|(_, new)| new.clone());
        of_file.or_else(|| new_folder(path, pairs))
    };
    followed.iter().filter_map(|(old, path)| Some((*old, step(path)?))).collect()
}

/// Returns the folder to which at least half of the renamed files of another one went, with the same names.
fn new_folder(folder: &str, pairs: &[(String, String)]) -> Option<String> {
    let mut votes: Vec<(&str, usize)> = Vec::new();
    let mut files = 0;
    for (old, new) in pairs {
        let Some(rest) = old.strip_prefix(folder).filter(|rest| rest.starts_with('/')) else {
            continue;
        };
        files += 1;
        let Some(target) = new.strip_suffix(rest) else { continue };
        match votes.iter_mut().find(|(other, _)| *other == target) {
            Some((_, count)) => *count += 1,
            None => votes.push((target, 1)),
        }
    }
    // Of equals the newest comes first.
    let most = votes.iter().map(|(_, count)| *count).max()?;
    let (target, _) = votes.iter().find(|(_, count)| *count == most)?;
    (most * 2 >= files && !target.is_empty()).then(|| (*target).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(top: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(top).env("HOME", top).env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]).args(args);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn write(top: &Path, path: &str) {
        let file = top.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("one\ntwo\nthree\nfour\n{path}\n")).unwrap();
    }

    fn commit(top: &Path, words: &str) {
        git(top, &["add", "--all"]);
        git(top, &["commit", "--quiet", "-m", words]);
    }

    // S-PATH-6
    #[test]
    fn files_and_folders_are_followed_to_their_present_names() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        git(top, &["init", "--quiet"]);
        for path in ["p/old/a.ts", "p/old/src/b.ts", "p/old/src/c.ts", "top/x.ts", "left/y.ts"] {
            write(top, path);
        }
        for path in ["split/a.ts", "split/b.ts", "split/c.ts", "dead/z.ts", "kept/k.ts"] {
            write(top, path);
        }
        commit(top, "begin");
        git(top, &["mv", "p/old", "p/mid"]);
        git(top, &["mv", "top", "libs"]);
        for part in ["a", "b", "c"] {
            std::fs::create_dir_all(top.join(part)).unwrap();
            git(top, &["mv", &format!("split/{part}.ts"), &format!("{part}/{part}.ts")]);
        }
        git(top, &["rm", "--quiet", "-r", "dead"]);
        commit(top, "move");
        git(top, &["mv", "p/mid", "p/new"]);
        git(top, &["mv", "p/new/a.ts", "p/new/cart.ts"]);
        commit(top, "move again");
        git(top, &["mv", "left", "right"]);
        let names = [
            "p/old",
            "p/old/a.ts",
            "p/old/src",
            "top",
            "left",
            "left/y.ts",
            "split",
            "dead",
            "dead/z.ts",
            "never",
            "p/mid",
        ];
        let gone = names.iter().map(|name| ((*name).to_owned(), None)).collect();
        let found = moved_paths(top, &gone, Duration::from_secs(20)).unwrap();
        let now: Vec<Option<String>> = names.iter().map(|name| found.present_name(name)).collect();
        let now: Vec<Option<&str>> = now.iter().map(Option::as_deref).collect();
        let expected = [
            Some("p/new"),
            Some("p/new/cart.ts"),
            Some("p/new/src"),
            Some("libs"),
            Some("right"),
            Some("right/y.ts"),
            None,
            None,
            None,
            None,
            Some("p/new"),
        ];
        assert_eq!(now, expected);
        assert_eq!(found.present_name("p/old/src/b.ts").as_deref(), Some("p/new/src/b.ts"));
        let former: Vec<&str> = found.former_names("p/new/cart.ts").collect();
        assert_eq!(former, ["p/old/a.ts"]);
        assert_eq!(found.former_names("libs").collect::<Vec<_>>(), ["top"]);
        assert_eq!(found.former_names("lib").count(), 0);
    }
}
