//! From what is known to a place: looks up from a directory for a repository, then for a project, and chooses among directories. It
//! always answers. Not here: what each kind of repository looks like (`git_repository`, `other_control`), and its key
//! (`repository_key`).

use std::path::{Path, PathBuf};

use event::RepoKey;

use crate::foreign_path::is_foreign;
use crate::git_head::GitHead;
use crate::git_repository::{GitAt, GitRepository};
use crate::gone_work_tree::{GoneTree, gone_tree};
use crate::known_directory::{DirectoryOrigin, KnownDirectory};
use crate::lost_pointer::{LostTarget, lost_target, resolved};
use crate::machine::Machine;
use crate::other_control::ControlledTree;
use crate::place::{Place, PlaceSource, PlaceStrength, folder_below};
use crate::project_search::{ProjectQuestions, project_above};
use crate::repository_key::{KeyFinder, KnownKey, common_dir_key};
use crate::standing_directory::StandingDirectory;
use crate::steps::Steps;
use crate::stored_places::StoredPlaces;
use crate::work_tree::{VersionControl, WorkTree};

/// Bare repositories by which people keep the settings in their home directory, as tutorials and yadm name them.
const DOTFILES: &[&str] = &[
    ".cfg",
    ".dotfiles",
    ".dotfiles.git",
    ".dotfiles/.git",
    ".local/share/yadm/repo.git",
    ".config/yadm/repo.git",
    ".local/share/dotfiles",
];

/// Finds places.
pub struct Locator<'a> {
    keys: KeyFinder<'a>,
    steps: Steps,
}

impl<'a> Locator<'a> {
    /// Makes it for a machine and what its store knows.
    #[must_use]
    pub fn new(machine: &'a Machine, stored: &'a dyn StoredPlaces, steps: Steps) -> Self {
        Self { keys: KeyFinder { machine, stored }, steps }
    }

    /// Returns the steps so far.
    #[must_use]
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Returns the place that several directories lead to. An argument comes first, then the input of a hook, the roots of a
    /// client, the process and what the environment declares; but a folder that is no project gives way to one that is.
    pub fn best(&mut self, known: &[KnownDirectory]) -> Place {
        let mut ordered: Vec<&KnownDirectory> = known.iter().collect();
        ordered.sort_by_key(|directory| directory.origin.rank());
        let mut weak: Option<Place> = None;
        for directory in ordered {
            self.steps.add(|| format!("{} is {}", directory.origin, directory.path.display()));
            let place = self.at_known(directory, known);
            let is_asked_for = directory.origin == DirectoryOrigin::Argument;
            let enough = if is_asked_for { PlaceStrength::Folder } else { PlaceStrength::Project };
            if place.strength() >= enough {
                return place;
            }
            if weak.as_ref().is_none_or(|other| place.strength() > other.strength()) {
                weak = Some(place);
            }
        }
        weak.unwrap_or_else(|| no_place(Path::new("")))
    }

    /// Returns the place of one directory.
    pub fn at(&mut self, directory: &Path) -> Place {
        let standing = StandingDirectory::resolved(directory);
        let Some(standing) = standing else { return self.text_place(directory) };
        if standing.is_gone() {
            let (gone, above) = (standing.directory.display(), standing.above.display());
            self.steps.add(|| format!("{gone} is not there; {above} is"));
        }
        let (found, remains) = self.repository_above(&standing);
        let is_project = found.as_ref().is_some_and(|place| {
            !self.is_no_project(&place.top) || place.top == standing.directory
        });
        if let Some(place) = found.clone().filter(|_| is_project) {
            return place;
        }
        self.removed_place(&standing)
            .or_else(|| self.project_place(&standing))
            .or(found)
            .or(remains)
            .or_else(|| self.dotfiles_place(&standing))
            .unwrap_or_else(|| self.folder_place(&standing))
    }

    fn at_known(&mut self, known: &KnownDirectory, all: &[KnownDirectory]) -> Place {
        let is_own = matches!(known.origin, DirectoryOrigin::Process | DirectoryOrigin::Shell);
        if let Some(place) = is_own.then(|| self.environment_place(&known.path)).flatten() {
            return place;
        }
        let place = self.at(&known.path);
        if place.strength() == PlaceStrength::Repository {
            return place;
        }
        let mut declared = all.iter().filter(|other| other.is_declared());
        let enclosing = declared.find(|other| {
            let folder = other.path.canonicalize().unwrap_or_else(|_| other.path.clone());
            known.path.canonicalize().unwrap_or_else(|_| known.path.clone()).starts_with(&folder)
                && !self.is_no_project(&folder)
        });
        enclosing.map_or(place, |declared| self.declared_place(declared, &known.path))
    }

    /// The place of a folder that a client declares as the project.
    fn declared_place(&mut self, declared: &KnownDirectory, directory: &Path) -> Place {
        self.steps.add(|| format!("{} declares the project", declared.origin));
        let place = self.at(&declared.path);
        let place = match place.strength() {
            PlaceStrength::Folder if declared.path.is_dir() => {
                Place { because: PlaceSource::Declared(place.top.clone()), ..place }
            }
            _ => place,
        };
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        Place { folder: folder_below(&place.top, &directory), ..place }
    }

    /// Looks for a repository from a directory upwards, and for what remains of one.
    fn repository_above(&mut self, standing: &StandingDirectory) -> (Option<Place>, Option<Place>) {
        let mut remains = None;
        let ceilings = self.ceilings();
        let mut is_below_ceiling = true;
        for folder in standing.above.ancestors() {
            let is_start = folder == standing.above;
            is_below_ceiling &= is_start || !ceilings.iter().any(|ceiling| ceiling == folder);
            let git = if is_below_ceiling { GitAt::look(folder) } else { GitAt::Nothing };
            let found = match git {
                GitAt::Repository(found) => Some(self.git_place(found, standing)),
                GitAt::LostPointer(target) => Some(self.lost_place(folder, &target, standing)),
                GitAt::Unreadable(git_dir) => {
                    Some(self.unreadable_place(folder, &git_dir, standing))
                }
                GitAt::Remains(git_dir) => {
                    remains = remains.or_else(|| Some((folder.to_owned(), git_dir)));
                    None
                }
                GitAt::Nothing => None,
            };
            let found = found
                .or_else(|| Some(self.controlled_place(ControlledTree::look(folder)?, standing)));
            if found.is_some() {
                return (found, None);
            }
        }
        let remains = remains.map(|(top, git_dir)| {
            self.steps.add(|| format!("{} is no repository to git", git_dir.display()));
            let (common_dir, head) = (git_dir.clone(), GitHead::default());
            self.git_place(GitRepository { top, git_dir, common_dir, head }, standing)
        });
        // A sandbox makes and removes empty files with each command, so only a remote counts.
        let is_known = |place: &Place| matches!(place.because, PlaceSource::Remote { .. });
        let remains = remains.filter(is_known);
        (None, remains)
    }

    /// Folders above which git must not look.
    fn ceilings(&self) -> Vec<PathBuf> {
        let set = self.keys.machine.variable("GIT_CEILING_DIRECTORIES");
        set.map(|value| std::env::split_paths(value).collect()).unwrap_or_default()
    }

    fn git_place(&mut self, found: GitRepository, standing: &StandingDirectory) -> Place {
        self.steps.add(|| format!("{} is a git repository", found.top.display()));
        let known = self.keys.git_key(&found, &mut self.steps);
        let GitRepository { top, git_dir, common_dir, head: GitHead { branch, commit } } = found;
        let control = VersionControl::Git;
        let tree = WorkTree { control, top, git_dir, common_dir, branch, commit };
        self.place_in_tree(known, tree, standing)
    }

    fn controlled_place(&mut self, found: ControlledTree, standing: &StandingDirectory) -> Place {
        self.steps.add(|| format!("{} is a work tree of {}", found.top.display(), found.control));
        let known = self.keys.controlled_key(&found, &mut self.steps);
        let ControlledTree { control, top, own_dir, main_top, git_dir, branch, .. } = found;
        let common_dir = git_dir.unwrap_or(main_top);
        let tree = WorkTree { control, top, git_dir: own_dir, common_dir, branch, commit: None };
        self.place_in_tree(known, tree, standing)
    }

    fn lost_place(&mut self, top: &Path, target: &Path, standing: &StandingDirectory) -> Place {
        self.steps.add(|| {
            format!(
                "{} has a file .git that names {}, which is no repository",
                top.display(),
                target.display()
            )
        });
        let common = match lost_target(top, target) {
            LostTarget::Repository(found) => return self.git_place(found, standing),
            LostTarget::Submodule(url) => {
                let url = self.url_beside_parent(top, url);
                let known = self.keys.url_key("origin", &url, &mut self.steps);
                let known = known.unwrap_or_else(|| self.keys.pointer_key(target));
                return self.place_without_files(known, top, target, standing);
            }
            LostTarget::Text(common) => common,
        };
        let known = self.keys.pointer_key(&common);
        self.place_without_files(known, top, &common, standing)
    }

    /// Resolves a submodule's relative URL by that of its parent repository.
    fn url_beside_parent(&mut self, top: &Path, url: String) -> String {
        let parent = top.parent().filter(|_| url.starts_with('.')).map(|parent| self.at(parent));
        match parent.map(|place| place.because) {
            Some(PlaceSource::Remote { url: of_parent, .. }) => {
                resolved(&of_parent, &url).unwrap_or(url)
            }
            _ => url,
        }
    }

    fn unreadable_place(
        &mut self,
        top: &Path,
        git_dir: &Path,
        standing: &StandingDirectory,
    ) -> Place {
        self.steps.add(|| format!("{} may not be read", git_dir.display()));
        let known = (
            common_dir_key(git_dir),
            PlaceSource::CommonDir(VersionControl::Git, git_dir.to_owned()),
        );
        self.place_without_files(known, top, git_dir, standing)
    }

    fn place_without_files(
        &mut self,
        known: KnownKey,
        top: &Path,
        common: &Path,
        standing: &StandingDirectory,
    ) -> Place {
        let tree = WorkTree {
            control: VersionControl::Git,
            top: top.to_owned(),
            git_dir: common.to_owned(),
            common_dir: common.to_owned(),
            branch: None,
            commit: None,
        };
        self.place_in_tree(known, tree, standing)
    }

    fn place_in_tree(
        &mut self,
        known: KnownKey,
        tree: WorkTree,
        standing: &StandingDirectory,
    ) -> Place {
        let (key, because) = known;
        let place = self.place_with_key(key, because, tree.top.clone(), standing);
        Place { work_tree: Some(tree), ..place }
    }

    fn place_with_key(
        &mut self,
        key: RepoKey,
        because: PlaceSource,
        top: PathBuf,
        at: &StandingDirectory,
    ) -> Place {
        let current = self.keys.stored.current(&key);
        if current != key {
            self.steps.add(|| format!("{key} is an alias of {current}"));
        }
        let folder = folder_below(&top, &at.directory);
        Place {
            repository: Some(current),
            own_key: Some(key),
            because,
            top,
            folder,
            work_tree: None,
        }
    }

    /// Where git was told which repository it works on.
    fn environment_place(&mut self, directory: &Path) -> Option<Place> {
        let git_dir = directory.join(self.keys.machine.path("GIT_DIR")?);
        let top = self.keys.machine.path("GIT_WORK_TREE").map(|top| directory.join(top));
        let top = top.unwrap_or_else(|| directory.to_owned());
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let (top, git_dir, directory) = (real(top), real(git_dir), real(directory.to_owned()));
        let found = GitRepository::open(&top, &git_dir)?;
        self.steps.add(|| format!("$GIT_DIR names {}", git_dir.display()));
        let standing = StandingDirectory { directory: directory.clone(), above: directory };
        Some(self.git_place(found, &standing))
    }

    /// A removed directory that was a work tree by the customs of tools.
    fn removed_place(&mut self, standing: &StandingDirectory) -> Option<Place> {
        if !standing.is_gone() {
            return None;
        }
        let KeyFinder { machine, stored } = self.keys;
        let gone = gone_tree(&standing.directory, &standing.above, machine, stored)?;
        let because = gone.source(standing.directory.clone());
        let (key, top) = match gone {
            GoneTree::Custom(top) | GoneTree::NamePrefix(top) => {
                self.steps.add(|| format!("by its name it was a work tree of {}", top.display()));
                let place = self.at(&top);
                (place.own_key?, place.top)
            }
            GoneTree::Stored(key) | GoneTree::StoredPrefix(key) => {
                self.steps.add(|| format!("by its name it was a work tree of {key}"));
                (key, standing.directory.clone())
            }
        };
        Some(self.place_with_key(key, because, top, standing))
    }

    /// The nearest folder that has memories or a project's mark.
    fn project_place(&mut self, standing: &StandingDirectory) -> Option<Place> {
        let (keys, stored) = (&self.keys, self.keys.stored);
        let questions = ProjectQuestions {
            is_boundary: &|folder| self.is_no_project(folder),
            has_memories: &|folder| stored.has_memories(&stored.current(&keys.folder_key(folder))),
        };
        let (folder, because) = project_above(&standing.above, &questions)?;
        Some(self.place_in_folder(&folder, because, standing))
    }

    fn place_in_folder(
        &mut self,
        folder: &Path,
        because: PlaceSource,
        standing: &StandingDirectory,
    ) -> Place {
        self.steps.add(|| format!("the project is {because}"));
        let key = self.keys.folder_key(folder);
        self.place_with_key(key, because, folder.to_owned(), standing)
    }

    /// A bare repository whose work tree is the home directory.
    fn dotfiles_place(&mut self, standing: &StandingDirectory) -> Option<Place> {
        let home = self.keys.machine.home.as_ref()?.canonicalize().ok()?;
        let below = standing.directory.strip_prefix(&home).ok()?;
        let first = below.components().next();
        let is_setting =
            first.is_none_or(|first| first.as_os_str().as_encoded_bytes().starts_with(b"."));
        let mut bare = DOTFILES.iter().map(|name| home.join(name)).filter(|_| is_setting);
        let found = bare.find_map(|git_dir| GitRepository::open(&home, &git_dir))?;
        self.steps.add(|| {
            format!("{} holds the settings of the home directory", found.git_dir.display())
        });
        Some(self.git_place(found, standing))
    }

    fn folder_place(&mut self, standing: &StandingDirectory) -> Place {
        let directory = &standing.directory;
        if self.is_no_project(directory) {
            self.steps.add(|| format!("{} is nobody's project", directory.display()));
            return no_place(directory);
        }
        let because = PlaceSource::Folder(directory.clone());
        self.place_in_folder(directory, because, standing)
    }

    /// A directory of another system, or a relative one: its text is all there is.
    fn text_place(&mut self, directory: &Path) -> Place {
        let text = directory.to_string_lossy().replace('\\', "/");
        let plain = PathBuf::from(text.trim_end_matches('/'));
        if !is_foreign(directory) || self.is_no_project(&plain) {
            return no_place(directory);
        }
        self.steps.add(|| format!("{} is a path of another system", directory.display()));
        let standing = StandingDirectory { directory: plain.clone(), above: PathBuf::new() };
        let because = PlaceSource::Folder(plain.clone());
        self.place_in_folder(&plain, because, &standing)
    }

    fn is_no_project(&self, folder: &Path) -> bool {
        self.keys.machine.is_no_project(folder)
    }
}

fn no_place(directory: &Path) -> Place {
    Place {
        repository: None,
        own_key: None,
        because: PlaceSource::NoProject(directory.to_owned()),
        top: directory.to_owned(),
        folder: String::new(),
        work_tree: None,
    }
}
