//! A list that is frozen by counting a reference, and of which a later change copies little: it lies in
//! chunks, and only the chunk that changes is copied while a frozen list still holds it. Not here: what
//! lies in it.

use std::sync::{Arc, Weak};

/// Entries of a chunk. Beside a frozen list a change copies one chunk, a thousand pointers, and the list
/// of chunks: as many for a million entries.
const CHUNK_LEN: usize = 1_024;

/// A list in chunks. Cloning it freezes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunked<T> {
    /// All of them full but the last.
    chunks: Arc<Vec<Arc<Vec<T>>>>,
    len: usize,
}

/// Empty.
impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Self { chunks: Arc::default(), len: 0 }
    }
}

impl<T> Chunked<T> {
    /// Returns what this very list can be known by, and which keeps none of it.
    pub(super) fn mark(&self) -> Weak<Vec<Arc<Vec<T>>>> {
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
        self.chunks.get(place / CHUNK_LEN)?.get(place % CHUNK_LEN)
    }

    /// Returns the entries in order, in chunks of the lengths that [`Chunked::lengths_of_chunks`] tells.
    pub fn chunks(&self) -> impl Iterator<Item = &[T]> {
        self.chunks.iter().map(|chunk| chunk.as_slice())
    }

    /// Returns the lengths of the chunks of a list of so many entries.
    pub fn lengths_of_chunks(len: usize) -> impl Iterator<Item = usize> {
        (0..len).step_by(CHUNK_LEN).map(move |start| (len - start).min(CHUNK_LEN))
    }

    /// Makes a list of its chunks; `None` where they have other lengths.
    pub(super) fn of_chunks(chunks: Vec<Vec<T>>) -> Option<Self> {
        let len = chunks.iter().map(Vec::len).sum();
        let fits = chunks.iter().map(Vec::len).eq(Self::lengths_of_chunks(len));
        fits.then(|| Self { chunks: Arc::new(chunks.into_iter().map(Arc::new).collect()), len })
    }

    /// Returns the entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }
}

impl<T: Clone> Chunked<T> {
    pub(super) fn push(&mut self, entry: T) {
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut().filter(|chunk| chunk.len() < CHUNK_LEN) {
            Some(chunk) => Arc::make_mut(chunk).push(entry),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK_LEN);
                chunk.push(entry);
                chunks.push(Arc::new(chunk));
            }
        }
        self.len += 1;
    }

    /// Returns an entry, to be changed.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        // A place that is none must copy nothing.
        self.get(place)?;
        let chunk = Arc::make_mut(&mut self.chunks).get_mut(place / CHUNK_LEN)?;
        Arc::make_mut(chunk).get_mut(place % CHUNK_LEN)
    }

    fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let chunks = Arc::make_mut(&mut self.chunks);
        let last = chunks.last_mut()?;
        let entry = Arc::make_mut(last).pop();
        if last.is_empty() {
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

impl<T: Clone> FromIterator<T> for Chunked<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut list = Self::default();
        entries.into_iter().for_each(|entry| list.push(entry));
        list
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn long() -> Chunked<usize> {
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
            let list: Chunked<usize> = (0..len).collect();
            let chunks: Vec<Vec<usize>> = list.chunks().map(<[usize]>::to_vec).collect();
            assert_eq!(Chunked::of_chunks(chunks), Some(list));
        }
        assert_eq!(Chunked::of_chunks(vec![vec![1], vec![2]]), None);
        assert_eq!(Chunked::<usize>::of_chunks(vec![Vec::new()]), None);
    }

    #[test]
    fn the_last_takes_the_place_of_what_is_taken_out_across_chunks() {
        let mut list = long();
        assert_eq!(list.swap_remove(3), Some(3));
        assert_eq!((list.get(3), list.len()), (Some(&(CHUNK_LEN * 2)), CHUNK_LEN * 2));
        assert_eq!(list.chunks.len(), 2);
        assert_eq!(list.swap_remove(list.len()), None);
    }

    proptest! {
        #[test]
        fn it_is_a_list(steps in prop::collection::vec((0..3_u8, 0..40_usize), 0..60)) {
            let (mut list, mut plain) = (Chunked::default(), Vec::new());
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
