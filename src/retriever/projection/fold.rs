//! The fold. Applying an event twice changes nothing, and any order of the same events gives the
//! same memories (tests hold it to that). Not here: indexes; the [`Effect`] tells what to index.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::{Memory, Origin, Version};
use crate::event::{Event, EventId, RepoKey};

/// All memories so far. Cloning is cheap and gives a frozen copy.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    memories: Arc<Vec<Arc<Memory>>>,
    numbers: Arc<HashMap<EventId, u32>>,
    /// Events about memories that have not come yet.
    early: Arc<HashMap<EventId, Vec<Arc<Version>>>>,
}

/// What applying an event did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// There is a new memory of this number.
    Added(u32),
    /// The memory of this number says something else now.
    Changed {
        /// Its number.
        number: u32,
        /// The repository it belonged to before.
        old_repo: RepoKey,
    },
    /// Nothing that an index would see.
    Nothing,
}

impl Fold {
    /// Applies one event. `repo` is its repository with aliases followed.
    pub fn apply(&mut self, event: Event, repo: RepoKey, origin: Origin) -> Effect {
        match (event.memory_id.clone(), self.numbers.get(&event.id).copied()) {
            (Some(memory), _) => self.apply_about(memory, Version::new(event, repo, origin)),
            (None, Some(number)) => self.apply_again(number, Version::new(event, repo, origin)),
            (None, None) => self.apply_new(event, repo, origin),
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

    /// Returns the events about memories that are not here, under the ids of those, in no order.
    pub fn early(&self) -> impl Iterator<Item = (&EventId, &[Arc<Version>])> {
        self.early.iter().map(|(id, versions)| (id, versions.as_slice()))
    }

    fn apply_new(&mut self, event: Event, repo: RepoKey, origin: Origin) -> Effect {
        let Ok(number) = u32::try_from(self.memories.len()) else { return Effect::Nothing };
        let about = match self.early.contains_key(&event.id) {
            true => Arc::make_mut(&mut self.early).remove(&event.id).unwrap_or_default(),
            false => Vec::new(),
        };
        Arc::make_mut(&mut self.numbers).insert(event.id.clone(), number);
        let memory =
            Memory { event, repo, origin, flag: OnceLock::new(), about, conflicts: Vec::new() };
        Arc::make_mut(&mut self.memories).push(Arc::new(memory));
        Effect::Added(number)
    }

    /// The same id once more: the same content (a copy, or an event sent twice), or another one (a
    /// conflict). Of several contents the first in their order wins, wherever it was read.
    fn apply_again(&mut self, number: u32, version: Version) -> Effect {
        let Some(memory) = self.memory_mut(number) else { return Effect::Nothing };
        let (shown, shown_text) = (memory.version(), memory.index_text());
        let mut all = std::mem::take(&mut memory.conflicts);
        // What is shown comes first of all, so this keeps the order.
        all.insert(0, Arc::new(shown.clone()));
        insert(&mut all, version);
        let first = Version::clone(&all.remove(0));
        memory.conflicts = all;
        let says_other = first.digest != shown.digest;
        (memory.event, memory.repo, memory.origin) = (first.event, first.repo, first.origin);
        // What is left out of the digest as harmless may still be among the words.
        let is_other = says_other || memory.index_text() != shown_text;
        if is_other {
            memory.flag = OnceLock::new();
        }
        if is_other { Effect::Changed { number, old_repo: shown.repo } } else { Effect::Nothing }
    }

    fn apply_about(&mut self, memory: EventId, version: Version) -> Effect {
        match self.numbers.get(&memory).copied() {
            Some(number) => {
                if let Some(memory) = self.memory_mut(number) {
                    insert(&mut memory.about, version);
                }
            }
            None => insert(Arc::make_mut(&mut self.early).entry(memory).or_default(), version),
        }
        Effect::Nothing
    }

    fn memory_mut(&mut self, number: u32) -> Option<&mut Memory> {
        let place = usize::try_from(number).ok()?;
        Arc::make_mut(&mut self.memories).get_mut(place).map(Arc::make_mut)
    }
}

/// Puts a version into a list that is in order. Of two that say the same, the first in that order
/// stays: the one earlier in time; of those, one that says more or less by the way (a commit, say) is
/// chosen by nothing but its content; and only where that is equal too, by where it stands.
fn insert(list: &mut Vec<Arc<Version>>, version: Version) {
    let same =
        |other: &Arc<Version>| other.digest == version.digest && other.event.id == version.event.id;
    if let Some(place) = list.iter().position(same) {
        if list.get(place).is_some_and(|standing| rank(standing, &version).is_le()) {
            return;
        }
        list.remove(place);
    }
    let place = list.partition_point(|other| rank(other, &version).is_lt());
    list.insert(place, Arc::new(version));
}

/// Compares all that two versions say before it looks at where they stand: the same lines in other
/// files, or in another order, must fold alike.
fn rank(one: &Version, other: &Version) -> Ordering {
    one.order()
        .cmp(&other.order())
        .then_with(|| one.whole().cmp(&other.whole()))
        .then_with(|| one.origin.cmp(&other.origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Decoded, Timestamp, codec};
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
        apply_from(fold, event, 0)
    }

    fn apply_from(fold: &mut Fold, event: Event, offset: u64) -> Effect {
        let repo = event.repo_key();
        let origin = Origin { log: std::path::Path::new("a.jsonl").into(), offset };
        fold.apply(event, repo, origin)
    }

    fn folded(events: impl IntoIterator<Item = Event>) -> Vec<Memory> {
        folded_from(events.into_iter().map(|event| (event, 0)))
    }

    fn folded_from(events: impl IntoIterator<Item = (Event, u64)>) -> Vec<Memory> {
        let mut fold = Fold::default();
        for (event, offset) in events {
            apply_from(&mut fold, event, offset);
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
        assert_eq!(memories, folded([event(1, 1, None), event(1, 2, None)]));
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

    fn any_events() -> impl Strategy<Value = Vec<(Event, u64)>> {
        let one = (0..5_u8, 0..3_u8, prop::option::of(0..5_u8), 0..3_i64, 0..3_u64);
        prop::collection::vec(one, 0..12).prop_map(|list| {
            let made = |(id, text, memory, second, offset)| {
                let mut event = event(id, text, memory);
                event.timestamp = Timestamp::from_second(second).ok();
                (event, offset)
            };
            list.into_iter().map(made).collect()
        })
    }

    proptest! {
        // S-READ-3
        #[test]
        fn any_order_and_any_repetition_fold_alike(events in any_events(), seed in any::<u64>()) {
            let once = folded_from(events.clone());
            let twice = folded_from(events.iter().cloned().chain(events.clone()));
            prop_assert_eq!(&once, &twice);
            let mut shuffled = events;
            shuffled.sort_by_cached_key(|event| {
                use std::hash::{Hash, Hasher};
                let mut hasher = std::hash::DefaultHasher::new();
                (seed, format!("{event:?}")).hash(&mut hasher);
                hasher.finish()
            });
            prop_assert_eq!(&once, &folded_from(shuffled));
        }
    }

    #[test]
    fn an_event_that_was_sent_twice_is_one() {
        let mut later = event(1, 0, None);
        later.timestamp = Timestamp::from_second(9).ok();
        later.commit = Some("abc".to_owned());
        let memories = folded([later, event(1, 0, None)]);
        assert!(memories[0].conflicts.is_empty());
        assert_eq!(memories[0].event.timestamp, None);
    }

    // S-DIGEST-1
    #[test]
    fn of_equals_in_time_the_one_shown_does_not_depend_on_where_it_stands() {
        let with = |commit: &str| Event { commit: Some(commit.to_owned()), ..event(1, 0, None) };
        let shown = |first: &str, second: &str| {
            let memories = folded_from([(with(first), 0), (with(second), 1)]);
            memories[0].event.commit.clone()
        };
        assert_eq!(shown("a", "b"), shown("b", "a"));
    }

    // S-DIGEST-1
    #[test]
    fn a_winner_with_other_words_is_indexed_again() {
        let said = |lesson: &str| Event { lesson: lesson.to_owned(), ..event(1, 0, None) };
        let (plain, hidden) = (said("ab"), said("a\u{202E}b"));
        let mut effects = Vec::new();
        for (first, second) in [(&plain, &hidden), (&hidden, &plain)] {
            let mut fold = Fold::default();
            apply(&mut fold, first.clone());
            effects.push(apply(&mut fold, second.clone()));
        }
        effects.retain(|effect| *effect != Effect::Nothing);
        assert!(matches!(effects[..], [Effect::Changed { .. }]), "{effects:?}");
    }

    #[test]
    fn a_content_that_wins_brings_its_repository() {
        let (one, two) = (event(1, 1, None), event(1, 2, None));
        let winner = folded([one.clone(), two.clone()])[0].event.clone();
        let (first, second) = if winner == one { (two, one) } else { (one, two) };
        let mut fold = Fold::default();
        apply(&mut fold, first.clone());
        let effect = apply(&mut fold, second);
        assert_eq!(effect, Effect::Changed { number: 0, old_repo: first.repo_key() });
        assert_eq!(fold.memories()[0].repo, winner.repo_key());
    }
}
