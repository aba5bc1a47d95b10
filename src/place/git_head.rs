//! What is checked out: the branch and the commit that git's `HEAD` names. Not here: which directory has it (`git_repository`).

use std::path::Path;

use crate::small_file::small_text;

/// What is checked out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GitHead {
    /// The branch, also while it is rebased.
    pub(crate) branch: Option<String>,
    /// The commit.
    pub(crate) commit: Option<String>,
}

/// The name that stands in `HEAD` where branches are in reftables.
const IN_REFTABLE: &str = "refs/heads/.invalid";

/// Reads `HEAD`. `None`: it names neither a ref nor a commit, so git would say that this is no repository.
pub(crate) fn read_head(git_dir: &Path, common_dir: &Path) -> Option<GitHead> {
    let file = git_dir.join("HEAD");
    let by_link = || {
        let target = std::fs::read_link(&file).ok()?;
        target.to_str().filter(|target| target.starts_with("refs/")).map(str::to_owned)
    };
    let text = match small_text(&file) {
        Some(text) => text,
        // Very old repositories have a symbolic link, which leads nowhere before the first commit.
        None => format!("ref: {}", by_link()?),
    };
    match text.trim().strip_prefix("ref:").map(str::trim) {
        Some(reference) if reference.starts_with("refs/") => {
            Some(reference_head(reference, common_dir))
        }
        Some(_) => None,
        None => {
            let commit = commit_id(&text)?;
            let linked =
                by_link().and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
            let branch = linked.or_else(|| rebased(git_dir));
            Some(GitHead { branch, commit: Some(commit) })
        }
    }
}

fn reference_head(reference: &str, common_dir: &Path) -> GitHead {
    let is_real = reference != IN_REFTABLE;
    let branch = reference.strip_prefix("refs/heads/").filter(|_| is_real).map(str::to_owned);
    let loose = small_text(&common_dir.join(reference)).and_then(|text| commit_id(&text));
    let packed = || {
        let packed = small_text(&common_dir.join("packed-refs"))?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(reference))?;
        commit_id(line.split(' ').next()?)
    };
    GitHead { branch, commit: loose.or_else(packed) }
}

/// Returns the branch that a rebase works on. `HEAD` names none then.
fn rebased(git_dir: &Path) -> Option<String> {
    let names = ["rebase-merge/head-name", "rebase-apply/head-name"];
    let name = names.iter().find_map(|name| small_text(&git_dir.join(name)))?;
    name.trim().strip_prefix("refs/heads/").map(str::to_owned)
}

fn commit_id(text: &str) -> Option<String> {
    let id = text.trim();
    let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}
