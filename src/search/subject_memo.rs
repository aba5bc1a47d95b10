//! Remembers which notes of a repository are about one subject, so that a search compares a note with others once and not each
//! time it is found. Not here: comparing (`contradictions`), which of two notes is better (`better_note`).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use event::{EventId, RepoKey};
use index::lexical::AnalysisCache;
use memory::{CowVec, Memory};

/// Memories that are remembered before all are forgotten, at some 200 bytes each.
const REMEMBERED_MAX: usize = 32_768;

/// A note about the subject of another.
#[derive(Debug, Clone)]
pub(crate) struct SubjectNote {
    /// Its number in the snapshot.
    pub(crate) number: u32,
    /// How sure it is that both are about one subject: odds of at least 0.
    pub(crate) odds: f32,
}

/// The memo of one store, for all its snapshots. Two searches at once do not wait for each other: one of them compares anew.
#[derive(Default)]
pub struct SubjectMemo(Mutex<RememberedSubjects>);

/// The state of a store, as far as it decides whether what was compared still holds.
pub(crate) struct ComparedState<'a> {
    pub(crate) memories: &'a CowVec<Arc<Memory>>,
    /// How many memories each repository has.
    pub(crate) repos: &'a BTreeMap<RepoKey, usize>,
    /// How many memories have a vector.
    pub(crate) embedded: usize,
}

impl ComparedState<'_> {
    fn memory(&self, number: u32) -> Option<&Arc<Memory>> {
        self.memories.get(usize::try_from(number).ok()?)
    }

    fn repo_len(&self, memory: &Memory) -> usize {
        self.repos.get(&memory.repo).copied().unwrap_or(0)
    }
}

/// What was compared so far, and the words of these texts.
#[derive(Default)]
pub(crate) struct RememberedSubjects {
    pub(crate) words: AnalysisCache,
    pub(crate) notes: RememberedNotes,
}

/// The notes about the subject of each memory that was compared.
#[derive(Default)]
pub(crate) struct RememberedNotes(HashMap<EventId, Remembered>);

struct Remembered {
    /// The memory as it was compared.
    memory: Weak<Memory>,
    /// How many memories its repository had: another one may be about its subject.
    repo_len: usize,
    /// How many memories had a vector, where not all had one.
    embedded: Option<usize>,
    notes: Vec<(SubjectNote, Weak<Memory>)>,
}

impl fmt::Debug for SubjectMemo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SubjectMemo").finish_non_exhaustive()
    }
}

impl SubjectMemo {
    /// Returns what is remembered, unless another search uses it now.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, RememberedSubjects>> {
        match self.0.try_lock() {
            Ok(held) => Some(held),
            // What is remembered is checked before it is used, whichever thread panicked while holding it.
            Err(TryLockError::Poisoned(poisoned)) => Some(PoisonError::into_inner(poisoned)),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl RememberedNotes {
    /// Returns the notes about the subject of a memory, if they were found in a state like this one.
    pub(crate) fn notes_of(
        &self,
        memory: &Arc<Memory>,
        state: &ComparedState<'_>,
    ) -> Option<Vec<SubjectNote>> {
        let known = self.0.get(&memory.id)?;
        let is_same =
            |held: &Weak<Memory>, now: &Arc<Memory>| std::ptr::eq(held.as_ptr(), Arc::as_ptr(now));
        let is_current = is_same(&known.memory, memory)
            && known.repo_len == state.repo_len(memory)
            && known.embedded.is_none_or(|embedded| embedded == state.embedded);
        let is_there = |(note, held): &(SubjectNote, Weak<Memory>)| {
            state.memory(note.number).is_some_and(|now| is_same(held, now))
        };
        let is_current = is_current && known.notes.iter().all(is_there);
        is_current.then(|| known.notes.iter().map(|(note, _)| note.clone()).collect())
    }

    /// Remembers the notes about the subject of a memory.
    pub(crate) fn remember(
        &mut self,
        memory: &Arc<Memory>,
        state: &ComparedState<'_>,
        notes: &[SubjectNote],
    ) {
        if self.0.len() >= REMEMBERED_MAX {
            self.0.clear();
        }
        let held =
            |note: &SubjectNote| Some((note.clone(), Arc::downgrade(state.memory(note.number)?)));
        let known = Remembered {
            memory: Arc::downgrade(memory),
            repo_len: state.repo_len(memory),
            embedded: (state.embedded < state.memories.len()).then_some(state.embedded),
            notes: notes.iter().filter_map(held).collect(),
        };
        self.0.insert(memory.id.clone(), known);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::snapshot::Snapshot;
    use crate::testing::snapshot;

    fn state(snapshot: &Snapshot) -> ComparedState<'_> {
        ComparedState {
            memories: snapshot.memories(),
            repos: snapshot.repos(),
            embedded: snapshot.embedded_count(),
        }
    }

    // S-RANK-10
    #[test]
    fn notes_are_remembered_until_the_repository_or_a_note_changes() {
        let line = |id: &str| json!({"id": id, "repo": "api", "event_type": "fact", "lesson": id});
        let lines = [line("m1"), line("m2")];
        let one = snapshot(&lines);
        let mut notes = RememberedNotes::default();
        let memory = one.memory(0).unwrap();
        notes.remember(memory, &state(&one), &[SubjectNote { number: 1, odds: 0.5 }]);
        assert_eq!(notes.notes_of(memory, &state(&one.clone())).unwrap().len(), 1);
        // Another state of the same lines has other memories.
        let again = snapshot(&lines);
        assert!(notes.notes_of(again.memory(0).unwrap(), &state(&again)).is_none());
        let more = BTreeMap::from([(memory.repo.clone(), 3)]);
        let grown = ComparedState { repos: &more, ..state(&one) };
        assert!(notes.notes_of(memory, &grown).is_none(), "a new note may be about the subject");
        let embedded = ComparedState { embedded: 2, ..state(&one) };
        assert!(notes.notes_of(memory, &embedded).is_none(), "meaning may join what words do not");
    }
}
