//! A copy-on-write list. It is stored in chunks; cloning it costs one reference count, and a later
//! change copies only the chunk that changes. Not here: the entries.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, Weak};

use super::Memory;
use event::RepoKey;

/// Entries in a chunk. While a clone exists, a change copies one chunk (a thousand pointers) and
/// the list of chunks (as many for a million entries).
const CHUNK_LEN: usize = 1_024;
const WORD_BITS: usize = u64::BITS as usize;

/// A list in chunks. A clone is a frozen copy.
#[derive(Debug, Clone, PartialEq)]
pub struct CowVec<T> {
    /// All chunks but the last are full.
    chunks: Arc<Vec<Arc<Chunk<T>>>>,
    len: usize,
}

/// A run of entries.
#[derive(Debug)]
pub(super) struct Chunk<T> {
    entries: Vec<T>,
    /// For memories: one bit for each that may become inactive, computed when first asked.
    may_be_inactive_bits: OnceLock<[u64; CHUNK_LEN / WORD_BITS]>,
    /// For memories: their repositories, computed when first asked.
    repos: OnceLock<BTreeSet<RepoKey>>,
}

/// The chunks of a list that hold memories of given repositories.
#[derive(Debug)]
pub struct RepoChunks(Vec<bool>);

impl RepoChunks {
    /// Tells whether a memory may belong to one of the repositories. Memories of one repository are
    /// mostly adjacent, so most others are excluded without reading them.
    #[must_use]
    pub fn may_hold(&self, number: u32) -> bool {
        let chunk = usize::try_from(number).map(|place| place / CHUNK_LEN);
        chunk.is_ok_and(|chunk| self.0.get(chunk).copied().unwrap_or(false))
    }
}

impl<T> Chunk<T> {
    fn new(entries: Vec<T>) -> Self {
        Self { entries, may_be_inactive_bits: OnceLock::new(), repos: OnceLock::new() }
    }

    /// Returns the entries for a change, and drops what was computed from them.
    fn entries_mut(&mut self) -> &mut Vec<T> {
        self.may_be_inactive_bits.take();
        self.repos.take();
        &mut self.entries
    }
}

/// Clones the entries only: a chunk is cloned in order to be changed.
impl<T: Clone> Clone for Chunk<T> {
    fn clone(&self) -> Self {
        Self::new(self.entries.clone())
    }
}

impl<T: PartialEq> PartialEq for Chunk<T> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

/// An empty list.
impl<T> Default for CowVec<T> {
    fn default() -> Self {
        Self { chunks: Arc::default(), len: 0 }
    }
}

impl<T> CowVec<T> {
    /// Returns an identity of this list that keeps none of it alive.
    pub(super) fn mark(&self) -> Weak<Vec<Arc<Chunk<T>>>> {
        Arc::downgrade(&self.chunks)
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns an entry.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&T> {
        self.chunks.get(place / CHUNK_LEN)?.entries.get(place % CHUNK_LEN)
    }

    /// Returns the entries in order, in chunks of the lengths that [`CowVec::chunk_lengths`] gives.
    pub fn chunks(&self) -> impl Iterator<Item = &[T]> {
        self.chunks.iter().map(|chunk| chunk.entries.as_slice())
    }

    /// Returns the chunk lengths of a list of `len` entries.
    pub fn chunk_lengths(len: usize) -> impl Iterator<Item = usize> {
        (0..len).step_by(CHUNK_LEN).map(move |start| (len - start).min(CHUNK_LEN))
    }

    /// Makes a list from its chunks. `None` where they have other lengths.
    pub(super) fn of_chunks(chunks: Vec<Vec<T>>) -> Option<Self> {
        let len = chunks.iter().map(Vec::len).sum();
        let fits = chunks.iter().map(Vec::len).eq(Self::chunk_lengths(len));
        let chunk = |entries| Arc::new(Chunk::new(entries));
        fits.then(|| Self { chunks: Arc::new(chunks.into_iter().map(chunk).collect()), len })
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.entries.iter())
    }
}

impl CowVec<Arc<Memory>> {
    /// Finds the chunks that hold memories of these repositories.
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

    /// Tells whether a memory can be inactive at any time ([`Memory::may_be_inactive`]). False
    /// where there is none. A search asks this of tens of thousands of memories that lie apart in
    /// memory, and most can not, so one bit answers it. The bits of a chunk are computed together,
    /// and anew after a change.
    #[must_use]
    pub fn may_be_inactive(&self, place: usize) -> bool {
        let Some(chunk) = self.chunks.get(place / CHUNK_LEN) else { return false };
        let at = place % CHUNK_LEN;
        chunk
            .may_be_inactive_bits()
            .get(at / WORD_BITS)
            .is_some_and(|word| word >> (at % WORD_BITS) & 1 == 1)
    }

    /// Returns the memories that [`CowVec::may_be_inactive`] tells of, with their places. All that
    /// have events about them are among them. The others are not read.
    pub fn all_that_may_be_inactive(&self) -> impl Iterator<Item = (usize, &Arc<Memory>)> {
        let chunks = self.chunks.iter().zip((0..).step_by(CHUNK_LEN));
        chunks.flat_map(|(chunk, first)| {
            let words = chunk.may_be_inactive_bits().iter().zip(chunk.entries.chunks(WORD_BITS));
            let marked =
                words.zip((first..).step_by(WORD_BITS)).filter(|((word, _), _)| **word != 0);
            marked.flat_map(|((word, memories), first)| {
                let bits = memories.iter().enumerate();
                let marked = bits.filter(move |(bit, _)| word >> bit & 1 == 1);
                marked.map(move |(bit, memory)| (first + bit, memory))
            })
        })
    }
}

impl Chunk<Arc<Memory>> {
    fn may_be_inactive_bits(&self) -> &[u64; CHUNK_LEN / WORD_BITS] {
        self.may_be_inactive_bits.get_or_init(|| {
            let mut words = [0; CHUNK_LEN / WORD_BITS];
            for (word, memories) in words.iter_mut().zip(self.entries.chunks(WORD_BITS)) {
                let bits = memories.iter().zip(0..);
                *word = bits.fold(0, |word, (memory, bit)| {
                    word | u64::from(memory.may_be_inactive()) << bit
                });
            }
            words
        })
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
                chunks.push(Arc::new(Chunk::new(entries)));
            }
        }
        self.len += 1;
    }

    /// Returns an entry for a change.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        // An index out of range must copy nothing.
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

    /// Removes an entry and puts the last one in its place.
    pub(super) fn swap_remove(&mut self, place: usize) -> Option<T> {
        self.get(place)?;
        let last = self.pop()?;
        match self.get_mut(place) {
            Some(entry) => Some(std::mem::replace(entry, last)),
            None => Some(last),
        }
    }

    /// Changes the length to `len`, filling up with copies of `entry`.
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
    fn a_change_copies_one_chunk_and_not_the_clone() {
        let mut list = long();
        let frozen = list.clone();
        *list.get_mut(0).unwrap() = 7;
        assert_eq!((frozen.get(0), list.get(0)), (Some(&0), Some(&7)));
        let is_shared = |at: usize| Arc::ptr_eq(&list.chunks[at], &frozen.chunks[at]);
        assert_eq!((is_shared(0), is_shared(1), is_shared(2)), (false, true, true));
    }

    #[test]
    fn a_list_can_be_made_from_chunks() {
        for len in [0, 1, CHUNK_LEN, CHUNK_LEN + 1] {
            let list: CowVec<usize> = (0..len).collect();
            let chunks: Vec<Vec<usize>> = list.chunks().map(<[usize]>::to_vec).collect();
            assert_eq!(CowVec::of_chunks(chunks), Some(list));
        }
        assert_eq!(CowVec::of_chunks(vec![vec![1], vec![2]]), None);
        assert_eq!(CowVec::<usize>::of_chunks(vec![Vec::new()]), None);
    }

    #[test]
    fn swap_remove_moves_the_last_entry_across_chunks() {
        let mut list = long();
        assert_eq!(list.swap_remove(3), Some(3));
        assert_eq!((list.get(3), list.len()), (Some(&(CHUNK_LEN * 2)), CHUNK_LEN * 2));
        assert_eq!(list.chunks.len(), 2);
        assert_eq!(list.swap_remove(list.len()), None);
    }

    #[test]
    fn inactive_bits_follow_every_change() {
        let lesson = |more: Value| {
            let mut line = json!({"id": "m1", "lesson": "x"});
            line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            line
        };
        let plain_memory = folded(&[lesson(json!({}))]);
        let of_hook = folded(&[lesson(json!({"source": "hook"}))]);
        let mut list: CowVec<Arc<Memory>> =
            std::iter::repeat_n(plain_memory.clone(), CHUNK_LEN + 70).collect();
        let places = [0, 63, 64, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 69];
        let is_right = |list: &CowVec<Arc<Memory>>| {
            let named: Vec<usize> =
                list.all_that_may_be_inactive().map(|(place, _)| place).collect();
            let is = |at| list.get(at).is_some_and(|memory| memory.may_be_inactive());
            named.iter().copied().eq((0..list.len()).filter(|at| is(*at)))
                && (0..list.len() + 1).all(|at| list.may_be_inactive(at) == is(at))
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
        list.resize(CHUNK_LEN, &plain_memory);
        assert!(is_right(&list));
    }

    #[test]
    fn chunks_of_a_repository_follow_every_change() {
        let of = |repo: &str| folded(&[json!({ "id": "m1", "repo": repo, "lesson": "x" })]);
        let [api, web] = [of("api"), of("web")];
        let mut list: CowVec<Arc<Memory>> = std::iter::repeat_n(api, 2 * CHUNK_LEN + 1).collect();
        let lies = |list: &CowVec<Arc<Memory>>| {
            let chunks = list.chunks_of(&BTreeSet::from([web.repo.clone()]));
            [0, CHUNK_LEN, 2 * CHUNK_LEN, 3 * CHUNK_LEN]
                .map(|place| chunks.may_hold(u32::try_from(place).unwrap()))
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
        fn it_behaves_like_a_vec(steps in prop::collection::vec((0..3_u8, 0..40_usize), 0..60)) {
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
