//! Orders the memories of each session by time, and finds the neighbours of a memory. A session
//! belongs to one repository. The order of arrival does not matter. Not here: what neighbours are
//! used for (`engine::follow`, `search`).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Memory, NEIGHBOURS_MAX, Neighbours};
use event::{EventId, RepoKey, StoreOrigin, Timestamp};

type Key = Arc<(RepoKey, Option<StoreOrigin>, String)>;
/// What tells sessions apart: nobody's memories come into the session of another origin.
type SessionName<'a> = (&'a RepoKey, Option<&'a StoreOrigin>, &'a str);
type SessionPosition = (Option<Timestamp>, EventId);

/// All sessions. Memories without a session are in none and take no room here.
#[derive(Debug, Default)]
pub struct Sessions {
    /// The memories of each session, sorted.
    sessions: HashMap<Key, Vec<(SessionPosition, u32)>>,
    places: HashMap<u32, (Key, SessionPosition)>,
}

impl Sessions {
    /// Updates the memory of a number; `None` where the number is free. Returns the memories whose
    /// neighbours changed.
    pub fn update(&mut self, number: u32, memory: Option<&Memory>) -> BTreeSet<u32> {
        let mut changed = self.take_out(number);
        if let Some((memory, name)) = memory.and_then(|memory| Some((memory, name_of(memory)?))) {
            let (key, place) = (key_of(name), place_of(memory));
            // Memories of one session share its key.
            let key = self.sessions.get_key_value(&key).map_or(key, |(known, _)| Arc::clone(known));
            let session = self.sessions.entry(Arc::clone(&key)).or_default();
            let at = session.partition_point(|(other, _)| *other < place);
            session.insert(at, (place.clone(), number));
            self.places.insert(number, (key, place));
            changed.extend(self.neighbours_of(number).numbers());
        }
        changed.remove(&number);
        changed
    }

    /// Builds the sessions of all memories at once, many times faster than one by one.
    #[must_use]
    pub fn build<'a>(memories: impl Iterator<Item = &'a Memory>) -> Self {
        let mut places_of: HashMap<SessionName<'_>, usize> = HashMap::new();
        let mut sessions: Vec<(Key, Vec<(SessionPosition, u32)>)> = Vec::new();
        let mut places = HashMap::new();
        // Adjacent memories are nearly always of one session.
        let mut last = None;
        for (number, memory) in (0..).zip(memories) {
            let Some(name) = name_of(memory) else { continue };
            let at = match last {
                Some((known, at)) if known == name => at,
                _ => *places_of.entry(name).or_insert_with(|| {
                    sessions.push((key_of(name), Vec::new()));
                    sessions.len() - 1
                }),
            };
            last = Some((name, at));
            if let Some((key, session)) = sessions.get_mut(at) {
                let place = place_of(memory);
                session.push((place.clone(), number));
                places.insert(number, (Arc::clone(key), place));
            }
        }
        sessions.iter_mut().for_each(|(_, session)| session.sort_unstable());
        Self { sessions: sessions.into_iter().collect(), places }
    }

    /// Returns the neighbours of a memory.
    #[must_use]
    pub fn neighbours_of(&self, number: u32) -> Neighbours {
        let mut neighbours = Neighbours::default();
        let Some((key, place)) = self.places.get(&number) else { return neighbours };
        let session = self.sessions.get(key).map_or(&[][..], Vec::as_slice);
        let at = session.partition_point(|(other, _)| other < place);
        for far in 1..=NEIGHBOURS_MAX {
            let number_at = |at: Option<usize>| Some(session.get(at?)?.1);
            let (before, after) = (number_at(at.checked_sub(far)), number_at(at.checked_add(far)));
            if let (Some(one), Some(other)) =
                (neighbours.before.get_mut(far - 1), neighbours.after.get_mut(far - 1))
            {
                (*one, *other) = (before, after);
            }
        }
        neighbours
    }

    fn take_out(&mut self, number: u32) -> BTreeSet<u32> {
        let neighbours: BTreeSet<u32> = self.neighbours_of(number).numbers().collect();
        let Some((key, place)) = self.places.remove(&number) else { return neighbours };
        if let Some(session) = self.sessions.get_mut(&key) {
            session.retain(|(other, held)| *held != number || *other != place);
            if session.is_empty() {
                self.sessions.remove(&key);
            }
        }
        neighbours
    }
}

/// Returns the session of a memory, if it names one. A memory of several origins is in none: each store shows another of
/// its versions, and the neighbours must be the same on all.
fn name_of(memory: &Memory) -> Option<SessionName<'_>> {
    let session = memory.provenance.session_id.as_deref().filter(|session| !session.is_empty())?;
    if !memory.copies().is_empty() {
        return None;
    }
    Some((&memory.repo, memory.provenance.log.origin.other(), session))
}

fn key_of((repo, origin, session): SessionName<'_>) -> Key {
    Arc::new((repo.clone(), origin.cloned(), session.to_owned()))
}

fn place_of(memory: &Memory) -> SessionPosition {
    (memory.timestamp, memory.id.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Fold, LinePlace};
    use super::*;
    use event::{DecodedLine, codec};

    fn memory(id: u32, second: u32, session: u32) -> Memory {
        let line = serde_json::json!({"id": format!("m{id}"), "repo": "api", "lesson": "x",
            "timestamp": format!("2026-01-01T00:00:{second:02}Z"), "session_id": format!("s{session}")});
        let DecodedLine::Event(event) = codec::decode(line.to_string().as_bytes(), "") else {
            panic!()
        };
        let origin = LinePlace::own("a", 0);
        let (mut fold, repo) = (Fold::default(), event.repo_key());
        fold.apply(*event, repo, origin);
        Memory::clone(fold.memories().get(0).unwrap())
    }

    #[test]
    fn neighbours_are_sorted_by_time_within_a_session() {
        let mut sessions = Sessions::default();
        for (number, second) in [(0, 30), (1, 10), (2, 20), (3, 50), (4, 40)] {
            sessions.update(number, Some(&memory(number, second, 1)));
        }
        sessions.update(9, Some(&memory(9, 25, 2)));
        assert_eq!(sessions.neighbours_of(0).before, [Some(2), Some(1)]);
        assert_eq!(sessions.neighbours_of(0).after, [Some(4), Some(3)]);
        assert_eq!(sessions.neighbours_of(9), Neighbours::default());
        assert_eq!(sessions.update(0, None), BTreeSet::from([1, 2, 3, 4]));
        assert_eq!(sessions.neighbours_of(2).after, [Some(4), Some(3)]);
    }

    proptest! {
        // S-RANK-5
        #[test]
        fn any_order_gives_the_same_neighbours(
            order in Just((0_u32..12).collect::<Vec<_>>()).prop_shuffle(),
            seconds in prop::collection::vec(0_u32..9, 12),
        ) {
            let one = |number: u32| {
                memory(number, seconds[usize::try_from(number).unwrap()], number % 2)
            };
            let (mut sessions, mut sorted) = (Sessions::default(), Sessions::default());
            for number in 0..12 {
                sorted.update(number, Some(&one(number)));
            }
            let mut known: HashMap<u32, Neighbours> = HashMap::new();
            for number in order {
                let changed = sessions.update(number, Some(&one(number)));
                known.insert(number, sessions.neighbours_of(number));
                for other in changed {
                    known.insert(other, sessions.neighbours_of(other));
                }
            }
            let all: Vec<Memory> = (0..12).map(one).collect();
            let at_once = Sessions::build(all.iter());
            for number in 0..12 {
                prop_assert_eq!(at_once.neighbours_of(number), sorted.neighbours_of(number));
                prop_assert_eq!(sessions.neighbours_of(number), sorted.neighbours_of(number));
                prop_assert_eq!(known[&number], sorted.neighbours_of(number));
            }
        }
    }
}
