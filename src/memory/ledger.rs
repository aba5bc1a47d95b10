//! The ledger of the memory bound: decides which memories are kept. The decision depends on nothing but
//! the lines. Not here: the fold (`fold`), the size of a memory (`size`).
//!
//! Memories are sorted by age, and the newest stay whose sizes add up to no more than the bound.
//! Sizes only grow while lines are read, so a memory that was once too old stays out, and the order
//! of reading does not matter. A memory that is not above the horizon (the newest age that was left
//! out) is left out at once. Two cases change the age of a memory that was already counted: an
//! older content of the same id arrives, or a memory arrives after events about it were left out.
//! Then the state is in doubt, and the logs are read once more with all ages known beforehand from
//! a [`Census`].

use std::collections::HashSet;
use std::sync::Arc;

use super::bound::{Census, IdKey, LeftOutMemories, MemoryAge, MemoryBound, WriteTime, key};
use event::{EventId, Timestamp};

/// Bytes that a left-out id takes: a key and a time in a table that is half full.
pub(super) const TRACE_BYTES: u64 = 64;

/// The number of ages found in one pass. A pass over half a million memories takes tens of
/// milliseconds, and one pass serves many removals.
const OLDEST_LEN: usize = 4_096;

/// Whether an event is kept or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    LeftOut,
}

/// The state of the bound: what is kept, what was left out, and the horizon between them.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    bound: MemoryBound,
    /// Bytes of all kept memories, and of the traces of those left out.
    held_bytes: u64,
    /// The greatest age that was left out.
    horizon: Option<MemoryAge>,
    /// The memories that were left out, with their earliest known times.
    left_out: LeftOutMemories,
    /// Unknown memories whose events were left out.
    orphaned: Arc<HashSet<IdKey>>,
    /// The least ages, the greatest of them first. Empty when they must be looked up.
    oldest: Arc<Vec<MemoryAge>>,
    census: Option<Arc<Census>>,
    is_in_doubt: bool,
}

impl Ledger {
    pub(super) fn new(bound: MemoryBound, census: Option<Arc<Census>>) -> Self {
        Self { bound, census, ..Self::default() }
    }

    pub(super) fn bound(&self) -> MemoryBound {
        self.bound
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Builds a ledger from a checkpoint.
    pub(super) fn restored(
        bound: MemoryBound,
        held_bytes: u64,
        horizon: Option<MemoryAge>,
        left_out: Vec<(IdKey, Option<Timestamp>)>,
        orphaned: HashSet<IdKey>,
    ) -> Self {
        let mut ledger = Self { bound, held_bytes, horizon, ..Self::default() };
        for (key, timestamp) in left_out {
            ledger.left_out.insert(key, timestamp);
        }
        ledger.orphaned = Arc::new(orphaned);
        ledger
    }

    pub(super) fn horizon(&self) -> Option<&MemoryAge> {
        self.horizon.as_ref()
    }

    pub(super) fn orphaned(&self) -> &HashSet<IdKey> {
        &self.orphaned
    }

    /// Returns the memories that were left out.
    pub(super) fn left_out(&self) -> &LeftOutMemories {
        &self.left_out
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        self.is_in_doubt
    }

    /// Drops the census, since all lines it covers have been read.
    pub(super) fn drop_census(&mut self) {
        self.census = None;
    }

    pub(super) fn exceeds_bound(&self, slack_bytes: u64) -> bool {
        self.held_bytes > self.bound.bytes_max.saturating_add(slack_bytes)
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.held_bytes = self.held_bytes.saturating_add(bytes);
    }

    /// Counts `is_bytes` in place of `was_bytes`.
    pub(super) fn change_bytes(&mut self, was_bytes: u64, is_bytes: u64) {
        self.held_bytes = self.held_bytes.saturating_sub(was_bytes).saturating_add(is_bytes);
    }

    /// Returns the age of a memory whose earliest line so far is from `timestamp`.
    pub(super) fn age(&self, id: &EventId, timestamp: Option<Timestamp>) -> MemoryAge {
        MemoryAge { when: Some(self.when(id, timestamp)), id: id.clone() }
    }

    /// Returns the age of events about an unknown memory.
    pub(super) fn age_of_orphans(&self, about: &EventId) -> MemoryAge {
        MemoryAge { when: self.known(about), id: about.clone() }
    }

    fn when(&self, id: &EventId, timestamp: Option<Timestamp>) -> Option<Timestamp> {
        self.known(id).map_or(timestamp, |known| known.min(timestamp))
    }

    fn known(&self, id: &EventId) -> WriteTime {
        self.census.as_ref().and_then(|census| census.earliest.get(&key(id)).copied())
    }

    /// Decides whether a new memory is kept.
    pub(super) fn admit(&mut self, age: MemoryAge) -> Admission {
        if self.horizon.is_none() {
            self.note_age(age);
            return Admission::Admitted;
        }
        let key = key(&age.id);
        if let Some(known) = self.left_out.get(&key) {
            let is = age.when.flatten();
            if is < known {
                // While it was believed to be newer, it took room from others.
                self.is_in_doubt = true;
                self.left_out.insert(key, is);
            }
            return Admission::LeftOut;
        }
        let is_above = self.is_above_horizon(&age);
        if self.orphaned.contains(&key) {
            // With its age known in time, the events about it would have been kept.
            self.is_in_doubt |= is_above;
            Arc::make_mut(&mut self.orphaned).remove(&key);
            self.held_bytes = self.held_bytes.saturating_sub(TRACE_BYTES);
        }
        if is_above {
            self.note_age(age);
            return Admission::Admitted;
        }
        self.remember_left_out(&age);
        Admission::LeftOut
    }

    /// Decides whether an event about an unknown memory is kept.
    pub(super) fn admit_orphan(&mut self, about: &EventId, is_first: IsFirst) -> Admission {
        if self.horizon.is_none() {
            return Admission::Admitted;
        }
        let key = key(about);
        if self.left_out.get(&key).is_some() || self.orphaned.contains(&key) {
            return Admission::LeftOut;
        }
        let age = self.age_of_orphans(about);
        if self.is_above_horizon(&age) {
            if is_first == IsFirst::Yes {
                self.note_age(age);
            }
            return Admission::Admitted;
        }
        self.remember_left_out(&age);
        Admission::LeftOut
    }

    /// Records that a kept memory is older than it seemed.
    pub(super) fn change_age(&mut self, was: &MemoryAge, is: MemoryAge) {
        if was == &is {
            return;
        }
        let oldest = Arc::make_mut(&mut self.oldest);
        if let Ok(place) = oldest.binary_search_by(|age| was.cmp(age)) {
            oldest.remove(place);
        }
        self.is_in_doubt |= !self.is_above_horizon(&is);
        self.note_age(is);
    }

    /// Takes the least age. `None` means that it must be looked up first.
    pub(super) fn pop_oldest(&mut self) -> Option<MemoryAge> {
        Arc::make_mut(&mut self.oldest).pop()
    }

    /// Looks up the least ages among all memories and all unknown memories that only have events
    /// about them. False where there is nothing.
    pub(super) fn look_up<'a>(
        &mut self,
        memories: impl Iterator<Item = (&'a EventId, Option<Timestamp>)>,
        orphaned: impl Iterator<Item = &'a EventId>,
    ) -> bool {
        let mut all: Vec<(WriteTime, &EventId)> =
            memories.map(|(id, timestamp)| (Some(self.when(id, timestamp)), id)).collect();
        all.extend(orphaned.map(|about| (self.known(about), about)));
        if all.len() > OLDEST_LEN {
            all.select_nth_unstable(OLDEST_LEN);
            all.truncate(OLDEST_LEN);
        }
        all.sort_unstable_by(|one, other| other.cmp(one));
        let oldest = all.into_iter().map(|(when, id)| MemoryAge { when, id: id.clone() }).collect();
        self.oldest = Arc::new(oldest);
        !self.oldest.is_empty()
    }

    /// Leaves out a memory that took `bytes`.
    pub(super) fn leave_out(&mut self, age: MemoryAge, bytes: u64) {
        self.held_bytes = self.held_bytes.saturating_sub(bytes);
        self.remember_left_out(&age);
        self.horizon = Some(age).max(self.horizon.take());
    }

    fn remember_left_out(&mut self, age: &MemoryAge) {
        let is_new = match age.when {
            Some(when) => self.left_out.insert(key(&age.id), when).is_none(),
            None => Arc::make_mut(&mut self.orphaned).insert(key(&age.id)),
        };
        if is_new {
            self.add(TRACE_BYTES);
        }
    }

    fn is_above_horizon(&self, age: &MemoryAge) -> bool {
        self.horizon.as_ref().is_none_or(|horizon| age > horizon)
    }

    /// Adds an age to the list of least ages, if it belongs there.
    fn note_age(&mut self, age: MemoryAge) {
        if self.oldest.first().is_some_and(|greatest| age < *greatest) {
            let oldest = Arc::make_mut(&mut self.oldest);
            let place = oldest.partition_point(|other| *other > age);
            oldest.insert(place, age);
        }
    }
}

/// Whether an event is the first one about its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IsFirst {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Option<Timestamp> {
        Timestamp::from_second(second).ok()
    }

    fn id(text: &str) -> EventId {
        EventId::foreign(text).unwrap()
    }

    /// A ledger that left out everything not newer than second 5.
    fn ledger(census: Option<Census>) -> Ledger {
        let bound = MemoryBound { bytes_max: 100, vector_bytes: 0 };
        let mut ledger = Ledger::new(bound, census.map(Arc::new));
        let age = ledger.age(&id("five"), at(5));
        ledger.add(200);
        ledger.leave_out(age, 150);
        ledger
    }

    // S-BOUND-2
    #[test]
    fn no_time_is_oldest_and_ids_break_ties() {
        let ledger = Ledger::default();
        let mut ages = [
            ledger.age(&id("b"), at(1)),
            ledger.age(&id("a"), at(1)),
            ledger.age(&id("z"), None),
            ledger.age_of_orphans(&id("zz")),
            ledger.age(&id("c"), at(-7)),
        ];
        ages.sort();
        let order: Vec<&str> = ages.iter().map(|age| age.id.as_str()).collect();
        assert_eq!(order, ["zz", "z", "c", "a", "b"]);
    }

    // S-BOUND-2
    #[test]
    fn a_memory_below_the_horizon_is_left_out_once() {
        let mut ledger = ledger(None);
        assert_eq!(ledger.held_bytes(), 50 + TRACE_BYTES);
        for _ in 0..2 {
            let old = ledger.age(&id("old"), at(4));
            assert_eq!(ledger.admit(old), Admission::LeftOut);
            assert_eq!((ledger.left_out().len(), ledger.held_bytes()), (2, 50 + 2 * TRACE_BYTES));
        }
        let new = ledger.age(&id("new"), at(6));
        assert_eq!(ledger.admit(new), Admission::Admitted);
        let is_out = |text: &str| ledger.left_out().get(&key(&id(text))).is_some();
        assert!(is_out("old") && !is_out("new"));
        assert!(!ledger.is_in_doubt());
    }

    // S-BOUND-2
    #[test]
    fn an_older_content_puts_the_state_in_doubt() {
        for older in [Some(4), None] {
            let mut newer = ledger(None);
            let (was, is) = (newer.age(&id("m"), at(9)), newer.age(&id("m"), older.and_then(at)));
            newer.change_age(&was, is);
            assert!(newer.is_in_doubt(), "a kept memory");
        }
        let mut removed = ledger(None);
        let again = removed.age(&id("five"), at(5));
        assert_eq!((removed.admit(again), removed.is_in_doubt()), (Admission::LeftOut, false));
        let older = removed.age(&id("five"), at(3));
        assert_eq!((removed.admit(older), removed.is_in_doubt()), (Admission::LeftOut, true));
        let mut still_newer = ledger(None);
        let (was, is) = (still_newer.age(&id("m"), at(9)), still_newer.age(&id("m"), at(6)));
        still_newer.change_age(&was, is);
        assert!(!still_newer.is_in_doubt(), "it took no room from others");
    }

    // S-BOUND-2
    #[test]
    fn a_late_memory_is_in_doubt_only_if_it_is_kept() {
        for (second, is_in_doubt) in [(4, false), (6, true)] {
            let mut ledger = ledger(None);
            assert_eq!(ledger.admit_orphan(&id("late"), IsFirst::Yes), Admission::LeftOut);
            let age = ledger.age(&id("late"), at(second));
            ledger.admit(age);
            assert_eq!(ledger.is_in_doubt(), is_in_doubt);
        }
        let mut census = Census::default();
        census.earliest.insert(key(&id("late")), at(6));
        let mut known = ledger(Some(census));
        assert_eq!(known.admit_orphan(&id("late"), IsFirst::Yes), Admission::Admitted);
    }

    // S-BOUND-2
    #[test]
    fn the_oldest_age_is_popped_first() {
        let ids: Vec<EventId> =
            (0..OLDEST_LEN + 10).map(|number| id(&format!("m{number}"))).collect();
        let mut ledger = Ledger::default();
        let memories = ids.iter().zip((0_i64..).map(at));
        assert!(ledger.look_up(memories, std::iter::empty()));
        assert_eq!(ledger.oldest.len(), OLDEST_LEN);
        // A new age that is older than some of them is found among them.
        let age = ledger.age(&id("early"), at(1));
        ledger.admit(age);
        let first: Vec<String> =
            (0..3).filter_map(|_| Some(ledger.pop_oldest()?.id.to_string())).collect();
        assert_eq!(first, ["m0", "early", "m1"]);
    }
}
