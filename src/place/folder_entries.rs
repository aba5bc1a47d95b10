//! The names in a folder, listed once: a folder has few, and to look up each of many names takes longer. Not here: what a name means.

use std::path::Path;

use crate::project_mark::is_package_manifest;

/// Entries of a folder that are listed. In one with more, each name is looked up.
const ENTRIES_MAX: usize = 512;

/// The names in a folder.
pub(crate) enum FolderEntries {
    /// All of them.
    Listed(Vec<String>),
    /// Too many to list.
    Many,
}

impl FolderEntries {
    /// Lists a folder; one that is not there has nothing.
    pub(crate) fn read(folder: &Path) -> Self {
        let entries =
            std::fs::read_dir(folder).into_iter().flatten().take(ENTRIES_MAX + 1).flatten();
        let names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        if names.len() > ENTRIES_MAX { Self::Many } else { Self::Listed(names) }
    }

    /// Tells whether the folder has a file of this name.
    pub(crate) fn has(&self, folder: &Path, name: &str) -> bool {
        let is_listed = match self {
            Self::Listed(names) => names.iter().any(|own| own == name),
            Self::Many => true,
        };
        is_listed && folder.join(name).is_file()
    }

    /// The manifests in the folder.
    pub(crate) fn manifests(&self, folder: &Path) -> Vec<&str> {
        match self {
            Self::Listed(names) => {
                let names = names.iter().map(String::as_str);
                names
                    .filter(|name| is_package_manifest(name) && folder.join(name).is_file())
                    .collect()
            }
            Self::Many => COMMON_MANIFESTS
                .iter()
                .copied()
                .filter(|name| folder.join(name).is_file())
                .collect(),
        }
    }
}

/// Manifests that are looked up in a folder with too many entries to list.
const COMMON_MANIFESTS: &[&str] =
    &["package.json", "Cargo.toml", "go.mod", "pyproject.toml", "pom.xml"];
