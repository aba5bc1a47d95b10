//! Signs that a closer look at a text is worth taking, found by the prefilter: marks of conversations,
//! commands, and the beginnings of orders in other languages. Most texts have none. Not here: the looks.

use crate::prefilter::{self, AnchorIndex, TableRow};

pub(super) const SIGNS: &str = include_str!("tables/signs.txt");
pub(super) const TONGUES: &str = include_str!("tables/tongues.txt");

const TABLES: [&str; 2] = [SIGNS, TONGUES];

static INDEX: AnchorIndex<{ prefilter::len(&TABLES) }> = AnchorIndex::build(&TABLES);

/// A sign in a text.
pub(super) struct Sign {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) row: TableRow,
    /// Which order of `tables/tongues.txt` it begins, if it begins one.
    pub(super) order: Option<u16>,
}

/// Returns every sign of a text in lower case.
pub(super) fn find_signs(lower: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    INDEX.each(&TABLES, lower.as_bytes(), |place, _, entry| {
        let table = TABLES.get(usize::from(entry.table)).copied().unwrap_or_default();
        let order = (table == TONGUES).then_some(entry.number);
        signs.push(Sign { start: place.start, end: place.end, row: entry.row(table), order });
    });
    signs
}
