//! Memories about the caller's files: those of the repository that name one of them, by its path or the end of it.
//! Not here: files that are gone.

use std::collections::BTreeSet;

use super::Occasion;
use super::order::RankedMemory;
use crate::snapshot::Snapshot;
use event::SESSION_RECORD;
use index::lexical::DocId;

/// Most files that are looked up.
const FILES_MAX: usize = 8;

/// Memories that are read for each file: those whose words match its path best.
const LOOKED_AT_MAX: usize = 64;

/// Finds the memories about the caller's files. The lexical index finds memories with the words of a path; of these,
/// the ones that name the path count.
pub(super) fn memories_about_files<'a>(
    snapshot: &'a Snapshot,
    occasion: &Occasion<'_>,
) -> Vec<RankedMemory<'a>> {
    let mut numbers = BTreeSet::new();
    let is_here = |doc: DocId| {
        let memory = snapshot.memory(doc.0);
        memory.is_some_and(|memory| occasion.repos.contains(&memory.repo))
    };
    for file in occasion.files.iter().take(FILES_MAX) {
        for found in snapshot.lexical().search(file.path(), is_here, LOOKED_AT_MAX) {
            let memory = snapshot.memory(found.doc.0);
            // The record of a session says nothing about its files.
            let memory = memory.filter(|memory| memory.provenance.kind.as_str() != SESSION_RECORD);
            if memory.is_some_and(|memory| file.is_named_by(&memory.event(), &memory.repo)) {
                numbers.insert(found.doc.0);
            }
        }
    }
    let memories = numbers.into_iter().filter_map(|number| snapshot.memory(number));
    memories.map(|memory| RankedMemory::by_worth(memory, occasion.now)).collect()
}
