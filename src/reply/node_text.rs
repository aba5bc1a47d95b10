//! A node of the graph in a few words. Not here: its links (`related`).

use super::inert::stamp;
use super::line::name;
use search::links::{CodePlace, NodeRef};
use search::snapshot::Snapshot;

/// Longest path shown, in characters: of a longer one its end tells which it is.
const PATH_CHARS_MAX: usize = 120;

/// Names a thing: a memory by its id, a place in code by its path.
#[must_use]
pub fn node_text(node_ref: &NodeRef, snapshot: &Snapshot) -> String {
    match node_ref {
        NodeRef::Memory(number) => snapshot
            .memory(*number)
            .map_or_else(|| "(gone)".to_owned(), |memory| memory.id.short().to_owned()),
        NodeRef::Absent(id) => name(id.short()),
        NodeRef::Code(place) => code_place_text(place),
    }
}

/// Names a place in code. Its path is somebody's text.
pub(super) fn code_place_text(place: &CodePlace) -> String {
    let mut text = stamp(&place.path, true);
    if let Some(symbol) = &place.symbol {
        text.push_str("::");
        text.push_str(&stamp(symbol, false));
    }
    let more = text.chars().count().saturating_sub(PATH_CHARS_MAX);
    if more == 0 { text } else { format!("…{}", text.chars().skip(more).collect::<String>()) }
}
