//! Whether the work of commits that are in no history is in it in another form: squashed, rebased, or picked. A commit has landed
//! where the history has a content that it made, or at least half of the lines that it or its branch added. Not here: which commits
//! are asked about.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::git_questions::{GitError, GitQuestions};

/// Most commits of the history that are compared: more than a branch waits for.
const HISTORY_MAX: &str = "--max-count=2000";

/// Most commits in no history that are looked at, and most ends of branches.
const OUTSIDE_MAX: &str = "--max-count=5000";
const ENDS_MAX: usize = 16;

/// Letters and digits of a line that does not stand in most files by chance.
const LINE_CHARS_MIN: usize = 3;

/// The content of an empty file, in both of git's hashes.
const EMPTY_FILES: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/// How a patch is printed: contents by their ids, and lines, as they are.
const PATCH: [&str; 8] = [
    "--raw",
    "--no-abbrev",
    "--patch",
    "--unified=0",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
];

/// What commits changed.
#[derive(Debug, Default)]
struct WorkPrint {
    /// The ids of the contents that they made.
    blobs: HashSet<String>,
    added: HashSet<u64>,
    removed: HashSet<u64>,
    paths: BTreeSet<String>,
}

impl WorkPrint {
    /// Tells whether a history that changed `history` has this work. What says nothing cannot be missed.
    fn is_in(&self, history: &Self) -> bool {
        let has_half = |own: &HashSet<u64>, all: &HashSet<u64>| {
            own.iter().filter(|line| all.contains(line)).count() * 2 >= own.len()
        };
        if self.blobs.iter().any(|blob| history.blobs.contains(blob)) {
            return true;
        }
        match (self.added.is_empty(), self.removed.is_empty()) {
            (false, _) => has_half(&self.added, &history.added),
            (true, false) => has_half(&self.removed, &history.removed),
            (true, true) => self.blobs.is_empty(),
        }
    }
}

/// Finds the commits whose work is in the history of `tips`, of those that are not in it themselves.
pub(super) fn landed_commits(
    git: &GitQuestions,
    commits: &BTreeSet<String>,
    tips: &[String],
) -> Result<BTreeSet<String>, GitError> {
    if commits.is_empty() {
        return Ok(BTreeSet::new());
    }
    let own = own_work(git, commits)?;
    let history = history_work(git, commits, tips, &own)?;
    let is_in = |commit: &&String| own.get(*commit).is_none_or(|work| work.is_in(&history));
    let mut landed: BTreeSet<String> = commits.iter().filter(is_in).cloned().collect();
    let left: BTreeSet<&String> = commits.difference(&landed).collect();
    if !left.is_empty() {
        let more = landed_with_branch(git, &left, tips, &history)?;
        landed.extend(more);
    }
    Ok(landed)
}

/// Finds the commits that landed as part of a branch. A squash has only the last state of it.
fn landed_with_branch(
    git: &GitQuestions,
    commits: &BTreeSet<&String>,
    tips: &[String],
    history: &WorkPrint,
) -> Result<BTreeSet<String>, GitError> {
    let children = commits_outside(git, commits, tips)?;
    let mut judged: BTreeMap<String, bool> = BTreeMap::new();
    let mut landed = BTreeSet::new();
    for commit in commits {
        for end in ends_above(commit, &children) {
            let is_landed = match judged.get(&end) {
                Some(known) => *known,
                None if judged.len() >= ENDS_MAX => break,
                None => {
                    let whole = branch_work(git, &end, tips)?;
                    *judged.entry(end).or_insert(whole.is_in(history))
                }
            };
            if is_landed {
                landed.insert((*commit).clone());
                break;
            }
        }
    }
    Ok(landed)
}

/// The children of all commits that no tip leads to, as far as branches, reflogs and memories still name them.
fn commits_outside(
    git: &GitQuestions,
    commits: &BTreeSet<&String>,
    tips: &[String],
) -> Result<BTreeMap<String, Vec<String>>, GitError> {
    let question = ["rev-list", "--parents", OUTSIDE_MAX, "--all", "--reflog"];
    let question = question.into_iter().chain(commits.iter().map(|commit| commit.as_str()));
    let question = question.chain(["--not"]).chain(tips.iter().map(String::as_str)).chain(["--"]);
    let answer = git.ask(&question.collect::<Vec<_>>())?;
    let mut children: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&answer).lines() {
        let mut ids = line.split(' ');
        let Some(child) = ids.next() else { continue };
        for parent in ids {
            children.entry(parent.to_owned()).or_default().push(child.to_owned());
        }
    }
    Ok(children)
}

/// The last commits of the branches that a commit is part of; itself where it is the last.
fn ends_above(commit: &str, children: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let (mut seen, mut ends) = (BTreeSet::new(), Vec::new());
    let mut waiting = vec![commit.to_owned()];
    while let Some(commit) = waiting.pop() {
        if !seen.insert(commit.clone()) {
            continue;
        }
        match children.get(&commit) {
            Some(above) => waiting.extend(above.iter().cloned()),
            None => ends.push(commit),
        }
    }
    ends
}

/// What each of the commits changed.
fn own_work(
    git: &GitQuestions,
    commits: &BTreeSet<String>,
) -> Result<BTreeMap<String, WorkPrint>, GitError> {
    let question = ["log", "--no-walk", "--format=commit %H", "--no-merges"].into_iter();
    let question = question.chain(PATCH).chain(commits.iter().map(String::as_str)).chain(["--"]);
    let answer = git.ask(&question.collect::<Vec<_>>())?;
    let mut works = BTreeMap::new();
    PatchReader::read(&answer, |commit, work| drop(works.insert(commit.to_owned(), work)));
    Ok(works)
}

/// What a branch changed since it left the history, all of it together.
fn branch_work(git: &GitQuestions, end: &str, tips: &[String]) -> Result<WorkPrint, GitError> {
    let Some(tip) = tips.first() else { return Ok(WorkPrint::default()) };
    let range = format!("{tip}...{end}");
    let question = ["diff"].into_iter().chain(PATCH).chain([range.as_str(), "--"]);
    let answer = git.ask(&question.collect::<Vec<_>>())?;
    let mut whole = WorkPrint::default();
    PatchReader::read(&answer, |_, work| whole = work);
    Ok(whole)
}

/// What the history changed since the commits left it.
fn history_work(
    git: &GitQuestions,
    commits: &BTreeSet<String>,
    tips: &[String],
    own: &BTreeMap<String, WorkPrint>,
) -> Result<WorkPrint, GitError> {
    let base = common_base(git, tips.iter().chain(commits).map(String::as_str))?;
    let without = base.map(|base| format!("^{base}"));
    let question = ["log", "--format=", "--no-merges", HISTORY_MAX].into_iter().chain(PATCH);
    let question = question.chain(tips.iter().map(String::as_str)).chain(without.as_deref());
    let question: Vec<&str> = question.chain(["--"]).collect();
    let answer = match git.ask(&question) {
        // It printed too much: what changed in other files can be left out.
        Err(GitError::Failed) => {
            let paths: BTreeSet<&str> =
                own.values().flat_map(|work| work.paths.iter().map(String::as_str)).collect();
            let limited = question.into_iter().chain(paths.into_iter().take(PATHS_MAX));
            git.ask(&limited.collect::<Vec<_>>())?
        }
        answer => answer?,
    };
    let mut history = WorkPrint::default();
    PatchReader::read(&answer, |_, work| history = work);
    Ok(history)
}

/// Most paths of one question.
const PATHS_MAX: usize = 256;

/// Finds a commit that is in the history of all of these; `None` where there is none.
pub(super) fn common_base<'c>(
    git: &GitQuestions,
    commits: impl Iterator<Item = &'c str>,
) -> Result<Option<String>, GitError> {
    let question: Vec<&str> = ["merge-base", "--octopus"].into_iter().chain(commits).collect();
    match git.ask(&question) {
        Ok(answer) => Ok(String::from_utf8_lossy(&answer).lines().next().map(str::to_owned)),
        Err(GitError::Failed) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Reads patches, and gives away the work of each commit. Without lines that name a commit all are one.
struct PatchReader<F: FnMut(&str, WorkPrint)> {
    commit: String,
    work: WorkPrint,
    /// The lines of the current hunk that are still to come: removed and added ones.
    left: (usize, usize),
    give: F,
}

impl<F: FnMut(&str, WorkPrint)> PatchReader<F> {
    fn read(answer: &[u8], give: F) {
        let (commit, work) = (String::new(), WorkPrint::default());
        let mut reader = Self { commit, work, left: (0, 0), give };
        answer.split(|byte| *byte == b'\n').for_each(|line| reader.line(line));
        reader.end();
    }

    fn end(&mut self) {
        (self.give)(&self.commit, std::mem::take(&mut self.work));
    }

    fn line(&mut self, line: &[u8]) {
        match (line.split_first(), self.left) {
            (Some((b'-', text)), (removed, _)) if removed > 0 => {
                self.left.0 -= 1;
                self.work.removed.extend(line_print(text));
            }
            (Some((b'+', text)), (_, added)) if added > 0 => {
                self.left.1 -= 1;
                self.work.added.extend(line_print(text));
            }
            _ => self.head(&String::from_utf8_lossy(line)),
        }
    }

    fn head(&mut self, line: &str) {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            self.left = hunk_lengths(hunk).unwrap_or_default();
        } else if let Some(commit) = line.strip_prefix("commit ") {
            // The first line of all names the first commit.
            if !self.commit.is_empty() {
                self.end();
            }
            commit.clone_into(&mut self.commit);
        } else if let Some(raw) = line.strip_prefix(':') {
            self.raw(raw);
        }
    }

    /// Reads `100644 100644 OLD NEW M\tpath`.
    fn raw(&mut self, raw: &str) {
        let Some((about, path)) = raw.split_once('\t') else { return };
        self.work.paths.insert(path.to_owned());
        let made = about.split(' ').nth(3).unwrap_or_default();
        let is_content = made.bytes().any(|byte| byte != b'0') && !EMPTY_FILES.contains(&made);
        if is_content {
            self.work.blobs.insert(made.to_owned());
        }
    }
}

/// Reads the numbers of removed and of added lines in `12,3 +14 @@`.
fn hunk_lengths(hunk: &str) -> Option<(usize, usize)> {
    let (removed, rest) = hunk.split_once(" +")?;
    let (added, _) = rest.split_once(" @@")?;
    let length = |range: &str| range.split_once(',').map_or(Ok(1), |(_, length)| length.parse());
    Some((length(removed).ok()?, length(added).ok()?))
}

/// A number for a line, whatever its indentation; `None` for one that says too little.
fn line_print(line: &[u8]) -> Option<u64> {
    let text = line.trim_ascii();
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    if text.iter().filter(is_letter).count() < LINE_CHARS_MIN {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STALE-10
    #[test]
    fn a_patch_is_read_line_by_line() {
        let text = b"commit aa\n\n:100644 100644 1111 2222 M\tsrc/a.rs\n:000000 100644 0000 3333 A\tb\n\n\
            diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1,2 @@ fn x\n-old line\n+new line\n\
            +++ b/odd\n@@ -5,0 +7 @@\n+commit zz\ncommit bb\n";
        let mut works = Vec::new();
        PatchReader::read(text, |commit, work| works.push((commit.to_owned(), work)));
        assert_eq!(works.len(), 2);
        let (commit, work) = &works[0];
        assert_eq!((commit.as_str(), works[1].0.as_str()), ("aa", "bb"));
        assert_eq!((work.added.len(), work.removed.len(), work.blobs.len()), (3, 1, 2));
        assert!(work.added.contains(&line_print(b"  new line").unwrap()));
    }
}
