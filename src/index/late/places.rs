//! Where the signs of each memory's tokens are: on disk, for they would take three gigabytes for a million
//! memories. Here is only their place, and a way to say that nothing was found there. Not here: the file
//! (`index::embed::cache`), and making signs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::NoteSigns;
use memory::CowVec;

/// Where the signs of a text are, and what tells them from those of another text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The record.
    pub row: u32,
    /// A part of the hash of the text.
    pub check: u32,
}

/// What is known of the signs of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signed {
    /// They are to be made.
    #[default]
    NotYet,
    /// They are there.
    At(Place),
    /// There will be none: its text is too long.
    Never,
    /// They could not be made or kept; the next start tries again.
    Failed,
}

/// Gives signs from where they are.
pub trait Shelf: Send + Sync {
    /// Is told which signs will be asked for next, so that they can be fetched together. Does not wait for them.
    fn expect(&self, _places: &[Place]) {}

    /// Returns the signs at a place; `None` where they are not what was put there.
    fn signs(&self, place: Place) -> Option<NoteSigns>;
}

/// What is known of each memory's signs. Cloning it freezes it.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub(super) of: CowVec<Signed>,
    known: usize,
    /// Memories whose signs were not where they should be. Shared, since who finds out has a frozen copy.
    lost: Arc<Mutex<BTreeSet<u32>>>,
}

impl Places {
    /// Returns what is known of a memory.
    #[must_use]
    pub fn get(&self, number: u32) -> Signed {
        let place = usize::try_from(number).ok();
        place.and_then(|place| self.of.get(place)).copied().unwrap_or_default()
    }

    /// Notes what is known of a memory now.
    pub fn set(&mut self, number: u32, signed: Signed) {
        let was = self.get(number);
        if was == signed {
            return;
        }
        let Ok(place) = usize::try_from(number) else { return };
        if self.of.len() <= place {
            self.of.resize(place + 1, &Signed::NotYet);
        }
        if let Some(entry) = self.of.get_mut(place) {
            *entry = signed;
            self.known -= usize::from(was != Signed::NotYet);
            self.known += usize::from(signed != Signed::NotYet);
        }
    }

    /// Returns of how many memories nothing is to be made now.
    #[must_use]
    pub fn known_len(&self) -> usize {
        self.known
    }

    /// Notes that the signs of a memory were not found.
    pub fn lose(&self, number: u32) {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
    }

    /// Takes the memories whose signs were not found: they are to be made anew.
    pub fn take_lost(&mut self) -> BTreeSet<u32> {
        let lost = std::mem::take(&mut *self.lost.lock().unwrap_or_else(PoisonError::into_inner));
        let lost: BTreeSet<u32> =
            lost.into_iter().filter(|number| matches!(self.get(*number), Signed::At(_))).collect();
        lost.iter().for_each(|number| self.set(*number, Signed::NotYet));
        lost
    }
}

impl FromIterator<Signed> for Places {
    fn from_iter<I: IntoIterator<Item = Signed>>(entries: I) -> Self {
        let mut known = 0;
        let entries =
            entries.into_iter().inspect(|signed| known += usize::from(*signed != Signed::NotYet));
        let of = entries.collect();
        Self { of, known, lost: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_to_be_made_again_and_only_that() {
        let at = Signed::At(Place { row: 3, check: 4 });
        let mut places = Places::default();
        places.set(5, at);
        places.set(2, Signed::Never);
        assert_eq!((places.get(5), places.get(1), places.known_len()), (at, Signed::NotYet, 2));
        let frozen = places.clone();
        [5, 2, 9].into_iter().for_each(|number| frozen.lose(number));
        assert_eq!(places.take_lost(), BTreeSet::from([5]));
        assert_eq!(
            (places.get(5), places.get(2), places.known_len()),
            (Signed::NotYet, Signed::Never, 1)
        );
        assert!(places.take_lost().is_empty());
        assert_eq!(frozen.get(5), at);
    }
}
