//! What the files of a repository still say of work trees and branches that are gone: git keeps the path of a work tree until it
//! prunes, and the name of a branch in several places. Not here: guesses by names (`gone_work_tree`).

use std::path::{Component, Path, PathBuf};

use crate::foreign_path::lexical;
use crate::small_file::{small_path, small_text};

/// Most work trees that are looked at.
const WORK_TREES_MAX: usize = 200;

/// Most remotes that are looked at.
const REMOTES_MAX: usize = 20;

/// The files that all work trees of a repository share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryTraces {
    common_dir: PathBuf,
}

impl RepositoryTraces {
    /// Takes the common directory of a repository.
    #[must_use]
    pub fn of_common_dir(common_dir: &Path) -> Self {
        Self { common_dir: common_dir.to_owned() }
    }

    /// Tells whether a directory is in a work tree that the repository has not forgotten.
    #[must_use]
    pub fn has_work_tree(&self, directory: &Path) -> bool {
        let entries = std::fs::read_dir(self.common_dir.join("worktrees")).into_iter().flatten();
        entries.flatten().take(WORK_TREES_MAX).any(|entry| {
            let dot_git = small_path(&entry.path().join("gitdir"));
            // Since Git 2.48 the path may be relative to the folder in which it stands.
            let top = dot_git.and_then(|path| Some(lexical(&entry.path().join(path.parent()?))));
            top.is_some_and(|top| directory.starts_with(&top))
        })
    }

    /// Tells whether the repository has or had a branch with this name, as far as its files say.
    #[must_use]
    pub fn has_branch(&self, name: &str) -> bool {
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if name.is_empty() || !Path::new(name).components().all(is_plain) {
            return false;
        }
        let is_there = |below: &str| self.common_dir.join(below).join(name).is_file();
        is_there("refs/heads")
            || is_there("logs/refs/heads")
            || self.is_of_remote(name)
            || self.is_packed(name)
            || self.is_logged(name)
    }

    fn is_of_remote(&self, name: &str) -> bool {
        let remotes = std::fs::read_dir(self.common_dir.join("refs/remotes")).into_iter().flatten();
        remotes.flatten().take(REMOTES_MAX).any(|remote| remote.path().join(name).is_file())
    }

    fn is_packed(&self, name: &str) -> bool {
        let refs = small_text(&self.common_dir.join("packed-refs")).unwrap_or_default();
        refs.lines().filter_map(|line| line.split_once(" refs/")).any(|(_, found)| {
            let of_remote = found.strip_prefix("remotes/").and_then(|found| found.split_once('/'));
            let branch = found.strip_prefix("heads/").or(of_remote.map(|(_, branch)| branch));
            branch == Some(name)
        })
    }

    /// Tells whether it was merged or left in the main work tree.
    fn is_logged(&self, name: &str) -> bool {
        let log = small_text(&self.common_dir.join("logs/HEAD")).unwrap_or_default();
        let events = log.lines().filter_map(|line| line.split_once('\t')).map(|(_, event)| event);
        // The subject of a commit may hold any word.
        let mut events = events.filter_map(|event| {
            let (head, rest) = event.split_once(' ')?;
            matches!(head, "merge" | "checkout:").then_some(rest)
        });
        events.any(|event| event.split([' ', ':']).any(|word| word == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_remember_work_trees_and_branches() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join("shop/.git");
        let write = |below: &str, text: &str| {
            let path = git.join(below);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let gone = folder.path().join("login");
        write("worktrees/login/gitdir", &format!("{}/.git\n", gone.display()));
        write("refs/heads/task/a", "1\n");
        write("refs/remotes/upstream/task/b", "1\n");
        write("packed-refs", "# pack-refs\n1 refs/heads/task/c\n1 refs/remotes/origin/task/d\n");
        write(
            "logs/HEAD",
            "1 2 Ana <a@b> 1 +0000\tmerge task/e: Fast-forward\n1 2 Ana <a@b> 1 +0000\tcheckout: moving from main to task/f\n1 2 Ana <a@b> 1 +0000\tcommit: write task/g\n",
        );
        let traces = RepositoryTraces::of_common_dir(&git);
        assert!(traces.has_work_tree(&gone) && traces.has_work_tree(&gone.join("src")));
        assert!(!traces.has_work_tree(&folder.path().join("login-two")));
        for name in ["task/a", "task/b", "task/c", "task/d", "task/e", "task/f"] {
            assert!(traces.has_branch(name), "{name}");
        }
        for name in ["", "task", "../config", "/etc/passwd", "task/g", "a"] {
            assert!(!traces.has_branch(name), "{name}");
        }
    }
}
