//! The fold: applies events to memories. Applying an event twice changes nothing, and any order of
//! the same events gives the same memories (property tests check both). Not here: indexes; the
//! [`Effect`] says what to index.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::bound::MemoryAge;
use super::ledger::{Admission, IsFirst, Ledger};
use super::memory::{RelatedEvents, index_text, record_of};
use super::texts::RecordTexts;
use super::version::{drop_surplus_events, insert_version, keep_first_contents};
use super::{Census, CowVec, FrozenFold, LinePlace, Lookup, Memory, MemoryBound, Version, size};
use event::{Event, EventId, RepoKey, is_code};

/// All memories folded so far.
#[derive(Debug, Default)]
pub struct Fold {
    pub(super) memories: CowVec<Arc<Memory>>,
    /// Empty in a fold that was read from a checkpoint, until [`Fold::set_lookup`].
    pub(super) lookup: Lookup,
    /// Events about unknown memories.
    pub(super) orphans: Orphans,
    pub(super) ledger: Ledger,
    pub(super) texts: RecordTexts,
}

/// Events about unknown memories, by the id of the memory.
pub(super) type Orphans = Arc<HashMap<EventId, Vec<Arc<Version>>>>;

/// The effect of applying an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A new memory was added under this number.
    Added(u32),
    /// The content of this memory changed.
    Changed {
        /// Its number.
        number: u32,
        /// The repository it belonged to before.
        old_repo: RepoKey,
    },
    /// A memory was removed.
    Removed(RemovedMemory),
    /// Several of these, one after the other.
    Several(Vec<Effect>),
    /// No index has to change.
    Nothing,
}

/// A memory that was removed to stay within the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedMemory {
    /// The number it had.
    pub number: u32,
    /// The repository it belonged to.
    pub repo: RepoKey,
    /// The old number of the memory that has this number now. The last memory moves into each gap.
    pub moved_from: Option<u32>,
}

impl Fold {
    /// Makes an empty fold with a bound. `census` gives the ages of all lines to come, where they
    /// are known.
    #[must_use]
    pub fn within(bound: MemoryBound, census: Option<Arc<Census>>) -> Self {
        Self { ledger: Ledger::new(bound, census), ..Self::default() }
    }

    /// Applies one event. `repo` is its repository with aliases resolved. The fold may exceed the
    /// bound until [`Fold::trim`].
    pub fn apply(&mut self, event: Event, repo: RepoKey, place: LinePlace) -> Effect {
        match (event.memory_id.clone(), self.number_of(&event.id)) {
            (Some(memory), _) => self.apply_about(&memory, Version::new(event, repo, place)),
            (None, Some(number)) => {
                let version = Version::new(event, repo, place);
                match self.is_of_one_origin(number, &version) {
                    true => self.apply_again(number, version),
                    false => self.apply_to_shared_id(version),
                }
            }
            (None, None) => self.apply_new(event, repo, place),
        }
    }

    /// Removes the oldest memories until the bound is met, if it is exceeded by more than
    /// `slack_bytes`. Returns them in the order in which their numbers changed.
    pub fn trim(&mut self, slack_bytes: u64) -> Vec<RemovedMemory> {
        let mut removed = Vec::new();
        if !self.ledger.exceeds_bound(slack_bytes) {
            return removed;
        }
        while self.ledger.exceeds_bound(0) {
            match self.ledger.pop_oldest() {
                Some(age) => removed.extend(self.leave_out(age)),
                None if self.look_up_oldest() => {}
                None => break,
            }
        }
        if self.texts.needs_compaction() {
            self.compact();
        }
        removed
    }

    /// Returns the memories. A memory's index is its number.
    #[must_use]
    pub fn memories(&self) -> &CowVec<Arc<Memory>> {
        &self.memories
    }

    /// Sets the lookup tables, which a fold read from a checkpoint lacks. They are needed before an
    /// event is applied or a memory is removed.
    pub fn set_lookup(&mut self, lookup: Lookup) {
        self.lookup = lookup;
    }

    /// Tells whether the fold exceeds the bound and some slack.
    #[must_use]
    pub fn exceeds_bound(&self, slack_bytes: u64) -> bool {
        self.ledger.exceeds_bound(slack_bytes)
    }

    /// Returns a frozen copy of the present state.
    #[must_use]
    pub fn frozen(&self) -> FrozenFold {
        FrozenFold {
            memories: self.memories.clone(),
            orphans: Arc::clone(&self.orphans),
            bound: self.ledger.bound(),
            held_bytes: self.ledger.held_bytes(),
            left_out: self.ledger.left_out().clone(),
            damage_flag: self.texts.damage_flag().clone(),
        }
    }

    /// Returns the number of events about unknown memories. Events about a place in code do not
    /// count.
    #[must_use]
    pub fn orphans_len(&self) -> usize {
        let of_memories = self.orphans.iter().filter(|(about, _)| !is_code(about));
        of_memories.map(|(_, versions)| versions.len()).sum()
    }

    /// Tells whether a record could not be read. Then all logs must be read again.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.texts.damage_flag().is_reported()
    }

    /// Tells whether another order of the lines could have kept other memories. Then all logs must
    /// be read again with a [`Census`].
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.ledger.is_in_doubt()
    }

    /// Drops the census, when all lines it covers have been applied.
    pub fn drop_census(&mut self) {
        self.ledger.drop_census();
    }

    fn apply_new(&mut self, event: Event, repo: RepoKey, place: LinePlace) -> Effect {
        let age = self.ledger.age(&event.id, event.timestamp);
        if self.ledger.admit(age) == Admission::LeftOut {
            return Effect::Nothing;
        }
        let bytes = size::of_empty_memory(self.ledger.bound()) + size::of_event(&event);
        self.ledger.add(bytes);
        let about = match self.orphans.contains_key(&event.id) {
            true => Arc::make_mut(&mut self.orphans).remove(&event.id).unwrap_or_default(),
            false => Vec::new(),
        };
        self.push(event, repo, place, RelatedEvents::new(about, Vec::new()))
    }

    /// Adds a memory under a new number.
    pub(super) fn push(
        &mut self,
        event: Event,
        repo: RepoKey,
        place: LinePlace,
        related: RelatedEvents,
    ) -> Effect {
        let Ok(number) = u32::try_from(self.memories.len()) else { return Effect::Nothing };
        self.lookup.numbers.add(&event.id, number);
        let text = self.texts.add(&record_of(&event));
        let place = (self.lookup.provenances.intern_event(&event, place.log), place.offset);
        let head = (event.id, event.timestamp, event.success_rate);
        self.memories.push(Arc::new(Memory::new(head, repo, place, text, related)));
        Effect::Added(number)
    }

    /// Applies an event whose id is known: the same content (a copy, or an event sent twice) or
    /// another one (a conflict). Of several contents the first in their order is shown, wherever it
    /// was read.
    fn apply_again(&mut self, number: u32, version: Version) -> Effect {
        let Some(memory) = self.memory(number) else { return Effect::Nothing };
        let shown = memory.version();
        let mut all = memory.conflicts().to_vec();
        // The shown version sorts before all others, so this keeps the order.
        all.insert(0, Arc::new(shown.clone()));
        let was_bytes = size::of_versions(&all);
        insert_version(&mut all, Arc::new(version));
        keep_first_contents(&mut all);
        self.ledger.change_bytes(was_bytes, size::of_versions(&all));
        let first = Version::clone(&all.remove(0));
        let was = self.ledger.age(&shown.event.id, shown.event.timestamp);
        let is = self.ledger.age(&shown.event.id, first.event.timestamp);
        self.ledger.change_age(&was, is);
        let related = RelatedEvents::new(memory.about().to_vec(), all);
        self.show(number, first, related)
    }

    /// Shows a version under a number, with these related events.
    pub(super) fn show(&mut self, number: u32, first: Version, related: RelatedEvents) -> Effect {
        let Some(old) = self.memory(number) else { return Effect::Nothing };
        let shown = old.version();
        // Fields that the digest leaves out can still be indexed, or can change the neighbours.
        let has_moved = first.event.session_id != shown.event.session_id
            || first.event.timestamp != shown.event.timestamp
            || !first.place.log.origin.is_same(&shown.place.log.origin)
            || related.copies.is_empty() != old.copies().is_empty();
        let has_changed = first.digest != shown.digest
            || has_moved
            || index_text(&first.event) != index_text(&shown.event);
        if first == shown && related.is_same(&old) {
            return Effect::Nothing;
        }
        let flag = if has_changed { OnceLock::new() } else { old.flag.clone() };
        let text = self.texts.add(&record_of(&first.event));
        self.texts.release(&old.text);
        let place = (
            self.lookup.provenances.intern_event(&first.event, first.place.log),
            first.place.offset,
        );
        let head = (first.event.id, first.event.timestamp, first.event.success_rate);
        let memory = Memory { flag, ..Memory::new(head, first.repo, place, text, related) };
        if let Some(slot) = self.slot(number) {
            *slot = Arc::new(memory);
        }
        if has_changed { Effect::Changed { number, old_repo: shown.repo } } else { Effect::Nothing }
    }

    fn apply_about(&mut self, memory: &EventId, version: Version) -> Effect {
        let numbers = self.lookup.numbers.all(memory);
        let version = Arc::new(version);
        if numbers.is_empty() {
            self.apply_early(memory, version);
            return Effect::Nothing;
        }
        for number in numbers {
            let Some(slot) = self.slot(number) else { continue };
            let related = Arc::make_mut(slot).related.get_or_insert_default();
            related.lifecycle.take();
            let (dropped_bytes, added_bytes) =
                insert_counted(&mut related.about, Arc::clone(&version));
            self.ledger.change_bytes(dropped_bytes, added_bytes);
        }
        Effect::Nothing
    }

    /// Keeps an event about a memory that is not known yet.
    fn apply_early(&mut self, memory: &EventId, version: Arc<Version>) {
        let is_first = !self.orphans.contains_key(memory);
        let is_first = if is_first { IsFirst::Yes } else { IsFirst::No };
        if self.ledger.admit_orphan(memory, is_first) == Admission::LeftOut {
            return;
        }
        let versions = Arc::make_mut(&mut self.orphans).entry(memory.clone()).or_default();
        let (dropped_bytes, added_bytes) = insert_counted(versions, version);
        self.ledger.change_bytes(dropped_bytes, added_bytes);
    }

    fn number_of(&self, id: &EventId) -> Option<u32> {
        self.lookup.numbers.get(id)
    }

    pub(super) fn memory(&self, number: u32) -> Option<Arc<Memory>> {
        self.memories.get(usize::try_from(number).ok()?).cloned()
    }

    fn slot(&mut self, number: u32) -> Option<&mut Arc<Memory>> {
        self.memories.get_mut(usize::try_from(number).ok()?)
    }

    fn look_up_oldest(&mut self) -> bool {
        let memories = self.memories.iter().map(|memory| (&memory.id, memory.earliest()));
        self.ledger.look_up(memories, self.orphans.keys())
    }

    /// Rewrites the records in memory without the released ones.
    fn compact(&mut self) {
        self.texts.begin_compaction();
        for place in 0..self.memories.len() {
            let Some(memory) = self.memories.get(place) else { continue };
            let Some(text) = self.texts.add_again(&memory.text) else { continue };
            if let Some(memory) = self.memories.get_mut(place) {
                Arc::make_mut(memory).text = text;
            }
        }
    }

    /// Removes the memories of this age, or the events about an unknown one. An age that no longer
    /// belongs to anybody is skipped.
    fn leave_out(&mut self, age: MemoryAge) -> Vec<RemovedMemory> {
        if let Some(earliest) = self.earliest(&age.id)
            && self.ledger.age(&age.id, earliest) == age
        {
            let bytes = self.bytes_of(&age.id);
            let mut removed = Vec::new();
            while let Some(number) = self.number_of(&age.id)
                && let Some(one) = self.take_out(number)
            {
                removed.push(one);
            }
            self.ledger.leave_out(age, bytes);
            return removed;
        }
        if self.orphans.contains_key(&age.id) && self.ledger.age_of_orphans(&age.id) == age {
            let versions = Arc::make_mut(&mut self.orphans).remove(&age.id).unwrap_or_default();
            self.ledger.leave_out(age, size::of_versions(&versions));
        }
        Vec::new()
    }

    /// Removes a memory and moves the last one to its number.
    pub(super) fn take_out(&mut self, number: u32) -> Option<RemovedMemory> {
        let memory = self.memory(number)?;
        let last = u32::try_from(self.memories.len().checked_sub(1)?).ok()?;
        let place = usize::try_from(number).ok()?;
        self.memories.swap_remove(place);
        self.texts.release(&memory.text);
        self.lookup.numbers.remove(&memory.id, number);
        let moved = self.memories.get(place);
        if let Some(moved) = moved {
            self.lookup.numbers.remove(&moved.id, last);
            self.lookup.numbers.add(&moved.id, number);
        }
        let moved_from = moved.map(|_| last);
        Some(RemovedMemory { number, repo: memory.repo.clone(), moved_from })
    }
}

/// Inserts an event about a memory. Returns how many bytes were dropped for it, and added.
fn insert_counted(versions: &mut Vec<Arc<Version>>, version: Arc<Version>) -> (u64, u64) {
    let (bytes, was_len) = (size::of_event(&version.event), versions.len());
    insert_version(versions, version);
    let added_bytes = if versions.len() > was_len { bytes } else { 0 };
    (size::of_versions(&drop_surplus_events(versions)), added_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::{DecodedLine, Timestamp, codec};
    use proptest::prelude::*;

    fn event(id: u8, text: u8, memory: Option<u8>) -> Event {
        let mut json = serde_json::json!({
            "id": format!("e{id}"), "lesson": format!("lesson {text}"), "repo": format!("repo{text}"),
        });
        if let Some(memory) = memory {
            json["memory_id"] = format!("e{memory}").into();
        }
        match codec::decode(json.to_string().as_bytes(), "api") {
            DecodedLine::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    fn apply(fold: &mut Fold, event: Event) -> Effect {
        apply_from(fold, event, 0)
    }

    fn apply_from(fold: &mut Fold, event: Event, offset: u64) -> Effect {
        let repo = event.repo_key();
        let origin = LinePlace::own("a.jsonl", offset);
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
        memories.sort_by(|a, b| a.id.cmp(&b.id));
        memories
    }

    // S-LINE-6
    #[test]
    fn an_event_before_its_memory_is_attached_to_it() {
        let memories = folded([event(9, 0, Some(1)), event(1, 0, None)]);
        assert_eq!(memories.len(), 1);
        assert_eq!(memories[0].about().len(), 1);
    }

    // S-READ-3
    #[test]
    fn two_contents_of_one_id_are_both_kept() {
        let memories = folded([event(1, 2, None), event(1, 1, None)]);
        assert_eq!(memories, folded([event(1, 1, None), event(1, 2, None)]));
        assert_eq!(memories[0].conflicts().len(), 1);
    }

    // S-READ-4
    #[test]
    fn a_frozen_state_ignores_later_events() {
        let mut fold = Fold::default();
        apply(&mut fold, event(1, 0, None));
        let frozen = fold.frozen();
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
        fn any_order_and_repetition_folds_alike(events in any_events(), seed in any::<u64>()) {
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
    fn an_event_sent_twice_is_one() {
        let mut later = event(1, 0, None);
        later.timestamp = Timestamp::from_second(9).ok();
        later.commit = Some("abc".to_owned());
        let memories = folded([later, event(1, 0, None)]);
        assert!(memories[0].conflicts().is_empty());
        assert_eq!(memories[0].timestamp, None);
    }

    // S-DIGEST-1
    #[test]
    fn the_shown_version_does_not_depend_on_its_offset() {
        let with = |commit: &str| Event { commit: Some(commit.to_owned()), ..event(1, 0, None) };
        let shown = |first: &str, second: &str| {
            let memories = folded_from([(with(first), 0), (with(second), 1)]);
            memories[0].event().commit
        };
        assert_eq!(shown("a", "b"), shown("b", "a"));
    }

    // S-DIGEST-1
    #[test]
    fn a_shown_version_with_other_words_is_reindexed() {
        let with_lesson = |lesson: &str| Event { lesson: lesson.to_owned(), ..event(1, 0, None) };
        let (plain, hidden) = (with_lesson("ab"), with_lesson("a\u{202E}b"));
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
    fn a_new_shown_version_changes_the_repository() {
        let (one, two) = (event(1, 1, None), event(1, 2, None));
        let winner = folded([one.clone(), two.clone()])[0].event();
        let (first, second) = if winner == one { (two, one) } else { (one, two) };
        let mut fold = Fold::default();
        apply(&mut fold, first.clone());
        let effect = apply(&mut fold, second);
        assert_eq!(effect, Effect::Changed { number: 0, old_repo: first.repo_key() });
        assert_eq!(fold.memories().get(0).unwrap().repo, winner.repo_key());
    }
}
