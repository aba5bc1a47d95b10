//! The vault of the TypeScript program that is also called agent-knowledge: Markdown in one folder per category.

use super::super::error::ExchangeError;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::Harvest;
use super::super::loose_values::kind;
use super::super::markdown_notes::{self, NoteStyle};
use super::foreign_store::{ForeignStore, unlike};

pub(super) const STORE: ForeignStore = ForeignStore {
    name: "knowledge-vault",
    form: "a folder with projects, people, decisions, workflows and notes",
    recognises,
    read,
};

const STYLE: NoteStyle = NoteStyle {
    agent: STORE.name,
    kind: |note| {
        let (kind, word) = kind(note.top_folder());
        (kind, word.into_iter().collect())
    },
};

const CATEGORIES: [&str; 5] = ["projects", "people", "decisions", "workflows", "notes"];

fn recognises(place: &ForeignPlace) -> bool {
    let Some(folder) = place.notes().filter(|folder| !folder.is_obsidian) else { return false };
    let is_in_category =
        |name: &str| name.split_once('/').is_some_and(|(top, _)| CATEGORIES.contains(&top));
    !folder.notes.is_empty() && folder.notes.iter().all(|file| is_in_category(&file.name))
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let folder = place.notes().ok_or_else(|| unlike(place, &STORE))?;
    Ok(markdown_notes::harvest(folder, &STYLE))
}
