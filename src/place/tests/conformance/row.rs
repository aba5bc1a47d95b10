//! One row of the table: what is set up, what is expected, and whether it holds. Not here: the made-up machine (`scene`).

use std::path::PathBuf;

use event::RepoKey;
use place::{Place, PlaceSource};

use super::scene::Scene;

/// One place.
pub struct Row {
    /// What is set up.
    pub place: String,
    /// Sets it up, and returns the directory in which somebody stands.
    pub set_up: Box<dyn Fn(&mut Scene) -> PathBuf>,
    /// What is expected.
    pub expected: ExpectedPlace,
    /// Why a user expects that.
    pub why: &'static str,
}

/// Makes a row.
pub fn row(
    place: &str,
    set_up: impl Fn(&mut Scene) -> PathBuf + 'static,
    expected: ExpectedPlace,
    why: &'static str,
) -> Row {
    Row { place: place.to_owned(), set_up: Box::new(set_up), expected, why }
}

/// The repository that is expected.
#[derive(Debug, Clone)]
enum Repository {
    Key(&'static str),
    /// That of this path, with the name of its folder.
    OfPath(&'static str, &'static str),
    /// The same as that of another directory.
    SameAs(&'static str),
    /// Another than that of another directory.
    OtherThan(&'static str),
    Nobody,
}

/// What is expected of a place.
#[derive(Debug, Clone)]
pub struct ExpectedPlace {
    repository: Repository,
    folder: Option<&'static str>,
    branch: Option<Option<&'static str>>,
    kind: Option<&'static str>,
}

impl ExpectedPlace {
    fn new(repository: Repository) -> Self {
        Self { repository, folder: None, branch: None, kind: None }
    }

    /// Expects this key.
    pub fn key(key: &'static str) -> Self {
        Self::new(Repository::Key(key))
    }

    /// Expects the key of a path in the scene, which has this name.
    pub fn of_path(name: &'static str, path: &'static str) -> Self {
        Self::new(Repository::OfPath(name, path))
    }

    /// Expects the repository of another directory.
    pub fn same_as(directory: &'static str) -> Self {
        Self::new(Repository::SameAs(directory))
    }

    /// Expects another repository than that of a directory.
    pub fn other_than(directory: &'static str) -> Self {
        Self::new(Repository::OtherThan(directory))
    }

    /// Expects no repository.
    pub fn nobody() -> Self {
        Self::new(Repository::Nobody)
    }

    /// Expects this folder below the top.
    pub fn folder(self, folder: &'static str) -> Self {
        Self { folder: Some(folder), ..self }
    }

    /// Expects this branch.
    pub fn branch(self, branch: &'static str) -> Self {
        Self { branch: Some(Some(branch)), ..self }
    }

    /// Expects no branch.
    pub fn no_branch(self) -> Self {
        Self { branch: Some(None), ..self }
    }

    /// Expects that it is known in this way.
    pub fn kind(self, kind: &'static str) -> Self {
        Self { kind: Some(kind), ..self }
    }
}

/// Sets a row up and returns what is wrong.
pub fn failures(row: &Row) -> Vec<String> {
    let mut scene = Scene::new();
    let directory = (row.set_up)(&mut scene);
    let mut steps = Vec::new();
    let place = scene.place(&directory, &mut steps);
    let found = place.repository.as_ref().map(ToString::to_string);
    let of = |directory: &str| {
        let place = scene.alone().place(&scene.path(directory), &mut Vec::new());
        place.repository.map(|key| key.to_string())
    };
    let mut wrong = Vec::new();
    let is_right = match &row.expected.repository {
        Repository::Key(key) => found.as_deref() == Some(*key),
        Repository::OfPath(name, path) => {
            let path = scene.path(path);
            found == Some(RepoKey::from_place(name, path.to_str().unwrap()).to_string())
        }
        Repository::SameAs(directory) => found.is_some() && found == of(directory),
        Repository::OtherThan(directory) => found.is_some() && found != of(directory),
        Repository::Nobody => found.is_none(),
    };
    if !is_right {
        wrong.push(format!("the repository is {found:?}, expected {:?}", row.expected.repository));
    }
    if row.expected.folder.is_some_and(|folder| folder != place.folder) {
        wrong.push(format!("the folder is {:?}, expected {:?}", place.folder, row.expected.folder));
    }
    if row.expected.branch.is_some_and(|branch| branch != place.branch()) {
        wrong.push(format!(
            "the branch is {:?}, expected {:?}",
            place.branch(),
            row.expected.branch
        ));
    }
    let kind = kind(&place);
    if row.expected.kind.is_some_and(|expected| expected != kind) {
        wrong.push(format!("it is known by {kind}, expected {:?}", row.expected.kind));
    }
    if steps.is_empty() {
        wrong.push("no step is explained".to_owned());
    }
    let steps = steps.join("\n      ");
    wrong.iter().map(|what| format!("- {}: {what}\n      {steps}", row.place)).collect()
}

fn kind(place: &Place) -> &'static str {
    match &place.because {
        PlaceSource::Remote { .. } => "remote",
        PlaceSource::CommonDir(..) => "common directory",
        PlaceSource::Remembered(_) => "remembered",
        PlaceSource::PointerText(_) => "pointer",
        PlaceSource::RemovedTree(_) => "removed tree",
        PlaceSource::RemovedNamesake(_) => "removed namesake",
        PlaceSource::Memories(_) => "memories",
        PlaceSource::Mark { .. } => "mark",
        PlaceSource::Declared(_) => "declared",
        PlaceSource::Folder(_) => "folder",
        PlaceSource::NoProject(_) => "nobody",
    }
}

/// What git itself says about a row: its directory of files, if it takes the directory for one of a repository.
pub fn differs_from_git(row: &Row) -> Option<String> {
    let mut scene = Scene::new();
    let directory = (row.set_up)(&mut scene);
    let place = scene.place(&directory, &mut Vec::new());
    let ours = place.git().map(|tree| tree.git_dir.canonicalize().unwrap());
    let gits = scene.git_dir_of(&directory).map(|path| path.canonicalize().unwrap());
    (ours != gits).then(|| format!("{}: git {gits:?}, we {ours:?}", row.place))
}
