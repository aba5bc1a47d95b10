//! Work trees that were removed, as agents do after each task: by the customs of the tools that make them, the repository that
//! they belonged to. Not here: folders that are there (`locate`).

use std::path::{Path, PathBuf};

use event::RepoKey;

use crate::git_repository::GitAt;
use crate::machine::Machine;
use crate::small_file::name_of;
use crate::stored_places::StoredPlaces;

/// Most folders of a tool that are looked through.
const FOLDERS_MAX: usize = 200;

/// Which part below a tool's folder is the name of the repository.
#[derive(Debug, Clone, Copy)]
enum NamePart {
    /// `FOLDER/NAME/TREE`.
    First,
    /// `FOLDER/ID/NAME`.
    Second,
}

/// Folders below the home directory in which tools keep work trees of all repositories.
const TOOL_FOLDERS: &[(&str, NamePart)] = &[
    // Codex: ~/.codex/worktrees/1a4b/shop.
    (".codex/worktrees", NamePart::Second),
    // Cursor: ~/.cursor/worktrees/shop/a1b2c.
    (".cursor/worktrees", NamePart::First),
    // Claude's desktop program: ~/.claude-worktrees/shop/keen-otter.
    (".claude-worktrees", NamePart::First),
    (".claude/worktrees", NamePart::First),
    // Conductor: ~/conductor/shop/lisbon, and ~/conductor/workspaces/shop/lisbon.
    ("conductor/workspaces", NamePart::First),
    ("conductor", NamePart::First),
    // Superset, Windsurf and OpenCode keep the same order.
    (".superset/worktrees", NamePart::First),
    (".windsurf/worktrees", NamePart::First),
    (".local/share/opencode/worktree", NamePart::First),
];

/// Endings of a folder beside the repository that holds its work trees: `shop.worktrees` (VS Code), `shop-worktrees` and their like.
const HOLDER_ENDINGS: &[&str] =
    &[".worktrees", "-worktrees", "_worktrees", "__worktrees", ".wt", "-wt", ".trees", "-trees"];

/// Characters between the name of a repository and that of a work tree beside it.
const SEPARATORS: &[char] = &['-', '.', '_', '@', '+'];

/// What a removed directory belonged to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GoneTree {
    /// A repository that is there.
    Beside(PathBuf),
    /// A repository that only the store knows.
    Stored(RepoKey),
}

/// Finds the repository of a removed directory. `above` is its nearest parent that exists.
pub(crate) fn gone_tree(
    gone: &Path,
    above: &Path,
    machine: &Machine,
    stored: &dyn StoredPlaces,
) -> Option<GoneTree> {
    tool_tree(gone, machine, stored).or_else(|| {
        let first = gone.strip_prefix(above).ok()?.components().next()?;
        let first = first.as_os_str().to_string_lossy();
        let found = repository_of_holder(above, &first)
            .or_else(|| repository_beside(above, &first))
            .or_else(|| bare_repository_in(above));
        found.map(GoneTree::Beside)
    })
}

/// `~/.codex/worktrees/1a4b/shop`: by another work tree of the same name there, or by the store.
fn tool_tree(gone: &Path, machine: &Machine, stored: &dyn StoredPlaces) -> Option<GoneTree> {
    let home = machine.home.as_ref()?;
    TOOL_FOLDERS.iter().find_map(|(folder, part)| {
        let folder = home.join(folder);
        let below = gone.strip_prefix(&folder).ok()?;
        let mut parts = below.components().map(|part| part.as_os_str().to_string_lossy());
        let (first, second) = (parts.next()?, parts.next()?);
        let name = match part {
            NamePart::First => first,
            NamePart::Second => second,
        };
        let others = match part {
            NamePart::First => entries(&folder.join(&*name)),
            NamePart::Second => entries(&folder).iter().map(|id| id.join(&*name)).collect(),
        };
        let other = others.into_iter().find(|path| is_repository(path)).map(GoneTree::Beside);
        other.or_else(|| stored.only_named(&name.to_ascii_lowercase()).map(GoneTree::Stored))
    })
}

/// `shop.worktrees/feature` beside `shop`, whether the holder is still there or not.
fn repository_of_holder(above: &Path, first: &str) -> Option<PathBuf> {
    let without = |name: &str| {
        let ends = HOLDER_ENDINGS.iter().filter_map(|ending| name.strip_suffix(ending));
        ends.filter(|rest| !rest.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let here = without(first).into_iter().map(|name| above.join(name));
    let parent = above.parent();
    let holder = without(&name_of(above));
    let outside = holder.into_iter().filter_map(|name| parent.map(|parent| parent.join(name)));
    here.chain(outside).find(|path| is_repository(path))
}

/// `shop-feature` beside `shop`; the longest name that is a repository.
fn repository_beside(above: &Path, first: &str) -> Option<PathBuf> {
    let cuts = first.rmatch_indices(SEPARATORS).filter_map(|(at, _)| first.get(..at));
    let mut names = cuts.filter(|name| !name.is_empty()).map(|name| above.join(name));
    names.find(|path| is_repository(path))
}

/// `shop/feature` beside the bare repository `shop/.bare` or `shop/shop.git`.
fn bare_repository_in(above: &Path) -> Option<PathBuf> {
    let own = format!("{}.git", name_of(above));
    [".bare", own.as_str()].iter().map(|name| above.join(name)).find(|path| is_repository(path))
}

fn is_repository(path: &Path) -> bool {
    matches!(GitAt::look(path), GitAt::Repository(_))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(FOLDERS_MAX).flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
