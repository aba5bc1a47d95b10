//! Our own exports, and logs of other machines: notes with our mark, or lines of JSON.

use super::super::error::ExchangeError;
use super::super::foreign_place::{ForeignPlace, ForeignShape};
use super::super::harvest::Harvest;
use super::super::markdown_notes::{self, MarkdownNote};
use super::super::memory_note::{MARK, read_line, read_note};
use super::foreign_store::{ForeignStore, unlike};
use super::obsidian;

pub(super) const STORE: ForeignStore = ForeignStore {
    name: "agent-knowledge",
    form: "a folder or lines of agent-knowledge export, or a log",
    recognises,
    read,
};

fn recognises(place: &ForeignPlace) -> bool {
    let is_line = |value: &serde_json::Value| {
        value.get("lesson").is_some() && value.get("event_type").is_some()
    };
    match &place.shape {
        ForeignShape::Notes(folder) => {
            folder.notes.iter().any(|file| MarkdownNote::from_file(file).front.has(MARK))
        }
        ForeignShape::Lines(lines) => lines.values.iter().take(10).any(|(_, value)| is_line(value)),
        ForeignShape::Database(_) | ForeignShape::Json(_) => false,
    }
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let mut harvest = Harvest::default();
    if let Some(folder) = place.notes() {
        harvest.leave_out_files(&folder.left_out, (&folder.other_files, folder.more_files));
        let mut others = Vec::new();
        for file in &folder.notes {
            let note = MarkdownNote::from_file(file);
            match read_note(&file.name, &note.front, note.body) {
                Some(item) => harvest.items.push(item),
                None => others.push(note),
            }
        }
        // Notes that a person wrote between ours.
        markdown_notes::add_notes(&mut harvest, &others, &obsidian::STYLE);
        return Ok(harvest);
    }
    let lines = place.lines().ok_or_else(|| unlike(place, &STORE))?;
    for (number, value) in &lines.values {
        match read_line(value) {
            Some(draft) => harvest.add_item(format!("line {number}"), draft),
            None if value.get("memory_id").is_some() => harvest.leave_out("event about a memory"),
            None => harvest.leave_out("line without a lesson"),
        }
    }
    (0..lines.broken).for_each(|_| harvest.leave_out("line that is no JSON"));
    Ok(harvest)
}
