//! The location of each memory's token signs. The signs themselves are on disk, since they take three gigabytes for a
//! million memories. Not here: the file (`index::embed::cache`), computing signs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::TokenSigns;
use memory::CowVec;

/// The location of a text's signs, and a check against those of another text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignLocation {
    /// The record.
    pub row: u32,
    /// A part of the hash of the text.
    pub check: u32,
}

/// The state of a memory's signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignState {
    /// They are missing.
    #[default]
    NotYet,
    /// They are stored.
    At(SignLocation),
    /// The text is too long for signs.
    Never,
    /// They could not be computed or stored; the next start tries again.
    Failed,
}

/// Reads stored signs.
pub trait SignStore: Send + Sync {
    /// Announces which signs will be read next, so that they can be fetched together. Does not wait for them.
    fn expect(&self, _places: &[SignLocation]) {}

    /// Returns the signs at a location; `None` where they are missing or damaged.
    fn signs(&self, place: SignLocation) -> Option<TokenSigns>;
}

/// The state of each memory's signs. A clone is a frozen copy.
#[derive(Debug, Clone, Default)]
pub struct SignLocations {
    pub(super) states: CowVec<SignState>,
    known: usize,
    /// Memories whose signs could not be read. Shared, since a reader with a frozen copy finds that out.
    lost: Arc<Mutex<BTreeSet<u32>>>,
}

impl SignLocations {
    /// Returns the state of a memory's signs.
    #[must_use]
    pub fn get(&self, number: u32) -> SignState {
        let place = usize::try_from(number).ok();
        place.and_then(|place| self.states.get(place)).copied().unwrap_or_default()
    }

    /// Sets the state of a memory's signs.
    pub fn set(&mut self, number: u32, signed: SignState) {
        let was = self.get(number);
        if was == signed {
            return;
        }
        let Ok(place) = usize::try_from(number) else { return };
        if self.states.len() <= place {
            self.states.resize(place + 1, &SignState::NotYet);
        }
        if let Some(entry) = self.states.get_mut(place) {
            *entry = signed;
            self.known -= usize::from(was != SignState::NotYet);
            self.known += usize::from(signed != SignState::NotYet);
        }
    }

    /// Returns the number of memories whose signs need no work now.
    #[must_use]
    pub fn known_len(&self) -> usize {
        self.known
    }

    /// Reports that the signs of a memory could not be read.
    pub fn lose(&self, number: u32) {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
    }

    /// Takes the memories whose signs could not be read, so that they are computed again.
    pub fn take_lost(&mut self) -> BTreeSet<u32> {
        let lost = std::mem::take(&mut *self.lost.lock().unwrap_or_else(PoisonError::into_inner));
        let lost: BTreeSet<u32> = lost
            .into_iter()
            .filter(|number| matches!(self.get(*number), SignState::At(_)))
            .collect();
        lost.iter().for_each(|number| self.set(*number, SignState::NotYet));
        lost
    }
}

impl FromIterator<SignState> for SignLocations {
    fn from_iter<I: IntoIterator<Item = SignState>>(entries: I) -> Self {
        let mut known = 0;
        let entries = entries
            .into_iter()
            .inspect(|signed| known += usize::from(*signed != SignState::NotYet));
        let of = entries.collect();
        Self { states: of, known, lost: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lost_signs_are_computed_again() {
        let at = SignState::At(SignLocation { row: 3, check: 4 });
        let mut places = SignLocations::default();
        places.set(5, at);
        places.set(2, SignState::Never);
        assert_eq!((places.get(5), places.get(1), places.known_len()), (at, SignState::NotYet, 2));
        let frozen = places.clone();
        [5, 2, 9].into_iter().for_each(|number| frozen.lose(number));
        assert_eq!(places.take_lost(), BTreeSet::from([5]));
        assert_eq!(
            (places.get(5), places.get(2), places.known_len()),
            (SignState::NotYet, SignState::Never, 1)
        );
        assert!(places.take_lost().is_empty());
        assert_eq!(frozen.get(5), at);
    }
}
