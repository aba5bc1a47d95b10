//! A vault of Obsidian, or any other folder of Markdown notes.

use super::super::error::ExchangeError;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::Harvest;
use super::super::loose_values::kind;
use super::super::markdown_notes::{self, NoteStyle};
use super::foreign_store::{ForeignStore, unlike};

pub(super) const STORE: ForeignStore = ForeignStore {
    name: "obsidian",
    form: "a vault, or any folder of Markdown notes",
    recognises,
    read,
};

pub(super) const STYLE: NoteStyle = NoteStyle {
    agent: STORE.name,
    kind: |note| {
        let (kind, word) = kind(note.front.text("type"));
        (kind, word.into_iter().collect())
    },
};

fn recognises(place: &ForeignPlace) -> bool {
    place.notes().is_some_and(|folder| !folder.notes.is_empty())
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let folder = place.notes().ok_or_else(|| unlike(place, &STORE))?;
    Ok(markdown_notes::harvest(folder, &STYLE))
}
