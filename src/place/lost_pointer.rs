//! A work tree whose `.git` names a directory that is not there: the main repository was moved, removed, or is not mounted in this
//! container. The text of the pointer still says which repository it was. Not here: pointers that lead somewhere (`git_repository`).

use std::path::{Path, PathBuf};

use crate::foreign_path::{lexical, on_this_system};
use crate::git_repository::GitRepository;
use crate::setting_text::settings;
use crate::small_file::small_text;

/// What the text of a pointer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LostTarget {
    /// A repository that is there, found by another path, or without the files of this work tree.
    Repository(GitRepository),
    /// A submodule, by the URL that its parent repository gives it.
    Submodule(String),
    /// The common directory of a repository that cannot be seen from here.
    Text(PathBuf),
}

/// Reads the target of a pointer in a work tree.
pub(crate) fn lost_target(top: &Path, target: &Path) -> LostTarget {
    let target = lexical(target);
    // A pointer that was written by another system on the same disk.
    let here = on_this_system(&target);
    if let Some(found) = GitRepository::open(top, &here) {
        return LostTarget::Repository(found);
    }
    let (main, below) = split(&here);
    match below {
        Below::WorkTree(name) => {
            let main_dirs = std::iter::once(main.clone()).chain(mounted_beside(top, &main));
            let found = main_dirs.into_iter().find_map(|main| {
                let own = main.join("worktrees").join(&name);
                let with_tree = GitRepository::open(top, &own);
                with_tree.or_else(|| pruned(top, &main))
            });
            found.map_or(LostTarget::Text(main), LostTarget::Repository)
        }
        Below::Module(name) => {
            let url = url_of_module(top, &name);
            url.map_or(LostTarget::Text(here), LostTarget::Submodule)
        }
        Below::Nothing => LostTarget::Text(here),
    }
}

/// The part of a path below the main repository's directory of git files.
enum Below {
    WorkTree(String),
    Module(String),
    Nothing,
}

fn split(git_dir: &Path) -> (PathBuf, Below) {
    let text = git_dir.to_string_lossy().replace('\\', "/");
    let cut = |marker: &str| {
        let (main, name) = text.rsplit_once(marker)?;
        Some((PathBuf::from(main), name.to_owned()))
    };
    if let Some((main, name)) = cut("/worktrees/").filter(|(_, name)| !name.contains('/')) {
        return (main, Below::WorkTree(name));
    }
    match text.split_once("/.git/modules/") {
        Some((main, name)) => (PathBuf::from(main).join(".git"), Below::Module(name.to_owned())),
        None => (git_dir.to_owned(), Below::Nothing),
    }
}

/// The repository of a work tree whose own files are gone: nobody knows its branch any more.
fn pruned(top: &Path, main: &Path) -> Option<GitRepository> {
    let found = GitRepository::open(top, main)?;
    Some(GitRepository { head: <_>::default(), ..found })
}

/// Where a container has the main repository beside the work tree, under its own name.
fn mounted_beside(top: &Path, main: &Path) -> Option<PathBuf> {
    let folder = if main.ends_with(".git") { main.parent()? } else { main };
    let moved = top.parent()?.join(folder.file_name()?);
    Some(if main.ends_with(".git") { moved.join(".git") } else { moved })
}

/// Finds the URL of a submodule in the `.gitmodules` of a repository above it.
fn url_of_module(top: &Path, name: &str) -> Option<String> {
    top.ancestors().skip(1).find_map(|folder| {
        let all = settings(&small_text(&folder.join(".gitmodules"))?);
        let urls = all.into_iter().filter(|setting| setting.is("submodule", "url"));
        let mut named = urls.filter(|setting| setting.subsection == name);
        named.next().map(|setting| setting.value)
    })
}

/// Resolves a relative URL of a submodule as git does: each `../` takes a part from the parent's URL.
pub(crate) fn resolved(parent: &str, url: &str) -> Option<String> {
    let (mut base, mut rest) = (parent.trim_end_matches('/'), url);
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(below) = rest.strip_prefix("../") {
            // A path right behind the host ends at the colon, as in `git@host:api`.
            let end = base.rfind(['/', ':'])?;
            let keep = if base.get(end..=end) == Some(":") { end + 1 } else { end };
            (base, rest) = (base.get(..keep)?, below);
        } else {
            break;
        }
    }
    let between = if base.ends_with(':') { "" } else { "/" };
    Some(format!("{base}{between}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_url_counts_from_the_parent() {
        for (parent, url, expected) in [
            ("https://h.example/acme/api.git", "../lib.git", "https://h.example/acme/lib.git"),
            ("git@h.example:acme/api", "../../other/lib", "git@h.example:other/lib"),
            ("https://h.example/acme/api/", "./lib", "https://h.example/acme/api/lib"),
        ] {
            assert_eq!(resolved(parent, url).as_deref(), Some(expected));
        }
        assert_eq!(resolved("api", "../lib"), None);
    }
}
