//! The place in which events were learned. The store remembers it once the first of them is written, so that a refused event leaves
//! nothing, and the first one of a new store is remembered as well. Not here: what is remembered (`store::place_record`).

use std::sync::Once;

use event::Timestamp;
use place::Place;
use store::Store;

/// A place that the store may remember.
#[derive(Debug)]
pub(crate) struct ServedPlace {
    place: Place,
    remembering: Once,
}

impl ServedPlace {
    /// Makes it of a place.
    pub(crate) fn new(place: Place) -> Self {
        Self { place, remembering: Once::new() }
    }

    /// Lets the store remember which repository the place is, once for all events of a batch.
    pub(crate) fn remember(&self, store: &Store, now: Timestamp) {
        self.remembering.call_once(|| store.remember_place(&self.place, now));
    }
}
