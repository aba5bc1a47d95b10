//! A list that is frozen by counting a reference, and of which a later change copies little: it lies in
//! chunks, and only the chunk that changes is copied while a frozen list still holds it. Not here: what
//! lies in it.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, Weak};

use super::Memory;
use event::RepoKey;

/// Entries of a chunk. Beside a frozen list a change copies one chunk, a thousand pointers, and the list
/// of chunks: as many for a million entries.
const CHUNK_LEN: usize = 1_024;
const WORD_BITS: usize = u64::BITS as usize;

/// A list in chunks. Cloning it freezes it.
#[derive(Debug, Clone, PartialEq)]
pub struct CowVec<T> {
    /// All of them full but the last.
    chunks: Arc<Vec<Arc<Chunk<T>>>>,
    len: usize,
}

/// Some entries in a row.
#[derive(Debug)]
pub(super) struct Chunk<T> {
    entries: Vec<T>,
    /// Of memories a bit for each that may be out some day, once that was asked.
    passing: OnceLock<[u64; CHUNK_LEN / WORD_BITS]>,
    /// The repositories of memories, once they were asked for.
    repos: OnceLock<BTreeSet<RepoKey>>,
}

/// The stretches of a list in which memories of some repositories lie.
#[derive(Debug)]
pub struct RepoChunks(Vec<bool>);

impl RepoChunks {
    /// Tells whether the memory of a number may be of one of the repositories. Those of one lie mostly in a row, so
    /// that of most others this is known without looking at them.
    #[must_use]
    pub fn may_hold(&self, number: u32) -> bool {
        let chunk = usize::try_from(number).map(|place| place / CHUNK_LEN);
        chunk.is_ok_and(|chunk| self.0.get(chunk).copied().unwrap_or(false))
    }
}

impl<T> Chunk<T> {
    fn of(entries: Vec<T>) -> Self {
        Self { entries, passing: OnceLock::new(), repos: OnceLock::new() }
    }

    /// The entries, to be changed.
    fn entries_mut(&mut self) -> &mut Vec<T> {
        self.passing.take();
        self.repos.take();
        &mut self.entries
    }
}

/// Who clones one is about to change it.
impl<T: Clone> Clone for Chunk<T> {
    fn clone(&self) -> Self {
        Self::of(self.entries.clone())
    }
}

impl<T: PartialEq> PartialEq for Chunk<T> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// Empty.
impl<T> Default for CowVec<T> {
    fn default() -> Self {
        Self { chunks: Arc::default(), len: 0 }
    }
}

impl<T> CowVec<T> {
    /// Returns what this very list can be known by, and which keeps none of it.
    pub(super) fn mark(&self) -> Weak<Vec<Arc<Chunk<T>>>> {
        Arc::downgrade(&self.chunks)
    }

    /// Returns how many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns an entry.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.chunks.get(place / CHUNK_LEN)?.entries.get(place % CHUNK_LEN)
    }

    /// Returns the entries in order, in chunks of the lengths that [`CowVec::chunk_lengths`] tells.
    pub fn chunks(&self) -> impl Iterator<Item = &[T]> {
        self.chunks.iter().map(|chunk| chunk.entries.as_slice())
    }

    /// Returns the lengths of the chunks of a list of so many entries.
    pub fn chunk_lengths(len: usize) -> impl Iterator<Item = usize> {
        (0..len).step_by(CHUNK_LEN).map(move |start| (len - start).min(CHUNK_LEN))
    }

    /// Makes a list of its chunks; `None` where they have other lengths.
    pub(super) fn of_chunks(chunks: Vec<Vec<T>>) -> Option<Self> {
        let len = chunks.iter().map(Vec::len).sum();
        let fits = chunks.iter().map(Vec::len).eq(Self::chunk_lengths(len));
        let chunk = |entries| Arc::new(Chunk::of(entries));
        fits.then(|| Self { chunks: Arc::new(chunks.into_iter().map(chunk).collect()), len })
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.entries.iter())
    }
}

impl CowVec<Arc<Memory>> {
    /// Finds where memories of these repositories lie.
    #[must_use]
    pub fn chunks_of(&self, repos: &BTreeSet<RepoKey>) -> RepoChunks {
        let holds = |chunk: &Arc<Chunk<Arc<Memory>>>| {
            let held = chunk.repos.get_or_init(|| {
                let in_a_row = chunk.entries.chunk_by(|one, other| one.repo == other.repo);
                in_a_row.filter_map(|row| row.first()).map(|memory| memory.repo.clone()).collect()
            });
            repos.iter().any(|repo| held.contains(repo))
        };
        RepoChunks(self.chunks.iter().map(holds).collect())
    }

    /// Tells whether a memory may be out at some time ([`Memory::may_be_inactive`]); false where there is none. Most may
    /// not, and a bit says so: a search asks of tens of thousands, each of which lies somewhere else. Found out
    /// for a thousand at once, and anew where one of them changed.
    #[must_use]
    pub fn may_be_inactive(&self, place: usize) -> bool {
        let Some(chunk) = self.chunks.get(place / CHUNK_LEN) else { return false };
        let passing = chunk.passing.get_or_init(|| {
            let mut passing = [0; CHUNK_LEN / WORD_BITS];
            for (word, memories) in passing.iter_mut().zip(chunk.entries.chunks(WORD_BITS)) {
                let bits = memories.iter().zip(0..);
                *word = bits.fold(0, |word, (memory, bit)| {
                    word | u64::from(memory.may_be_inactive()) << bit
                });
            }
            passing
        });
        let at = place % CHUNK_LEN;
        passing.get(at / WORD_BITS).is_some_and(|word| word >> (at % WORD_BITS) & 1 == 1)
    }
}

impl<T: Clone> CowVec<T> {
    pub(super) fn push(&mut self, entry: T) {
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut().filter(|chunk| chunk.entries.len() < CHUNK_LEN) {
            Some(chunk) => Arc::make_mut(chunk).entries_mut().push(entry),
            None => {
                let mut entries = Vec::with_capacity(CHUNK_LEN);
                entries.push(entry);
                chunks.push(Arc::new(Chunk::of(entries)));
            }
        }
        self.len += 1;
    }

    /// Returns an entry, to be changed.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        // A place that is none must copy nothing.
        self.get(place)?;
        let chunk = Arc::make_mut(&mut self.chunks).get_mut(place / CHUNK_LEN)?;
        Arc::make_mut(chunk).entries_mut().get_mut(place % CHUNK_LEN)
    }

    fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let chunks = Arc::make_mut(&mut self.chunks);
        let last = chunks.last_mut()?;
        let entry = Arc::make_mut(last).entries_mut().pop();
        if last.entries.is_empty() {
            chunks.pop();
        }
        self.len -= 1;
        entry
    }

    /// Takes an entry out and puts the last one in its place.
    pub(super) fn swap_remove(&mut self, place: usize) -> Option<T> {
        self.get(place)?;
        let last = self.pop()?;
        match self.get_mut(place) {
            Some(entry) => Some(std::mem::replace(entry, last)),
            None => Some(last),
        }
    }

    /// Makes it so long, with copies of `entry` behind what was there.
    pub fn resize(&mut self, len: usize, entry: &T) {
        while self.len > len {
            self.pop();
        }
        while self.len < len {
            self.push(entry.clone());
        }
    }
}

impl<T: Clone> FromIterator<T> for CowVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut list = Self::default();
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::sample::folded;
    use super::*;

    fn long() -> CowVec<usize> {
        (0..CHUNK_LEN * 2 + 1).collect()
    }

    #[test]
    fn a_change_copies_one_chunk_and_leaves_the_frozen_list_alone() {
        let mut list = long();
        let frozen = list.clone();
        *list.get_mut(0).unwrap() = 7;
        assert_eq!((frozen.get(0), list.get(0)), (Some(&0), Some(&7)));
        let is_shared = |at: usize| Arc::ptr_eq(&list.chunks[at], &frozen.chunks[at]);
        assert_eq!((is_shared(0), is_shared(1), is_shared(2)), (false, true, true));
    }

    #[test]
    fn a_list_is_made_of_the_chunks_of_another() {
        for len in [0, 1, CHUNK_LEN, CHUNK_LEN + 1] {
            let list: CowVec<usize> = (0..len).collect();
            let chunks: Vec<Vec<usize>> = list.chunks().map(<[usize]>::to_vec).collect();
            assert_eq!(CowVec::of_chunks(chunks), Some(list));
        }
        assert_eq!(CowVec::of_chunks(vec![vec![1], vec![2]]), None);
        assert_eq!(CowVec::<usize>::of_chunks(vec![Vec::new()]), None);
    }

    #[test]
    fn the_last_takes_the_place_of_what_is_taken_out_across_chunks() {
        let mut list = long();
        assert_eq!(list.swap_remove(3), Some(3));
        assert_eq!((list.get(3), list.len()), (Some(&(CHUNK_LEN * 2)), CHUNK_LEN * 2));
        assert_eq!(list.chunks.len(), 2);
        assert_eq!(list.swap_remove(list.len()), None);
    }

    #[test]
    fn what_may_be_out_some_day_is_known_of_each_after_every_change() {
        let lesson = |more: Value| {
            let mut line = json!({"id": "m1", "lesson": "x"});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line
        };
        let lasting = folded(&[lesson(json!({}))]);
        let of_hook = folded(&[lesson(json!({"source": "hook"}))]);
        let mut list: CowVec<Arc<Memory>> =
            std::iter::repeat_n(lasting.clone(), CHUNK_LEN + 70).collect();
        let places = [0, 63, 64, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 69];
        let is_right = |list: &CowVec<Arc<Memory>>| {
            (0..list.len() + 1).all(|at| {
                list.may_be_inactive(at)
                    == list.get(at).is_some_and(|memory| memory.may_be_inactive())
            })
        };
        assert!(is_right(&list) && !list.may_be_inactive(0));
        for place in places {
            let frozen = list.clone();
            *list.get_mut(place).unwrap() = of_hook.clone();
            assert!(list.may_be_inactive(place) && !frozen.may_be_inactive(place));
            assert!(is_right(&list) && is_right(&frozen));
        }
        list.push(of_hook.clone());
        assert!(is_right(&list));
        list.swap_remove(0);
        assert!(is_right(&list) && list.may_be_inactive(0));
        list.resize(CHUNK_LEN, &lasting);
        assert!(is_right(&list));
    }

    #[test]
    fn where_memories_of_a_repository_lie_is_known_after_each_change() {
        let of = |repo: &str| folded(&[json!({ "id": "m1", "repo": repo, "lesson": "x" })]);
        let [api, web] = [of("api"), of("web")];
        let mut list: CowVec<Arc<Memory>> = std::iter::repeat_n(api, 2 * CHUNK_LEN + 1).collect();
        let lies = |list: &CowVec<Arc<Memory>>| {
            let stretches = list.chunks_of(&BTreeSet::from([web.repo.clone()]));
            [0, CHUNK_LEN, 2 * CHUNK_LEN, 3 * CHUNK_LEN]
                .map(|place| stretches.may_hold(u32::try_from(place).unwrap()))
        };
        assert_eq!(lies(&list), [false; 4]);
        let frozen = list.clone();
        *list.get_mut(CHUNK_LEN + 9).unwrap() = web.clone();
        assert_eq!((lies(&list), lies(&frozen)), ([false, true, false, false], [false; 4]));
        list.push(web.clone());
        assert_eq!(lies(&list), [false, true, true, false]);
        list.resize(2 * CHUNK_LEN, &web);
        assert_eq!(lies(&list), [false, true, false, false]);
    }

    proptest! {
        #[test]
        fn it_is_a_list(steps in prop::collection::vec((0..3_u8, 0..40_usize), 0..60)) {
            let (mut list, mut plain) = (CowVec::default(), Vec::new());
            for (step, number) in steps {
                match step {
                    0 => { list.push(number); plain.push(number); }
                    1 => { list.resize(number, &9); plain.resize(number, 9); }
                    _ if number < plain.len() => {
                        prop_assert_eq!(list.swap_remove(number), Some(plain.swap_remove(number)));
                    }
                    _ => prop_assert_eq!(list.swap_remove(number), None),
                }
                prop_assert_eq!(list.iter().copied().collect::<Vec<_>>(), plain.clone());
                prop_assert_eq!(list.len(), plain.len());
            }
        }
    }
}
