//! The fold. Applying an event twice changes nothing, and any order of the same events gives the
//! same memories (tests hold it to that). Not here: indexes; the [`Effect`] tells what to index.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Memory, Origin};
use crate::event::{Event, EventId, RepoKey};

/// All memories so far. Cloning is cheap and gives a frozen copy.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    memories: Arc<Vec<Arc<Memory>>>,
    numbers: Arc<HashMap<EventId, u32>>,
    /// Events about memories that have not come yet.
    early: Arc<HashMap<EventId, Vec<Event>>>,
}

/// What applying an event did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// There is a new memory of this number.
    Added(u32),
    /// The memory of this number says something else now.
    Changed(u32),
    /// Nothing that an index would see.
    Nothing,
}

impl Fold {
    /// Applies one event. `repo` is its repository with aliases followed.
    pub fn apply(&mut self, event: Event, repo: RepoKey, origin: Origin) -> Effect {
        match event.memory_id.clone() {
            Some(memory) => self.apply_about(&memory, event),
            None => self.apply_memory(event, repo, origin),
        }
    }

    /// Returns the memories; a memory's place is its number.
    #[must_use]
    pub fn memories(&self) -> &Arc<Vec<Arc<Memory>>> {
        &self.memories
    }

    /// Returns how many events are about memories that are not here.
    #[must_use]
    pub fn early_len(&self) -> usize {
        self.early.values().map(Vec::len).sum()
    }

    fn apply_memory(&mut self, event: Event, repo: RepoKey, origin: Origin) -> Effect {
        if let Some(number) = self.numbers.get(&event.id).copied() {
            return self.apply_again(number, event, repo, origin);
        }
        let Ok(number) = u32::try_from(self.memories.len()) else { return Effect::Nothing };
        let about = Arc::make_mut(&mut self.early).remove(&event.id).unwrap_or_default();
        Arc::make_mut(&mut self.numbers).insert(event.id.clone(), number);
        let memory = Memory { event, repo, origin, about, conflicts: Vec::new() };
        Arc::make_mut(&mut self.memories).push(Arc::new(memory));
        Effect::Added(number)
    }

    /// The same id once more: the same line (a copy), or another content (a conflict). Of several
    /// contents the smallest wins, wherever it was read, so that every machine agrees.
    fn apply_again(&mut self, number: u32, event: Event, repo: RepoKey, origin: Origin) -> Effect {
        let Some(memory) = self.memory_mut(number) else { return Effect::Nothing };
        if memory.event == event || memory.conflicts.contains(&event) {
            return Effect::Nothing;
        }
        let wins = order(&event) < order(&memory.event);
        let loser = if wins {
            (memory.repo, memory.origin) = (repo, origin);
            std::mem::replace(&mut memory.event, event)
        } else {
            event
        };
        memory.conflicts.push(loser);
        memory.conflicts.sort_by_cached_key(order);
        if wins { Effect::Changed(number) } else { Effect::Nothing }
    }

    fn apply_about(&mut self, memory: &EventId, event: Event) -> Effect {
        let list = match self.numbers.get(memory).copied() {
            Some(number) => self.memory_mut(number).map(|memory| &mut memory.about),
            None => Some(Arc::make_mut(&mut self.early).entry(memory.clone()).or_default()),
        };
        if let Some(list) = list
            && !list.contains(&event)
        {
            list.push(event);
            list.sort_by_cached_key(order);
        }
        Effect::Nothing
    }

    fn memory_mut(&mut self, number: u32) -> Option<&mut Memory> {
        let place = usize::try_from(number).ok()?;
        Arc::make_mut(&mut self.memories).get_mut(place).map(Arc::make_mut)
    }
}

/// A total order of events that depends on nothing but what they say.
fn order(event: &Event) -> (EventId, String) {
    (event.id.clone(), format!("{event:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Decoded, codec};
    use proptest::prelude::*;

    fn event(id: u8, text: u8, memory: Option<u8>) -> Event {
        let mut json = serde_json::json!({
            "id": format!("e{id}"), "lesson": format!("lesson {text}"), "repo": format!("repo{text}"),
        });
        if let Some(memory) = memory {
            json["memory_id"] = format!("e{memory}").into();
        }
        match codec::decode(json.to_string().as_bytes(), "api") {
            Decoded::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    fn apply(fold: &mut Fold, event: Event) -> Effect {
        let repo = event.repo_key();
        let origin = Origin { log: std::path::Path::new("a.jsonl").into(), offset: 0 };
        fold.apply(event, repo, origin)
    }

    fn folded(events: impl IntoIterator<Item = Event>) -> Vec<Memory> {
        let mut fold = Fold::default();
        for event in events {
            apply(&mut fold, event);
        }
        let mut memories: Vec<Memory> =
            fold.memories().iter().map(|memory| (**memory).clone()).collect();
        memories.sort_by(|a, b| a.event.id.cmp(&b.event.id));
        memories
    }

    // S-LINE-6
    #[test]
    fn an_event_about_a_memory_is_kept_with_it_even_when_it_comes_first() {
        let memories = folded([event(9, 0, Some(1)), event(1, 0, None)]);
        assert_eq!(memories.len(), 1);
        assert_eq!(memories[0].about.len(), 1);
    }

    // S-READ-3
    #[test]
    fn two_contents_of_one_id_are_both_kept() {
        let memories = folded([event(1, 2, None), event(1, 1, None)]);
        assert_eq!(memories[0].event.lesson, "lesson 1");
        assert_eq!(memories[0].repo.as_str(), "repo1");
        assert_eq!(memories[0].conflicts.len(), 1);
    }

    // S-READ-4
    #[test]
    fn a_snapshot_is_not_disturbed_by_later_events() {
        let mut fold = Fold::default();
        apply(&mut fold, event(1, 0, None));
        let frozen = fold.clone();
        assert_eq!(apply(&mut fold, event(2, 0, None)), Effect::Added(1));
        assert_eq!((frozen.memories().len(), fold.memories().len()), (1, 2));
    }

    fn any_events() -> impl Strategy<Value = Vec<Event>> {
        let one = (0..5_u8, 0..3_u8, prop::option::of(0..5_u8));
        prop::collection::vec(one, 0..12).prop_map(|list| {
            list.into_iter().map(|(id, text, memory)| event(id, text, memory)).collect()
        })
    }

    proptest! {
        // S-READ-3
        #[test]
        fn any_order_and_any_repetition_fold_alike(events in any_events(), seed in any::<u64>()) {
            let once = folded(events.clone());
            let twice = folded(events.iter().cloned().chain(events.clone()));
            prop_assert_eq!(&once, &twice);
            let mut shuffled = events;
            shuffled.sort_by_cached_key(|event| {
                use std::hash::{Hash, Hasher};
                let mut hasher = std::hash::DefaultHasher::new();
                (seed, format!("{event:?}")).hash(&mut hasher);
                hasher.finish()
            });
            prop_assert_eq!(&once, &folded(shuffled));
        }
    }
}
