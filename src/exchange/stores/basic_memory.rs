//! basic-memory: its Markdown notes, which are its truth. Its database is an index of them.

use super::super::error::ExchangeError;
use super::super::foreign_place::ForeignPlace;
use super::super::harvest::Harvest;
use super::super::loose_values::kind;
use super::super::markdown_notes::{self, MarkdownNote, NoteStyle};
use super::foreign_store::{ForeignStore, unlike};

pub(super) const STORE: ForeignStore =
    ForeignStore { name: "basic-memory", form: "the folder of a project", recognises, read };

const STYLE: NoteStyle = NoteStyle {
    agent: STORE.name,
    kind: |note| {
        let (kind, word) = kind(note.front.text("type"));
        (kind, word.into_iter().collect())
    },
};

fn recognises(place: &ForeignPlace) -> bool {
    let Some(folder) = place.notes() else { return false };
    folder.notes.iter().any(|file| {
        let note = MarkdownNote::from_file(file);
        note.front.has("permalink") && note.front.has("title")
    })
}

fn read(place: &ForeignPlace) -> Result<Harvest, ExchangeError> {
    let folder = place.notes().ok_or_else(|| unlike(place, &STORE))?;
    Ok(markdown_notes::harvest(folder, &STYLE))
}
