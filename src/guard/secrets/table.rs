//! The tables of secrets (`tables/*.txt`): what each is for, and the prefilter over all of them. Not here:
//! what their rows do (`scan`).

use std::ops::Range;

use crate::prefilter::{self, AnchorEntry, AnchorIndex, TableRow};

/// What a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableKind {
    Prefix,
    Provider,
    Name,
    Hint,
    Command,
    Shape,
    Place,
}

/// Anchors that begin alike are tried in the order of the tables.
const KINDS: [TableKind; 8] = [
    TableKind::Prefix,
    TableKind::Prefix,
    TableKind::Provider,
    TableKind::Name,
    TableKind::Hint,
    TableKind::Command,
    TableKind::Shape,
    TableKind::Place,
];

const TABLES: [&str; 8] = [
    include_str!("tables/prefixes.txt"),
    include_str!("tables/services.txt"),
    include_str!("tables/providers.txt"),
    include_str!("tables/names.txt"),
    include_str!("tables/hints.txt"),
    include_str!("tables/commands.txt"),
    include_str!("tables/shapes.txt"),
    include_str!("tables/places.txt"),
];

static INDEX: AnchorIndex<{ prefilter::len(&TABLES) }> = AnchorIndex::build(&TABLES);

/// An anchor in a text, and its row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Anchor {
    pub(super) kind: TableKind,
    pub(super) text: &'static str,
    pub(super) row: TableRow,
    /// Which row of its table it is.
    pub(super) number: u16,
}

/// Calls `found` with every anchor of a text: the bytes where it stands, and what reads its row.
pub(super) fn each_anchor(text: &[u8], mut found: impl FnMut(Range<usize>, &dyn Fn() -> Anchor)) {
    INDEX.each(&TABLES, text, |place, anchor, entry| {
        found(place, &|| row_of(anchor, entry));
    });
}

fn row_of(text: &'static str, entry: &AnchorEntry) -> Anchor {
    let table = usize::from(entry.table);
    let row = entry.row(TABLES.get(table).copied().unwrap_or_default());
    let kind = KINDS.get(table).copied().unwrap_or(TableKind::Place);
    Anchor { kind, text, row, number: entry.number }
}

/// Returns every row of the tables of a kind.
#[cfg(test)]
pub(super) fn rows(kind: TableKind) -> impl Iterator<Item = TableRow> {
    let tables = KINDS.into_iter().zip(TABLES).filter(move |(of, _)| *of == kind);
    tables.flat_map(|(_, table)| TableRow::all(table))
}
