//! Every place on the disk where we write, as one table: the places that `scrub` cleans and `verify` checks, and those that hold no text
//! of a user. A test fails for a file that no row claims. Not here: cleaning them (`scrub`, `own_files`).

use std::path::{Path, PathBuf};

/// The folders that we write to.
#[derive(Debug, Clone, Copy)]
pub struct OwnFolders<'a> {
    /// The logs.
    pub store: &'a Path,
    /// The cache.
    pub cache: &'a Path,
    /// The database of past sessions.
    pub sessions: &'a Path,
}

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The logs.
    Store,
    /// The cache.
    Cache,
    /// The database of past sessions.
    Sessions,
}

/// What a surface holds, and so how a secret leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceForm {
    /// Lines of the store: rewritten under its lock.
    StoreLines,
    /// Lines of JSON of our own: rewritten.
    OwnLines,
    /// The database of past sessions: its rows are changed, and its free pages dropped.
    Database,
    /// Files of earlier versions that may hold secrets: deleted, since no rule knows a text that was reshaped.
    Outdated,
    /// Made from other surfaces: deleted when a secret was found, and made again.
    MadeAgain,
    /// Lines that others sent, or that were sent to them: checked on their way.
    Exchanged,
    /// Hashes, numbers, marks and locks.
    NoText,
}

/// A place where we write.
#[derive(Debug)]
pub struct Surface {
    /// The folder.
    pub root: Root,
    /// What paths below it begin with.
    pub prefix: &'static str,
    /// What they end with.
    pub suffix: &'static str,
    /// What it holds.
    pub form: SurfaceForm,
}

const fn surface(
    root: Root,
    begins: &'static str,
    ends: &'static str,
    form: SurfaceForm,
) -> Surface {
    Surface { root, prefix: begins, suffix: ends, form }
}

/// All of them. The first row that fits a file claims it.
pub const SURFACES: [Surface; 32] = [
    surface(Root::Store, ".spool/", "", SurfaceForm::StoreLines),
    surface(Root::Store, ".quarantine/", "", SurfaceForm::StoreLines),
    surface(Root::Store, "archive/", "", SurfaceForm::StoreLines),
    surface(Root::Store, ".chain/", "", SurfaceForm::NoText),
    surface(Root::Store, ".locks/", "", SurfaceForm::NoText),
    surface(Root::Store, ".places/", "", SurfaceForm::OwnLines),
    surface(Root::Store, "team/", "", SurfaceForm::Exchanged),
    surface(Root::Store, ".origin", "", SurfaceForm::NoText),
    surface(Root::Store, ".sync.json", "", SurfaceForm::Exchanged),
    surface(Root::Store, ".remote.json", "", SurfaceForm::Exchanged),
    surface(Root::Store, "", ".jsonl", SurfaceForm::StoreLines),
    surface(Root::Cache, "gaps/", "", SurfaceForm::OwnLines),
    surface(Root::Cache, "journal/", ".jsonl", SurfaceForm::OwnLines),
    surface(Root::Cache, "journal/", ".lock", SurfaceForm::NoText),
    surface(Root::Cache, "hook-sessions/", "", SurfaceForm::OwnLines),
    surface(Root::Cache, "searches/", "", SurfaceForm::Outdated),
    surface(Root::Cache, "sessions/", "", SurfaceForm::Outdated),
    surface(Root::Cache, "sessions.index", "", SurfaceForm::MadeAgain),
    surface(Root::Cache, "index/", "", SurfaceForm::MadeAgain),
    surface(Root::Cache, "sync/", "", SurfaceForm::Exchanged),
    surface(Root::Cache, "fired/", "", SurfaceForm::NoText),
    surface(Root::Cache, "run/", "", SurfaceForm::NoText),
    surface(Root::Cache, "vectors", "", SurfaceForm::NoText),
    surface(Root::Cache, "", ".vectors", SurfaceForm::NoText),
    surface(Root::Cache, "", ".tokens", SurfaceForm::NoText),
    surface(Root::Cache, "", ".embedding", SurfaceForm::NoText),
    surface(Root::Cache, "", ".scale", SurfaceForm::NoText),
    surface(Root::Cache, "", ".probe", SurfaceForm::NoText),
    surface(Root::Cache, "", ".lock", SurfaceForm::NoText),
    surface(Root::Cache, "", ".signs", SurfaceForm::NoText),
    surface(Root::Sessions, "sessions.db", "", SurfaceForm::Database),
    surface(Root::Sessions, "", ".lock", SurfaceForm::NoText),
];

impl<'a> OwnFolders<'a> {
    /// Returns the folder of a root.
    #[must_use]
    pub fn root(&self, root: Root) -> &'a Path {
        match root {
            Root::Store => self.store,
            Root::Cache => self.cache,
            Root::Sessions => self.sessions,
        }
    }

    /// Returns the row that claims a file.
    #[must_use]
    pub fn surface_of(&self, file: &Path) -> Option<&'static Surface> {
        SURFACES.iter().find(|surface| {
            let below = file.strip_prefix(self.root(surface.root)).ok().and_then(Path::to_str);
            below.is_some_and(|below| {
                let below = below.replace('\\', "/");
                below.starts_with(surface.prefix) && below.ends_with(surface.suffix)
            })
        })
    }

    /// Returns the files of a form, in order. Links are not followed.
    #[must_use]
    pub fn files(&self, form: SurfaceForm) -> Vec<PathBuf> {
        let roots = [Root::Store, Root::Cache, Root::Sessions].map(|root| self.root(root));
        let mut found = Vec::new();
        let mut folders: Vec<PathBuf> = roots.iter().map(|root| (*root).to_owned()).collect();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => found.push(entry.path()),
                    _ => {}
                }
            }
        }
        found.retain(|file| self.surface_of(file).is_some_and(|surface| surface.form == form));
        found.sort();
        found.dedup();
        found
    }
}
