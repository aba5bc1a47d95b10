//! A folder of notes, one per memory, that Obsidian and other tools open. A note that somebody changed, and a file that
//! is not ours, stay as they are. Not here: the text of a note (`memory_note`).

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::ExchangeError;
use super::front_matter::FrontMatter;
use super::memory_note::{memory_note, read_note, title};
use event::{Event, EventId, RepoKey};
use store::{make_private_dir, open_private};

/// Longest part of a title in the name of a file, in bytes: with its id it fits every file system.
const NAME_BYTES_MAX: usize = 120;

/// What became of the notes of an export.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct VaultCounts {
    /// Notes that are new or were renewed.
    pub written: usize,
    /// Notes that were there already.
    pub unchanged: usize,
    /// Files that were left as they are: a person changed them, or they are not ours.
    pub kept: usize,
}

/// A folder that notes are written to.
#[derive(Debug)]
pub struct VaultExport {
    root: PathBuf,
    used: BTreeSet<PathBuf>,
    counts: VaultCounts,
}

impl VaultExport {
    /// Opens a folder; it is made if it is missing. Here a link is followed: a person named it.
    ///
    /// # Errors
    /// [`ExchangeError`] where it cannot be made, or is a file.
    pub fn open(root: &Path) -> Result<Self, ExchangeError> {
        if !root.is_dir() {
            folder(root)?;
        }
        let used = BTreeSet::new();
        Ok(Self { root: root.to_owned(), used, counts: VaultCounts::default() })
    }

    /// Writes the note of a memory into the folder of its repository.
    ///
    /// # Errors
    /// [`ExchangeError`]
    pub fn write_note(&mut self, event: &Event) -> Result<(), ExchangeError> {
        let at = self.root.join(folder_name(&event.repo_key()));
        folder(&at)?;
        let (name, text) = (file_name(event), memory_note(event));
        let names = (1..).map(|number| match number {
            1 => at.join(format!("{name}.md")),
            _ => at.join(format!("{name} {number}.md")),
        });
        // Names that differ only in case are one on some systems; foreign ids may end alike.
        let lower = |path: &PathBuf| PathBuf::from(path.to_string_lossy().to_lowercase());
        let mut free = names.filter(|path| !self.used.contains(&lower(path)));
        let Some(path) = free.next() else { return Ok(()) };
        self.used.insert(lower(&path));
        match present_file(&path)? {
            PresentFile::Same(before) if before == text => self.counts.unchanged += 1,
            PresentFile::Nothing | PresentFile::Same(_) => {
                replace(&path, &text)?;
                self.counts.written += 1;
            }
            PresentFile::Others => self.counts.kept += 1,
        }
        Ok(())
    }

    /// Returns what became of the notes.
    #[must_use]
    pub fn finish(self) -> VaultCounts {
        self.counts
    }
}

/// What is in the place of a note.
enum PresentFile {
    Nothing,
    /// A note of ours as we wrote it.
    Same(String),
    Others,
}

fn present_file(path: &Path) -> Result<PresentFile, ExchangeError> {
    let Ok(found) = path.symlink_metadata() else { return Ok(PresentFile::Nothing) };
    if !found.is_file() {
        return Ok(PresentFile::Others);
    }
    let bytes = std::fs::read(path).map_err(ExchangeError::io("read", path))?;
    let Ok(text) = String::from_utf8(bytes) else { return Ok(PresentFile::Others) };
    let (front, body) = FrontMatter::split(&text);
    let is_ours = read_note("", &front, body).is_some_and(|item| item.replaces.is_none());
    Ok(if is_ours { PresentFile::Same(text) } else { PresentFile::Others })
}

/// Makes a folder that only its user can read, unless it is there.
fn folder(path: &Path) -> Result<(), ExchangeError> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(ExchangeError::form(path, "is a link or a file; name a folder")),
        Err(_) => make_private_dir(path).map_err(ExchangeError::io("make", path)),
    }
}

/// Replaces a file completely or not at all.
fn replace(path: &Path, text: &str) -> Result<(), ExchangeError> {
    let fresh = path.with_extension(format!("md.{}.tmp", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let written =
        open_private(&mut options, &fresh).and_then(|mut file| file.write_all(text.as_bytes()));
    let done = written.and_then(|()| std::fs::rename(&fresh, path));
    if done.is_err() {
        // What cannot be deleted is named in no answer, and the next export makes another.
        drop(std::fs::remove_file(&fresh));
    }
    done.map_err(ExchangeError::io("write", path))
}

/// The name of the log without its extension: it fits every file system.
fn folder_name(repo: &RepoKey) -> String {
    let name = repo.file_name();
    name.strip_suffix(".jsonl").unwrap_or(&name).to_owned()
}

/// The title with the end of the id. Only characters that Obsidian links to and every file system takes.
fn file_name(event: &Event) -> String {
    let words = title(event);
    let is_fit = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ',');
    let spaced: String = words.chars().map(|c| if is_fit(c) { c } else { ' ' }).collect();
    let mut name = String::new();
    for word in spaced.split_whitespace() {
        if name.len() + word.len() + 1 > NAME_BYTES_MAX {
            break;
        }
        name.push_str(word);
        name.push(' ');
    }
    let name = name.trim_start_matches(['.', '-', ' ']);
    format!("{name}{}", short(&event.id))
}

/// The end of an id as part of a name; ids of others may hold anything.
fn short(id: &EventId) -> String {
    let short = id.short();
    if short.len() <= 26 && short.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return short.to_owned();
    }
    EventId::derive(None, id.as_str().as_bytes()).short().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use event::{DecodedLine, codec};

    fn event(id: &str, lesson: &str) -> Event {
        let line = json!({ "id": id, "repo": "github.com/acme/api", "event_type": "fact", "lesson": lesson,
            "timestamp": "2026-01-02T03:04:05Z" });
        match codec::decode(line.to_string().as_bytes(), "") {
            DecodedLine::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    fn export(root: &Path, events: &[Event]) -> VaultCounts {
        let mut vault = VaultExport::open(root).unwrap();
        events.iter().for_each(|event| vault.write_note(event).unwrap());
        vault.finish()
    }

    fn counts(written: usize, unchanged: usize, kept: usize) -> VaultCounts {
        VaultCounts { written, unchanged, kept }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    // S-EXPORT-2
    #[test]
    fn every_system_takes_the_file_names() {
        let folder = tempfile::tempdir().unwrap();
        let events = [
            event("01K8QXJ3V5D0S6T7B9C1E2F4G6", "../Use [[pnpm]]: never #npm | \"yes\"?"),
            event("code/x", "con"),
            event("code-x", "…"),
        ];
        assert_eq!(export(&folder.path().join("vault"), &events), counts(3, 0, 0));
        let names = names(&folder.path().join("vault/github.com+acme+api"));
        let wanted = "Use pnpm never npm yes C1E2F4G6.md";
        assert!(names.iter().any(|name| name == wanted), "{names:?}");
        assert!(names.iter().all(|name| !name.contains(['[', ']', '#', '|', ':', '?', '"', '/'])));
    }

    // S-EXPORT-2
    #[test]
    fn a_second_export_leaves_foreign_files() {
        let folder = tempfile::tempdir().unwrap();
        let events =
            [event("01K8QXJ3V5D0S6T7B9C1E2F4G6", "a"), event("01K8QXJ3V5D0S6T7B9C1E2F4G7", "b")];
        let at = folder.path().join("github.com+acme+api");
        assert_eq!(export(folder.path(), &events), counts(2, 0, 0));
        assert_eq!(export(folder.path(), &events), counts(0, 2, 0));
        let one = at.join(&names(&at)[0]);
        let edited = std::fs::read_to_string(&one).unwrap().replace("\na\n", "\nedited\n");
        std::fs::write(&one, &edited).unwrap();
        std::fs::write(at.join(&names(&at)[1]), "mine").unwrap();
        assert_eq!(export(folder.path(), &events), counts(0, 0, 2));
        assert_eq!(std::fs::read_to_string(&one).unwrap(), edited);
        assert_eq!(names(&at).len(), 2);
    }

    // S-EXPORT-2
    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (vault, elsewhere) = (folder.path().join("vault"), folder.path().join("elsewhere"));
        std::fs::create_dir_all(&vault).unwrap();
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, vault.join("github.com+acme+api")).unwrap();
        let mut export = VaultExport::open(&vault).unwrap();
        assert!(export.write_note(&event("m1", "a")).is_err());
        assert!(names(&elsewhere).is_empty());
        std::os::unix::fs::symlink(&elsewhere, folder.path().join("named")).unwrap();
        let mut export = VaultExport::open(&folder.path().join("named")).unwrap();
        assert!(export.write_note(&event("m1", "a")).is_ok());
        assert_eq!(names(&elsewhere), ["github.com+acme+api"]);
    }
}
