//! The auto memory of Claude Code: a folder with `MEMORY.md` and a note for each memory. `MEMORY.md` is an index; what
//! else stands in it is a note.

use super::super::error::ExchangeError;
use super::super::foreign_place::{ForeignPlace, NoteFile};
use super::super::harvest::Harvest;
use super::super::loose_values::kind;
use super::super::markdown_notes::{self, MarkdownNote, NoteStyle};
use super::foreign_store::{ForeignStore, unlike};

const INDEX: &str = "MEMORY.md";

pub(super) const STORE: ForeignStore = ForeignStore {
    name: "claude-code",
    form: "the folder memory of a project below ~/.claude/projects",
    recognises,
    read,
};

const STYLE: NoteStyle = NoteStyle {
    agent: STORE.name,
    kind: |note| {
        let (kind, word) = kind(word_of(note));
        (kind, word.into_iter().collect())
    },
};

fn word_of<'a>(note: &'a MarkdownNote<'_>) -> Option<&'a str> {
    note.front.text("metadata.type").or_else(|| note.front.text("type"))
}

fn recognises(place: &ForeignPlace) -> bool {
    let Some(folder) = place.notes().filter(|folder| !folder.is_obsidian) else { return false };
    let is_memory = |note: &MarkdownNote<'_>| {
        let words = ["user", "feedback", "project", "reference"];
        note.front.has("description") && word_of(note).is_some_and(|word| words.contains(&word))
    };
    folder.notes.iter().any(|file| file.name == INDEX)
        || folder.notes.iter().any(|file| is_memory(&MarkdownNote::from_file(file)))
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let folder = place.notes().ok_or_else(|| unlike(place, &STORE))?;
    let mut harvest = Harvest::default();
    harvest.leave_out_files(&folder.left_out, (&folder.other_files, folder.more_files));
    let index = folder.notes.iter().find(|file| file.name == INDEX).map(without_links);
    let others = folder.notes.iter().filter(|file| file.name != INDEX);
    let mut notes: Vec<MarkdownNote<'_>> = others.map(MarkdownNote::from_file).collect();
    match &index {
        Some(index) if says_something(&index.text) => notes.push(MarkdownNote::from_file(index)),
        Some(_) => harvest.leave_out("index of the notes"),
        None => {}
    }
    markdown_notes::add_notes(&mut harvest, &notes, &STYLE);
    Ok(harvest)
}

/// The index without the lines that only lead to notes.
fn without_links(index: &NoteFile) -> NoteFile {
    let is_link = |line: &&str| {
        line.trim_start().starts_with(['-', '*']) && (line.contains(".md)") || line.contains("[["))
    };
    let kept: Vec<&str> = index.text.lines().filter(|line| !is_link(line)).collect();
    NoteFile { name: index.name.clone(), text: kept.join("\n"), written: index.written }
}

fn says_something(text: &str) -> bool {
    text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'))
}
