//! Work trees that were removed, as agents do after each task: by the customs of the tools that make them, the repository that
//! they belonged to. Not here: folders that are there (`locate`).

use std::path::{Component, Path, PathBuf};

use event::RepoKey;

use crate::git_repository::GitAt;
use crate::machine::Machine;
use crate::place::PlaceSource;
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

/// Folders that hold work trees wherever they stand, as `~/worktrees/shop/feat` and `/var/tmp/vibe-kanban/worktrees/1a4b-feat/shop`.
const HOLDERS: &[&str] =
    &["worktrees", ".worktrees", "worktree", "git-worktrees", "trees", ".trees"];

/// Endings of a folder beside the repository that holds its work trees: `shop.worktrees` (VS Code), `shop-worktrees` and their like.
const HOLDER_ENDINGS: &[&str] =
    &[".worktrees", "-worktrees", "_worktrees", "__worktrees", ".wt", "-wt", ".trees", "-trees"];

/// Characters between the name of a repository and that of a work tree beside it.
const SEPARATORS: &[char] = &['-', '.', '_', '@', '+'];

/// What a removed directory belonged to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GoneTree {
    /// A repository that is there, by the custom of a tool.
    Custom(PathBuf),
    /// A repository that is there and whose name the directory's begins with. Another repository may have such a name too.
    NamePrefix(PathBuf),
    /// A repository that only the store knows, by the custom of a tool.
    Stored(RepoKey),
    /// The same, by the beginning of the directory's name.
    StoredPrefix(RepoKey),
}

impl GoneTree {
    /// Returns how the repository of a removed directory is known.
    pub(crate) fn source(&self, removed: PathBuf) -> PlaceSource {
        match self {
            Self::Custom(_) | Self::Stored(_) => PlaceSource::RemovedTree(removed),
            Self::NamePrefix(_) | Self::StoredPrefix(_) => PlaceSource::RemovedNamesake(removed),
        }
    }
}

/// Names the repository of a directory by the folder in which a tool made it, as `shop` for `~/.codex/worktrees/1a4b/shop`; `None` where
/// that says nothing.
#[must_use]
pub fn custom_tree_name(directory: &Path, machine: &Machine) -> Option<String> {
    tool_folder(directory, machine).map(|(_, _, name)| name).or_else(|| {
        let (_, below) = below_holder(directory)?;
        below.into_iter().next()
    })
}

/// Finds the repository of a removed directory. `above` is its nearest parent that exists.
pub(crate) fn gone_tree(
    gone: &Path,
    above: &Path,
    machine: &Machine,
    stored: &dyn StoredPlaces,
) -> Option<GoneTree> {
    tool_tree(gone, machine, stored)
        .or_else(|| {
            let first = gone.strip_prefix(above).ok()?.components().next()?;
            let first = first.as_os_str().to_string_lossy();
            let custom = repository_of_holder(above, &first).or_else(|| bare_repository_in(above));
            let custom = custom.map(GoneTree::Custom);
            custom.or_else(|| repository_beside(above, &first).map(GoneTree::NamePrefix))
        })
        .or_else(|| held_tree(gone, stored))
}

/// Splits `~/.codex/worktrees/1a4b/shop` into the tool's folder, the place of the name, and the name.
fn tool_folder(gone: &Path, machine: &Machine) -> Option<(PathBuf, NamePart, String)> {
    let home = machine.home.as_ref()?;
    let real = home.canonicalize().unwrap_or_else(|_| home.clone());
    TOOL_FOLDERS.iter().find_map(|(folder, part)| {
        let below =
            [home, &real].into_iter().find_map(|home| gone.strip_prefix(home.join(folder)).ok())?;
        let mut parts = below.components().map(|part| part.as_os_str().to_string_lossy());
        let (first, second) = (parts.next()?, parts.next()?);
        let name = match part {
            NamePart::First => first,
            NamePart::Second => second,
        };
        Some((real.join(folder), *part, name.into_owned()))
    })
}

/// `~/.codex/worktrees/1a4b/shop`: by another work tree of the same name there, or by the store.
fn tool_tree(gone: &Path, machine: &Machine, stored: &dyn StoredPlaces) -> Option<GoneTree> {
    let (folder, part, name) = tool_folder(gone, machine)?;
    let others = match part {
        NamePart::First => entries(&folder.join(&name)),
        NamePart::Second => entries(&folder).iter().map(|id| id.join(&name)).collect(),
    };
    let other = others.into_iter().find(|path| is_repository(path)).map(GoneTree::Custom);
    other.or_else(|| stored.only_named(&name.to_ascii_lowercase()).map(GoneTree::Stored))
}

/// Splits a path at the last folder that holds work trees, into that folder and the parts below it.
fn below_holder(gone: &Path) -> Option<(PathBuf, Vec<String>)> {
    let parts: Vec<_> = gone.components().collect();
    let is_holder = |part: &Component<'_>| {
        let name = part.as_os_str().to_string_lossy().to_ascii_lowercase();
        HOLDERS.contains(&name.as_str())
    };
    let at = parts.iter().rposition(is_holder)?;
    let below =
        parts.get(at + 1..)?.iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let below: Vec<String> = below.collect();
    (!below.is_empty()).then(|| (parts.iter().take(at + 1).collect(), below))
}

/// `worktrees/shop/feat`, `worktrees/1a4b/shop` and `worktrees/shop-feat`: by a repository beside the folder, another work tree in it, or the store.
fn held_tree(gone: &Path, stored: &dyn StoredPlaces) -> Option<GoneTree> {
    let (holder, below) = below_holder(gone)?;
    let (first, second) = (below.first()?, below.get(1));
    let beside = |name: &str| {
        holder.parent().map(|parent| parent.join(name)).filter(|path| is_repository(path))
    };
    let exact = || std::iter::once(first).chain(second);
    if let Some(found) = exact().find_map(|name| beside(name)) {
        return Some(GoneTree::Custom(found));
    }
    let other = second
        .and_then(|_| entries(&holder.join(first)).into_iter().find(|path| is_repository(path)));
    if let Some(found) = other {
        return Some(GoneTree::Custom(found));
    }
    let mut named: Vec<RepoKey> =
        exact().filter_map(|name| stored.only_named(&name.to_ascii_lowercase())).collect();
    named.dedup();
    match named.as_slice() {
        [only] => return Some(GoneTree::Stored(only.clone())),
        [] => {}
        // Nobody knows which of the two is the repository.
        _ => return None,
    }
    let prefixes = || {
        first
            .rmatch_indices(SEPARATORS)
            .filter_map(|(at, _)| first.get(..at))
            .filter(|name| !name.is_empty())
    };
    let beside = prefixes().find_map(beside).map(GoneTree::NamePrefix);
    beside.or_else(|| {
        let stored = prefixes().find_map(|name| stored.only_named(&name.to_ascii_lowercase()));
        stored.map(GoneTree::StoredPrefix)
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
