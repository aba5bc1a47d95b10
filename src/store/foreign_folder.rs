//! Folders that somebody named as the store by mistake, such as a home directory or a work tree: they have other files, and none
//! of ours. They are reported, not refused: a guess must not lose a lesson. Not here: printing the report (the programs).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::Store;
use super::layout::LOCKS;

/// What our programs put into a store; a folder with one of these is a store, also without a log.
const OURS: [&str; 7] =
    [".locks", ".chain", ".spool", ".quarantine", ".origin", ".sync.json", ".remote.json"];

/// Files that a store may have before its first log: those that version control and systems put into any folder, our two folders
/// with usual names, and a text about the store.
const NEUTRAL: [&str; 14] = [
    ".git",
    ".gitignore",
    ".gitattributes",
    ".gitkeep",
    ".hg",
    ".jj",
    ".DS_Store",
    "desktop.ini",
    "lost+found",
    "archive",
    "team",
    "README.md",
    "README",
    "LICENSE",
];

impl Store {
    /// Returns the name of a file that suggests that the directory was named by mistake: it has other files, and none of ours.
    /// `None` also if the directory cannot be read, which its readers report. After a write this costs one system call.
    #[must_use]
    pub fn foreign_file_name(&self) -> Option<String> {
        if self.root().join(LOCKS).is_dir() {
            return None;
        }
        let name = foreign_name(self.root(), Self::is_log).ok()??;
        Some(name.to_string_lossy().into_owned())
    }

    /// Returns the warning before the first lesson is saved among files of something else.
    #[must_use]
    pub fn foreign_folder_warning(&self) -> Option<String> {
        let name = self.foreign_file_name()?;
        let root = self.root().display();
        Some(format!(
            "{root} has other files, such as {name:?}, and had no logs; if it is the wrong directory, correct --logs or \
             AGENT_KNOWLEDGE_LOGS"
        ))
    }
}

/// Returns the least name in a folder that is not ours, if nothing in the folder is ours: the folder was then hardly meant to be a
/// store. A folder that does not exist is fine.
///
/// # Errors
/// The system's error about the folder.
fn foreign_name(folder: &Path, is_log: impl Fn(&Path) -> bool) -> io::Result<Option<OsString>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    let mut foreign: Option<OsString> = None;
    for entry in entries {
        let name = entry?.file_name();
        if is_log(Path::new(&name)) || is_one_of(&OURS, &name) {
            return Ok(None);
        }
        let is_first = foreign.as_ref().is_none_or(|first| name < *first);
        if !is_one_of(&NEUTRAL, &name) && is_first {
            foreign = Some(name);
        }
    }
    Ok(foreign)
}

fn is_one_of(names: &[&str], name: &OsStr) -> bool {
    names.iter().any(|known| name == *known)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-STORE-1
    #[test]
    fn only_other_files_alone_speak_against_a_folder() {
        let suspect = |names: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            names.iter().for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
            foreign_name(folder.path(), Store::is_log).unwrap()
        };
        for fine in [
            &[][..],
            &[".git", "README.md", ".gitignore", ".gitkeep", "LICENSE"],
            &["lost+found"],
            &["notes.txt", "api.jsonl"],
            &["notes.txt", ".locks"],
            &["notes.txt", ".origin"],
            &["team", "archive"],
        ] {
            assert_eq!(suspect(fine), None, "{fine:?}");
        }
        for (wrong, first) in [
            (&["b.rs", "a.rs"][..], "a.rs"),
            (&[".git", "src"], "src"),
            (&[".bashrc"], ".bashrc"),
            (&[".hidden.jsonl"], ".hidden.jsonl"),
        ] {
            assert_eq!(suspect(wrong).as_deref(), Some(OsStr::new(first)), "{wrong:?}");
        }
        assert_eq!(foreign_name(Path::new("no/such/folder"), Store::is_log).unwrap(), None);
    }
}
