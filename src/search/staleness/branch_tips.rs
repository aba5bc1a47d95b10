//! The ends of branches: the checked-out commit, the main line, and what a name leads to. What the main line has counts as merged also
//! on a branch that left it earlier. Not here: which commits these lead to.

use std::collections::{BTreeMap, BTreeSet};

use super::git_questions::{GitError, GitQuestions};

/// The usual names of the main line, where the remote does not say.
const MAIN_LINES: [&str; 3] = ["main", "master", "trunk"];

const LOCAL: &str = "refs/heads/";
const REMOTE: &str = "refs/remotes/";

/// The ends of all branches.
#[derive(Debug, Default)]
pub(super) struct BranchTips {
    /// The names of the main line.
    mainline: BTreeSet<String>,
    /// The commits of each name, here and at remotes.
    by_name: BTreeMap<String, BTreeSet<String>>,
}

impl BranchTips {
    pub(super) fn ask(git: &GitQuestions) -> Result<Self, GitError> {
        let format = "--format=%(refname) %(objectname) %(symref)";
        let answer = git.ask(&["for-each-ref", format, "refs/heads", "refs/remotes"])?;
        Ok(Self::read(&String::from_utf8_lossy(&answer)))
    }

    fn read(answer: &str) -> Self {
        let mut tips = Self::default();
        for line in answer.lines() {
            let mut parts = line.split(' ');
            let (Some(reference), Some(commit)) = (parts.next(), parts.next()) else { continue };
            let leads_to = parts.next().and_then(branch_name);
            match (branch_name(reference), leads_to) {
                (Some("HEAD"), Some(name)) => drop(tips.mainline.insert(name.to_owned())),
                (Some(name), _) => {
                    let commits = tips.by_name.entry(name.to_owned()).or_default();
                    commits.insert(commit.to_owned());
                }
                (None, _) => {}
            }
        }
        if tips.mainline.is_empty() {
            tips.mainline.extend(MAIN_LINES.map(str::to_owned));
        }
        tips
    }

    /// Tells whether a branch is the main line.
    pub(super) fn is_mainline(&self, branch: &str) -> bool {
        self.mainline.contains(branch)
    }

    /// The checked-out commit, and those of the main line.
    pub(super) fn merged_ends(&self) -> Vec<String> {
        let mainline = self.mainline.iter().filter_map(|name| self.by_name.get(name));
        let ends: BTreeSet<&String> = mainline.flatten().collect();
        std::iter::once("HEAD".to_owned()).chain(ends.into_iter().cloned()).collect()
    }

    /// The commits that a name leads to.
    pub(super) fn of_branch(&self, branch: &str) -> impl Iterator<Item = &String> {
        self.by_name.get(branch).into_iter().flatten()
    }
}

/// The name of a branch, wherever it is.
fn branch_name(reference: &str) -> Option<&str> {
    let remote = || reference.strip_prefix(REMOTE)?.split_once('/').map(|(_, name)| name);
    reference.strip_prefix(LOCAL).or_else(remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STALE-11
    #[test]
    fn the_remote_names_the_main_line() {
        let answer = "refs/heads/develop 11 \nrefs/heads/feat/x 22 \nrefs/remotes/origin/HEAD 33 refs/remotes/origin/develop\n\
            refs/remotes/origin/develop 33 \nrefs/remotes/origin/feat/x 22 \n";
        let tips = BranchTips::read(answer);
        assert_eq!(tips.merged_ends(), ["HEAD", "11", "33"]);
        assert!(tips.is_mainline("develop") && !tips.is_mainline("main"));
        assert_eq!(tips.of_branch("feat/x").collect::<Vec<_>>(), ["22"]);
        assert!(BranchTips::read("refs/heads/main 11 \n").is_mainline("main"));
    }
}
