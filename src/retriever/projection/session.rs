//! Which memories were learned side by side: those of one session of one repository, in the order of
//! time. Independent of the order they come in. Not here: what that is used for (`follow`, `search`).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Memory;
use crate::event::{EventId, RepoKey, Timestamp};

/// How far to each side a neighbour is near. Measured on dialogue: two turns each way.
pub const NEAR_MAX: usize = 2;

/// The memories nearest to one in its session, by distance: before it and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Near {
    /// The numbers of those before it, the next one first.
    pub before: [Option<u32>; NEAR_MAX],
    /// The numbers of those after it, the next one first.
    pub after: [Option<u32>; NEAR_MAX],
}

impl Near {
    /// All of them, in the order of time.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        let before = self.before.iter().rev().flatten();
        before.chain(self.after.iter().flatten()).copied()
    }

    /// Each with its distance: one for the next.
    pub fn with_distance(&self) -> impl Iterator<Item = (usize, u32)> {
        let sides = [self.before, self.after].into_iter();
        sides.flat_map(|side| (1..).zip(side).filter_map(|(far, number)| Some((far, number?))))
    }
}

type Key = Arc<(RepoKey, String)>;
type Place = (Option<Timestamp>, EventId);

/// The sessions so far. Memories that name none are in none and cost nothing here.
#[derive(Debug, Default)]
pub struct Sessions {
    /// The memories of each session, in order.
    sessions: HashMap<Key, Vec<(Place, u32)>>,
    places: HashMap<u32, (Key, Place)>,
}

impl Sessions {
    /// Takes in what is known under a number now, `None` where it is free. Returns the memories whose
    /// neighbours are others than before.
    pub fn note(&mut self, number: u32, memory: Option<&Memory>) -> BTreeSet<u32> {
        let mut touched = self.take_out(number);
        if let Some((key, place)) = memory.and_then(place_of) {
            // Memories of one session share its key.
            let key = self.sessions.get_key_value(&key).map_or(key, |(known, _)| Arc::clone(known));
            let session = self.sessions.entry(Arc::clone(&key)).or_default();
            let at = session.partition_point(|(other, _)| *other < place);
            session.insert(at, (place.clone(), number));
            self.places.insert(number, (key, place));
            touched.extend(self.near(number).numbers());
        }
        touched.remove(&number);
        touched
    }

    /// The sessions of all memories, made at once: many times faster than one by one.
    #[must_use]
    pub fn of<'a>(memories: impl Iterator<Item = &'a Memory>) -> Self {
        let mut made = Self::default();
        for (number, memory) in (0..).zip(memories) {
            if let Some((key, place)) = place_of(memory) {
                let known = made.sessions.get_key_value(&key);
                let key = known.map_or(key, |(known, _)| Arc::clone(known));
                made.sessions.entry(Arc::clone(&key)).or_default().push((place.clone(), number));
                made.places.insert(number, (key, place));
            }
        }
        made.sessions.values_mut().for_each(|session| session.sort_unstable());
        made
    }

    /// Returns the neighbours of a memory.
    #[must_use]
    pub fn near(&self, number: u32) -> Near {
        let mut near = Near::default();
        let Some((key, place)) = self.places.get(&number) else { return near };
        let session = self.sessions.get(key).map_or(&[][..], Vec::as_slice);
        let at = session.partition_point(|(other, _)| other < place);
        for far in 1..=NEAR_MAX {
            let number_at = |at: Option<usize>| Some(session.get(at?)?.1);
            let (before, after) = (number_at(at.checked_sub(far)), number_at(at.checked_add(far)));
            if let (Some(one), Some(other)) =
                (near.before.get_mut(far - 1), near.after.get_mut(far - 1))
            {
                (*one, *other) = (before, after);
            }
        }
        near
    }

    fn take_out(&mut self, number: u32) -> BTreeSet<u32> {
        let near: BTreeSet<u32> = self.near(number).numbers().collect();
        let Some((key, place)) = self.places.remove(&number) else { return near };
        if let Some(session) = self.sessions.get_mut(&key) {
            session.retain(|(other, held)| *held != number || *other != place);
            if session.is_empty() {
                self.sessions.remove(&key);
            }
        }
        near
    }
}

fn place_of(memory: &Memory) -> Option<(Key, Place)> {
    let session = memory.setting.session_id.as_ref().filter(|session| !session.is_empty())?;
    let key = Arc::new((memory.repo.clone(), session.clone()));
    Some((key, (memory.timestamp, memory.id.clone())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Fold, Origin};
    use super::*;
    use crate::event::{Decoded, codec};

    fn memory(id: u32, second: u32, session: u32) -> Memory {
        let line = serde_json::json!({"id": format!("m{id}"), "repo": "api", "lesson": "x",
            "timestamp": format!("2026-01-01T00:00:{second:02}Z"), "session_id": format!("s{session}")});
        let Decoded::Event(event) = codec::decode(line.to_string().as_bytes(), "") else {
            panic!()
        };
        let origin = Origin { log: std::path::Path::new("a").into(), offset: 0 };
        let (mut fold, repo) = (Fold::default(), event.repo_key());
        fold.apply(*event, repo, origin);
        Memory::clone(fold.memories().get(0).unwrap())
    }

    #[test]
    fn neighbours_are_those_of_the_session_in_the_order_of_time() {
        let mut sessions = Sessions::default();
        for (number, second) in [(0, 30), (1, 10), (2, 20), (3, 50), (4, 40)] {
            sessions.note(number, Some(&memory(number, second, 1)));
        }
        sessions.note(9, Some(&memory(9, 25, 2)));
        assert_eq!(sessions.near(0).before, [Some(2), Some(1)]);
        assert_eq!(sessions.near(0).after, [Some(4), Some(3)]);
        assert_eq!(sessions.near(9), Near::default());
        assert_eq!(sessions.note(0, None), BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(sessions.near(2).after, [Some(4), Some(3)]);
    }

    proptest! {
        // S-RANK-5
        #[test]
        fn any_order_gives_the_same_neighbours_and_tells_whose_changed(
            order in Just((0_u32..12).collect::<Vec<_>>()).prop_shuffle(),
            seconds in prop::collection::vec(0_u32..9, 12),
        ) {
            let one = |number: u32| {
                memory(number, seconds[usize::try_from(number).unwrap()], number % 2)
            };
            let (mut sessions, mut sorted) = (Sessions::default(), Sessions::default());
            for number in 0..12 {
                sorted.note(number, Some(&one(number)));
            }
            let mut known: HashMap<u32, Near> = HashMap::new();
            for number in order {
                let touched = sessions.note(number, Some(&one(number)));
                known.insert(number, sessions.near(number));
                for other in touched {
                    known.insert(other, sessions.near(other));
                }
            }
            let all: Vec<Memory> = (0..12).map(one).collect();
            let at_once = Sessions::of(all.iter());
            for number in 0..12 {
                prop_assert_eq!(at_once.near(number), sorted.near(number));
                prop_assert_eq!(sessions.near(number), sorted.near(number));
                prop_assert_eq!(known[&number], sorted.near(number));
            }
        }
    }
}
