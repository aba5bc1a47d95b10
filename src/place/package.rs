//! The package of a repository that somebody stands in: the nearest folder that a workspace file names, else the nearest with a
//! manifest of its own. Not here: what each kind of workspace file says (`workspace_file`).

use std::collections::HashMap;
use std::path::Path;

use event::FolderPath;

use crate::cargo_dependencies::PathDependencies;
use crate::folder_entries::FolderEntries;
use crate::place::Place;
use crate::workspace_file::{ManifestNeed, Workspace, workspaces_at};

/// Folders below the top that are looked at: packages lie higher.
const DEPTH_MAX: usize = 12;

/// Most files whose package is looked for.
const FILES_MAX: usize = 16;

/// Folders in which no workspace has packages.
const CLOSED: &[&str] = &["node_modules", ".git"];

/// Folders with what programs made or others wrote. A manifest in them is no package of this repository, unless a workspace names it.
const FOREIGN: &[&str] = &[
    "bower_components",
    "vendor",
    "third_party",
    "site-packages",
    ".venv",
    "venv",
    "target",
    "dist",
    "build",
    "out",
    "Pods",
];

impl Place {
    /// Returns the package that somebody stands in; `None` at the top, where no file is read, and where there is none.
    #[must_use]
    pub fn package(&self) -> Option<FolderPath> {
        PackageSearch::new(&self.top).package_of(&self.folder)
    }

    /// Returns the package in which all of these files lie, as paths from the top on.
    #[must_use]
    pub fn package_of_files(&self, files: &[String]) -> Option<FolderPath> {
        let mut search = PackageSearch::new(&self.top);
        let (first, others) = files.split_first()?;
        let package = search.package_of(first)?;
        let is_in = |file: &String| search.package_of(file).as_ref() == Some(&package);
        (files.len() <= FILES_MAX && others.iter().all(is_in)).then_some(package)
    }
}

/// The search for packages below one top, which reads each folder once.
struct PackageSearch<'a> {
    top: &'a Path,
    folders: HashMap<String, LookedFolder>,
}

/// What a folder has.
struct LookedFolder {
    entries: FolderEntries,
    workspaces: Vec<Workspace>,
}

impl<'a> PackageSearch<'a> {
    fn new(top: &'a Path) -> Self {
        Self { top, folders: HashMap::new() }
    }

    /// Finds the package of a folder or file, given by its path from the top on.
    fn package_of(&mut self, path: &str) -> Option<FolderPath> {
        let parts = path.split('/').take_while(|part| !CLOSED.contains(part)).take(DEPTH_MAX);
        let mut above = vec![String::new()];
        for part in parts {
            let parent = above.last().map(String::as_str).unwrap_or_default();
            let folder =
                if parent.is_empty() { part.to_owned() } else { format!("{parent}/{part}") };
            FolderPath::parse(&folder)?;
            above.push(folder);
        }
        if above.len() < 2 {
            return None;
        }
        above.iter().for_each(|folder| self.look_at(folder));
        let named = (1..above.len()).rev().find(|at| self.is_named(&above, *at));
        let is_foreign =
            |folder: &String| folder.rsplit('/').next().is_some_and(|part| FOREIGN.contains(&part));
        let own = above.iter().position(is_foreign).unwrap_or(above.len());
        let found = named.or_else(|| (1..own).rev().find(|at| self.is_alone(&above, *at)))?;
        FolderPath::parse(above.get(found)?)
    }

    fn look_at(&mut self, folder: &str) {
        if self.folders.contains_key(folder) {
            return;
        }
        let path = self.top.join(folder);
        let entries = FolderEntries::read(&path);
        let workspaces = workspaces_at(&path, &entries);
        self.folders.insert(folder.to_owned(), LookedFolder { entries, workspaces });
    }

    /// Tells whether a workspace above a folder names it.
    fn is_named(&self, above: &[String], at: usize) -> bool {
        let Some(folder) = above.get(at) else { return false };
        self.workspaces_above(above, at).any(|(below, workspace)| {
            let has_manifest = || workspace.manifests.iter().any(|name| self.has(folder, name));
            let is_there = || match workspace.need {
                ManifestNeed::Required => has_manifest(),
                ManifestNeed::Optional => self.top.join(folder).is_dir(),
            };
            workspace.names(below) && is_there()
                || workspace.is_of_cargo() && self.is_path_dependency(above, at, below, workspace)
        })
    }

    /// Tells whether a folder is a crate that a member of a workspace of Cargo depends on. Manifests are read for no other folder.
    fn is_path_dependency(
        &self,
        above: &[String],
        at: usize,
        below: &str,
        workspace: &Workspace,
    ) -> bool {
        let looked = above.get(at).and_then(|folder| Some((folder, self.folders.get(folder)?)));
        let Some((folder, looked)) = looked.filter(|(folder, _)| self.has(folder, "Cargo.toml"))
        else {
            return false;
        };
        let is_root = looked.workspaces.iter().any(Workspace::is_of_cargo);
        let root = folder.strip_suffix(below).unwrap_or_default();
        !is_root && PathDependencies::new(&self.top.join(root), workspace).lead_to(below)
    }

    /// Tells whether a folder has a manifest of which no workspace above it decides.
    fn is_alone(&self, above: &[String], at: usize) -> bool {
        let (Some(folder), Some(looked)) =
            (above.get(at), above.get(at).and_then(|at| self.folders.get(at)))
        else {
            return false;
        };
        let is_decided = |name: &str| {
            let has = |workspaces: &[Workspace]| {
                workspaces.iter().any(|one| one.manifests.contains(&name))
            };
            let mut deciding =
                self.workspaces_above(above, at).filter(|(_, one)| one.manifests.contains(&name));
            let is_left_out = |(below, one): (&str, &Workspace)| one.leaves_out(below);
            // A workspace of its own may lie in another one.
            if has(&looked.workspaces) {
                deciding.any(is_left_out)
            } else {
                deciding.next().is_some()
            }
        };
        looked.entries.manifests(&self.top.join(folder)).iter().any(|name| !is_decided(name))
    }

    /// The workspaces above a folder, each with the path of the folder below it.
    fn workspaces_above<'s>(
        &'s self,
        above: &'s [String],
        at: usize,
    ) -> impl Iterator<Item = (&'s str, &'s Workspace)> {
        let folder = above.get(at).map(String::as_str).unwrap_or_default();
        above.iter().take(at).flat_map(move |root| {
            let below =
                folder.strip_prefix(root.as_str()).unwrap_or(folder).trim_start_matches('/');
            let workspaces = self.folders.get(root).map(|looked| &looked.workspaces);
            workspaces.into_iter().flatten().map(move |workspace| (below, workspace))
        })
    }

    fn has(&self, folder: &str, name: &str) -> bool {
        let entries = self.folders.get(folder).map(|looked| &looked.entries);
        entries.is_some_and(|entries| entries.has(&self.top.join(folder), name))
    }
}
