//! Which rules a client loads by itself at the start of a session, beyond the files whose names are fixed: those of its folder that
//! count for all files, and what its files import. Not here: the fixed names (`hooks::loaded_files`).

use std::path::Path;

use super::followed_imports::FollowedImports;
use super::found_files::FoundFiles;
use super::rule_scope::RuleScope;
use super::source::AgentFile;

/// Most files that are read: a start must not wait.
const READ_MAX: usize = 64;

/// Which rules of its folder a client loads at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadedRules {
    /// Those that name no files.
    WithoutFiles,
    /// Those that say so.
    SaidAlways,
}

/// Returns the rules of a folder that a client loads at the start.
pub(crate) fn rules_loaded_from(top: &Path, folder: &str, which: LoadedRules) -> Vec<String> {
    let names = FoundFiles::of_folder(top, folder).files.into_iter().take(READ_MAX);
    let is_loaded = |name: &String| {
        let scope = AgentFile::read(top, name).map(|file| RuleScope::read(name, &file.text));
        scope.is_ok_and(|scope| match which {
            LoadedRules::WithoutFiles => !scope.names_files(),
            LoadedRules::SaidAlways => scope.is_always(),
        })
    };
    names.filter(is_loaded).collect()
}

/// Returns the files that these files import.
pub(crate) fn imports_loaded_with(top: &Path, files: &[String]) -> Vec<String> {
    let files = files.iter().take(READ_MAX).filter_map(|name| AgentFile::read(top, name).ok());
    let files: Vec<AgentFile> = files.collect();
    let followed = FollowedImports::follow(top, &files.iter().collect::<Vec<_>>());
    followed.files.into_iter().map(|file| file.name).collect()
}
