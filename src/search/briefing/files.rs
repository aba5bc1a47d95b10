//! Memories about the caller's files: those of the repository that name one of them, by its path or the end of it.
//! Not here: files that are gone.

use std::collections::BTreeSet;

use super::super::filter::is_about;
use super::order::RankedMemory;
use super::{Occasion, SESSION};
use crate::snapshot::Snapshot;
use index::lexical::DocId;

/// So many files are looked up: who names more has no file at hand but a repository.
const FILES_MAX: usize = 8;

/// Memories looked at for each file, those whose words fit its path best: each must be read.
const LOOKED_AT_MAX: usize = 64;

/// Finds the memories about the files at hand. The index of words finds those whose words fit a path, since paths
/// are words too; of these, whoever really names it counts.
pub(super) fn about<'a>(snapshot: &'a Snapshot, occasion: &Occasion<'_>) -> Vec<RankedMemory<'a>> {
    let mut numbers = BTreeSet::new();
    let is_here = |doc: DocId| {
        let memory = snapshot.memory(doc.0);
        memory.is_some_and(|memory| occasion.repos.contains(&memory.repo))
    };
    for file in occasion.files.iter().take(FILES_MAX) {
        let file = file.trim();
        for found in snapshot.lexical().search(file, is_here, LOOKED_AT_MAX) {
            let memory = snapshot.memory(found.doc.0);
            // That a session changed a file says nothing about it.
            let memory = memory.filter(|memory| memory.provenance.kind.as_str() != SESSION);
            if memory.is_some_and(|memory| is_about(&memory.event(), file)) {
                numbers.insert(found.doc.0);
            }
        }
    }
    let memories = numbers.into_iter().filter_map(|number| snapshot.memory(number));
    memories.map(|memory| RankedMemory::by_worth(memory, occasion.now)).collect()
}
