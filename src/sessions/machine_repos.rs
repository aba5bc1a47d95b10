//! The repositories on this machine that past sessions name, and those of the store: by their names, their work trees and their
//! branches a session finds its own whose directory was removed. Not here: which sign counts for a session (`repo_of_session`).

use std::path::{Path, PathBuf};

use event::RepoKey;
use place::{Locator, Machine, NothingStored, RepositoryTraces, Steps, StoredPlaces};

/// Most repositories that are known by their files.
const REPOSITORIES_MAX: usize = 1_000;

/// Most folders beside a removed one that are looked at.
const BESIDE_MAX: usize = 200;

/// Branches that every repository has, which say nothing about one.
const COMMON_BRANCHES: [&str; 6] = ["main", "master", "develop", "dev", "trunk", "HEAD"];

/// A repository on this disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MachineRepo {
    /// Its key.
    pub(super) key: RepoKey,
    /// The name of its main folder, in lower case, after which tools name folders for work trees.
    folder: String,
    traces: RepositoryTraces,
}

/// All repositories that may be meant.
#[derive(Debug, Clone, Default)]
pub(super) struct MachineRepos {
    /// Keys that the store or another session has.
    named: Vec<RepoKey>,
    on_disk: Vec<MachineRepo>,
}

impl MachineRepo {
    /// Looks at a directory that is there.
    fn look(directory: &Path, machine: &Machine) -> Option<Self> {
        let place = Locator::new(machine, &NothingStored, Steps::disabled()).at(directory);
        let common_dir = place.work_tree.as_ref().map(|tree| tree.common_dir.clone())?;
        let folder = folder_of(&common_dir);
        let traces = RepositoryTraces::of_common_dir(&common_dir);
        Some(Self { key: place.own_key?, folder, traces })
    }
}

/// Returns the name of the main folder of a repository: `shop` for `shop/.git`, `shop/.bare` and `shop.git`.
fn folder_of(common_dir: &Path) -> String {
    let name =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    let own = name(common_dir).unwrap_or_default();
    match own.starts_with('.') {
        true => common_dir.parent().and_then(name).unwrap_or_default(),
        false => own.trim_end_matches(".git").to_owned(),
    }
}

impl MachineRepos {
    /// Counts keys as known.
    pub(super) fn add_keys(&mut self, keys: impl IntoIterator<Item = RepoKey>) {
        self.named.extend(keys);
        self.named.sort();
        self.named.dedup();
    }

    /// Counts the repository of a directory as known, if it is there.
    pub(super) fn add_directory(&mut self, directory: &Path, machine: &Machine) {
        if self.on_disk.len() < REPOSITORIES_MAX && directory.is_dir() {
            let found = MachineRepo::look(directory, machine);
            self.on_disk.extend(found.filter(|found| !self.on_disk.contains(found)));
        }
    }

    /// Tells whether a key is that of a repository on this disk, as far as it was looked at.
    pub(super) fn is_on_disk(&self, key: &RepoKey) -> bool {
        self.on_disk.iter().any(|repo| repo.key == *key)
    }

    /// Tells whether a key is that of a remote, or of a repository on this disk.
    pub(super) fn is_settled(&self, key: &RepoKey) -> bool {
        !key.is_of_one_machine() || self.is_on_disk(key)
    }

    /// Returns the repository that still knows a work tree at a directory, also among the folders beside it.
    pub(super) fn with_work_tree(&self, directory: &Path, machine: &Machine) -> Option<RepoKey> {
        let known = self.on_disk.iter().find(|repo| repo.traces.has_work_tree(directory));
        known.map(|repo| repo.key.clone()).or_else(|| {
            let above = directory.ancestors().skip(1).find(|folder| folder.is_dir())?;
            let beside = std::fs::read_dir(above).ok()?.flatten().take(BESIDE_MAX);
            let mut tops =
                beside.map(|entry| entry.path()).filter(|path| path.join(".git").exists());
            tops.find_map(|top| {
                let found = MachineRepo::look(&top, machine)?;
                found.traces.has_work_tree(directory).then_some(found.key)
            })
        })
    }

    /// Returns the only repository of a name. Where several have it, only one may have the branch.
    pub(super) fn only_named(&self, name: &str, branch: Option<&str>) -> Option<RepoKey> {
        let typed = RepoKey::parse(name).ok();
        let by_key = typed.iter().flat_map(|typed| typed.longer(&self.named));
        let mut found: Vec<&RepoKey> = by_key
            .chain(self.on_disk.iter().filter(|repo| repo.is_called(name)).map(|repo| &repo.key))
            .collect();
        found.sort();
        found.dedup();
        if found.len() > 1 {
            let branch = branch.filter(|branch| is_own_branch(branch))?;
            found.retain(|key| self.has_branch(key, branch));
        }
        match found.as_slice() {
            [only] => Some((*only).clone()),
            _ => None,
        }
    }

    /// Tells whether a repository on this disk has or had a branch.
    pub(super) fn has_branch(&self, key: &RepoKey, branch: &str) -> bool {
        self.on_disk.iter().any(|repo| repo.key == *key && repo.traces.has_branch(branch))
    }

    /// Returns the repositories on this disk that have or had a branch.
    pub(super) fn with_branch<'a>(
        &'a self,
        branch: &'a str,
    ) -> impl Iterator<Item = &'a MachineRepo> {
        self.on_disk.iter().filter(move |repo| repo.traces.has_branch(branch))
    }

    /// Returns the names of the main folders of a repository.
    pub(super) fn folders<'a>(&'a self, key: &'a RepoKey) -> impl Iterator<Item = &'a str> {
        let on_disk = self.on_disk.iter().filter(move |repo| repo.key == *key);
        on_disk.map(|repo| repo.folder.as_str())
    }
}

impl MachineRepo {
    fn is_called(&self, name: &str) -> bool {
        self.folder == name || self.key.short_name() == name
    }
}

/// The repositories as a lookup of one session asks for them.
pub(super) struct ReposOnBranch<'a> {
    /// All of them.
    pub(super) repos: &'a MachineRepos,
    /// The branch of the session.
    pub(super) branch: Option<&'a str>,
}

impl StoredPlaces for ReposOnBranch<'_> {
    fn only_named(&self, short_name: &str) -> Option<RepoKey> {
        self.repos.only_named(short_name, self.branch)
    }
}

/// Tells whether a branch is one of few repositories.
pub(super) fn is_own_branch(branch: &str) -> bool {
    !COMMON_BRANCHES.contains(&branch)
}

/// Writes a name with `-` for all signs, as tools make a folder's name of a branch.
pub(super) fn dashed(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Tells whether a folder, [`dashed`], is called after a branch: it has the last part of its name, or is the end of it. One word at the end
/// of a longer name says too little.
pub(super) fn repeats_branch(folder: &str, branch: &str) -> bool {
    let last = dashed(branch.rsplit('/').next().unwrap_or(branch));
    let has = last.len() > 2 && format!("-{folder}-").contains(&format!("-{last}-"));
    has || folder.contains('-') && last.ends_with(&format!("-{folder}"))
}

/// Returns the real path of a directory that may be gone, as far as it is there.
pub(super) fn real_path(directory: &Path) -> PathBuf {
    let real = directory.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    real.and_then(|(above, real)| Some(real.join(directory.strip_prefix(above).ok()?)))
        .unwrap_or_else(|| directory.to_owned())
}
