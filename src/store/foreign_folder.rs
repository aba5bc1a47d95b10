//! Folders that somebody named as the store by mistake, such as a home directory or a work tree: other files are in them, and
//! nothing of ours. They are told, not refused: a guess must not lose a lesson. Not here: who tells it (the programs).

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use super::Store;
use super::layout::LOCKS;

/// What our programs put into a store; a folder with one of these is a store, also without a log.
const OURS: [&str; 7] =
    [".locks", ".chain", ".spool", ".quarantine", ".origin", ".sync.json", ".remote.json"];

/// What a store may well have before its first log: what version control and systems put into any folder, the two folders of
/// ours with usual names, and a text about the store.
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
    /// Returns the name of a file that suggests that the directory was named by mistake: other files are in it, and nothing of
    /// ours. `None` also where it cannot be read, which whoever needs it reports. Costs one look where there was a write.
    #[must_use]
    pub fn foreign_file_name(&self) -> Option<String> {
        if self.root().join(LOCKS).is_dir() {
            return None;
        }
        let name = foreign_name(self.root(), Self::is_log).ok()??;
        Some(name.to_string_lossy().into_owned())
    }

    /// Says what a person should know before the first lesson is saved among files of something else.
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

/// Returns a name (the least one) that suggests that a folder was never meant to be a store: it belongs to something else, and
/// nothing in the folder is ours. A folder that does not exist is fine.
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
        let told = |names: &[&str]| {
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
            assert_eq!(told(fine), None, "{fine:?}");
        }
        for (wrong, first) in [
            (&["b.rs", "a.rs"][..], "a.rs"),
            (&[".git", "src"], "src"),
            (&[".bashrc"], ".bashrc"),
            (&[".hidden.jsonl"], ".hidden.jsonl"),
        ] {
            assert_eq!(told(wrong).as_deref(), Some(OsStr::new(first)), "{wrong:?}");
        }
        assert_eq!(foreign_name(Path::new("no/such/folder"), Store::is_log).unwrap(), None);
    }
}
