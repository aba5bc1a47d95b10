//! Several origins under one id: what each of them wrote is folded by itself, and where two arrive at the same content,
//! it is one memory of both (SPEC S-ORIGIN-3). This is rare: an id is random, so it takes an import on two machines, a
//! copied store, or somebody who wants to take the place of another. Not here: one origin (`fold`).

use std::sync::Arc;

use super::line_place::LineOrigin;
use super::memory::{IdShare, RelatedEvents};
use super::version::{insert_version, keep_first_contents};
use super::{Effect, Fold, RemovedMemory, Version, size};
use event::{EventId, Timestamp};

/// One memory under an id: a content, and the origins that have it.
struct Content {
    shown: Version,
    related: RelatedEvents,
}

impl Fold {
    /// Tells whether a version and the memory of its id are of one origin, as nearly always.
    pub(super) fn is_of_one_origin(&self, number: u32, version: &Version) -> bool {
        let is_same = |origin: &LineOrigin| origin.is_same(&version.place.log.origin);
        !self.lookup.numbers.has_several(&version.event.id)
            && self.memory(number).is_none_or(|memory| memory.origins().all(is_same))
    }

    /// Applies a version under an id that several origins have.
    pub(super) fn apply_to_shared_id(&mut self, version: Version) -> Effect {
        let id = version.event.id.clone();
        let numbers = self.lookup.numbers.all(&id);
        let was_bytes = self.bytes_of(&id);
        let was = self.earliest(&id).unwrap_or_default();
        let is = was.min(version.event.timestamp);
        let (was, is) = (self.ledger.age(&id, was), self.ledger.age(&id, is));
        self.ledger.change_age(&was, is);
        // All memories of an id have the same events.
        let first = numbers.first().and_then(|number| self.memory(*number));
        let about = first.map(|memory| memory.about().to_vec()).unwrap_or_default();
        let mut versions = Vec::new();
        for memory in numbers.iter().filter_map(|number| self.memory(*number)) {
            insert_version(&mut versions, Arc::new(memory.version()));
            for other in memory.conflicts().iter().chain(memory.copies()) {
                insert_version(&mut versions, Arc::clone(other));
            }
        }
        insert_version(&mut versions, Arc::new(version));
        keep_first_contents(&mut versions);
        let mut effects = self.show_contents(contents(&versions, &about), numbers);
        let is_bytes = self.bytes_of(&id);
        self.ledger.change_bytes(was_bytes, is_bytes);
        match effects.len() {
            0 | 1 => effects.pop().unwrap_or(Effect::Nothing),
            _ => Effect::Several(effects),
        }
    }

    /// Shows contents under these numbers. A content keeps its number; what is left over is added or removed.
    fn show_contents(&mut self, contents: Vec<Content>, mut numbers: Vec<u32>) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut new = Vec::new();
        for content in contents {
            let digest = content.shown.digest;
            let is_its = |number: &u32| {
                self.memory(*number).is_some_and(|memory| memory.version().digest == digest)
            };
            match numbers.iter().position(is_its) {
                Some(place) => {
                    let number = numbers.swap_remove(place);
                    effects.push(self.show(number, content.shown, content.related));
                }
                None => new.push(content),
            }
        }
        for Content { shown, related } in new {
            effects.push(match numbers.pop() {
                Some(number) => self.show(number, shown, related),
                None => self.push(shown.event, shown.repo, shown.place, related),
            });
        }
        // One line changes what one origin shows, so at most one memory goes.
        if let Some(removed) = numbers.pop().and_then(|number| self.take_out(number)) {
            effects.iter_mut().for_each(|effect| follow_move(effect, &removed));
            effects.insert(0, Effect::Removed(removed));
        }
        effects.retain(|effect| *effect != Effect::Nothing);
        effects
    }

    /// Returns the earliest time of an id's memories. `None` if it has none.
    pub(super) fn earliest(&self, id: &EventId) -> Option<Option<Timestamp>> {
        let memories = self.lookup.numbers.all(id);
        memories.into_iter().filter_map(|number| Some(self.memory(number)?.earliest())).min()
    }

    /// Returns the size of an id's memories.
    pub(super) fn bytes_of(&self, id: &EventId) -> u64 {
        let memories = self.lookup.numbers.all(id).into_iter();
        let memories = memories.filter_map(|number| self.memory(number));
        memories.map(|memory| size::of_memory(&memory, self.ledger.bound())).sum()
    }
}

/// Gives a changed memory its new number, if it moved into the gap.
fn follow_move(effect: &mut Effect, removed: &RemovedMemory) {
    if let Effect::Changed { number, .. } = effect
        && removed.moved_from == Some(*number)
    {
        *number = removed.number;
    }
}

/// Divides all versions under an id, in their order, into memories.
fn contents(versions: &[Arc<Version>], about: &[Arc<Version>]) -> Vec<Content> {
    let mut shown: Vec<&Arc<Version>> = Vec::new();
    let mut hidden: Vec<&Arc<Version>> = Vec::new();
    for version in versions {
        let is_known = |first: &&Arc<Version>| is_of_same_origin(first, version);
        let list = if shown.iter().any(is_known) { &mut hidden } else { &mut shown };
        list.push(version);
    }
    let mut contents: Vec<Vec<&Arc<Version>>> = Vec::new();
    for version in shown {
        match contents.iter_mut().find(|same| same.iter().all(|one| one.digest == version.digest)) {
            Some(same) => same.push(version),
            None => contents.push(vec![version]),
        }
    }
    let content = |mut same: Vec<&Arc<Version>>| {
        let is_own = |version: &&Arc<Version>| version.place.log.origin == LineOrigin::Own;
        let first = same.remove(same.iter().position(is_own).unwrap_or_default());
        let is_of_these = |version: &&&Arc<Version>| {
            std::iter::once(&first).chain(&same).any(|one| is_of_same_origin(one, version))
        };
        let conflicts = hidden.iter().filter(is_of_these).map(|one| Arc::clone(one)).collect();
        let copies = same.iter().map(|one| Arc::clone(one)).collect();
        let related = RelatedEvents { copies, ..RelatedEvents::new(about.to_vec(), conflicts) };
        Content { shown: Version::clone(first), related }
    };
    let mut contents: Vec<Content> = contents.into_iter().map(content).collect();
    if contents.len() > 1 {
        contents.iter_mut().for_each(|content| content.related.share = IdShare::Beside);
        let first =
            contents.iter_mut().min_by_key(|content| content.shown.place.log.origin.clone());
        first.into_iter().for_each(|content| content.related.share = IdShare::First);
    }
    contents
}

fn is_of_same_origin(one: &Version, other: &Version) -> bool {
    one.place.log.origin.is_same(&other.place.log.origin)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::sample::fold_from;
    use super::super::{LifecycleState, LineOrigin, Memory};
    use super::*;
    use event::StoreOrigin;

    fn other(number: u64) -> StoreOrigin {
        StoreOrigin::mint("host", number)
    }

    fn voice(number: u64) -> LineOrigin {
        LineOrigin::Voice(other(number))
    }

    fn line(lesson: &str, second: u8) -> Value {
        json!({"id": "m1", "timestamp": format!("2026-01-01T00:00:{second:02}Z"), "lesson": lesson,
            "source": "human"})
    }

    fn about(event: &Value) -> Value {
        let mut line = json!({"id": "e1", "memory_id": "m1", "timestamp": "2026-01-02T00:00:00Z"});
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        line
    }

    /// What somebody sees of each memory: lesson, source, origins, other contents, events.
    fn seen(fold: &Fold) -> BTreeSet<String> {
        let tell = |memory: &Arc<Memory>| {
            let origins: BTreeSet<_> = memory.origins().map(LineOrigin::other).collect();
            let others: Vec<_> =
                memory.conflicts().iter().map(|version| &version.event.lesson).collect();
            let event = memory.event();
            let about: Vec<_> = memory.about().iter().map(|version| &version.event.id).collect();
            format!(
                "{} {} {:?} {:?} {origins:?} {others:?} {about:?} {:?}",
                event.id,
                event.lesson,
                event.source,
                event.timestamp,
                memory.lifecycle()
            )
        };
        fold.memories().iter().map(tell).collect()
    }

    fn lessons(fold: &Fold) -> BTreeSet<String> {
        fold.memories().iter().map(|memory| memory.event().lesson).collect()
    }

    // S-ORIGIN-3
    #[test]
    fn nobody_takes_the_place_of_a_memory() {
        let own = (line("ours", 5), LineOrigin::Own);
        for second in [1, 9] {
            let forged = (line("theirs", second), voice(1));
            for lines in [[own.clone(), forged.clone()], [forged, own.clone()]] {
                let fold = fold_from(&lines);
                assert_eq!(lessons(&fold), BTreeSet::from(["ours", "theirs"].map(str::to_owned)));
                let sources: BTreeSet<_> =
                    fold.memories().iter().map(|memory| memory.event().source.unwrap()).collect();
                assert_eq!(sources, BTreeSet::from(["human", "team"].map(str::to_owned)));
            }
        }
    }

    // S-ORIGIN-3
    #[test]
    fn equal_contents_are_one_memory_of_both() {
        let lines = [(line("same", 5), LineOrigin::Own), (line("same", 1), voice(1))];
        let fold = fold_from(&lines);
        let [memory] = &fold.memories().iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!(memory.origins().count(), 2);
        let event = memory.event();
        let time = event.timestamp.unwrap().to_string();
        assert_eq!(
            (event.source.as_deref(), time.as_str()),
            (Some("human"), "2026-01-01T00:00:05Z")
        );
        let fold = fold_from(&[(line("same", 5), voice(2)), (line("same", 1), voice(1))]);
        let [memory] = &fold.memories().iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!(memory.event().timestamp.unwrap().to_string(), "2026-01-01T00:00:01Z");
    }

    // S-ORIGIN-3
    #[test]
    fn what_an_origin_wrote_twice_stays_its_own_matter() {
        let lines = [
            (line("ours", 5), LineOrigin::Own),
            (line("theirs", 7), voice(1)),
            (line("ours", 6), voice(1)),
        ];
        let fold = fold_from(&lines);
        let [memory] = &fold.memories().iter().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!(memory.conflicts().len(), 1);
        assert_eq!(memory.event().lesson, "ours");
    }

    fn state(event: &Value, by: LineOrigin, of: LineOrigin) -> (LifecycleState, bool, u32) {
        let fold = fold_from(&[(line("x", 1), of), (about(event), by)]);
        let lifecycle = fold.memories().iter().next().unwrap().lifecycle().clone();
        (lifecycle.state, lifecycle.is_pinned, lifecycle.verdicts.stale)
    }

    // S-ORIGIN-4
    #[test]
    fn deeds_of_others_count_only_where_trusted() {
        let retract = json!({"event_type": "retract"});
        let (live, out) = (LifecycleState::Live, LifecycleState::Retracted);
        let trusted = LineOrigin::Trusted(other(1));
        for (by, of, expected) in [
            (LineOrigin::Own, LineOrigin::Own, (out.clone(), false, 0)),
            (LineOrigin::Own, voice(1), (out.clone(), false, 0)),
            (trusted, LineOrigin::Own, (out.clone(), false, 0)),
            (voice(1), voice(1), (out, false, 0)),
            (voice(1), LineOrigin::Own, (live.clone(), false, 1)),
            (voice(1), voice(2), (live.clone(), false, 1)),
        ] {
            assert_eq!(state(&retract, by.clone(), of.clone()), expected, "{by:?} of {of:?}");
        }
        let pin = json!({"event_type": "pin"});
        assert_eq!(state(&pin, voice(1), LineOrigin::Own), (live, false, 0));
        let verdict = json!({"event_type": "feedback", "verdict": "stale"});
        assert_eq!(state(&verdict, voice(1), LineOrigin::Own).2, 1);
    }

    // S-ORIGIN-4
    #[test]
    fn nobody_speaks_with_the_voice_of_another() {
        let verdict = |id: &str, verdict: &str| {
            let said = json!({"id": id, "event_type": "feedback", "verdict": verdict,
                "agent_id": "codex", "session_id": "s1"});
            about(&said)
        };
        let lines = [
            (line("x", 1), LineOrigin::Own),
            (verdict("e1", "worked"), LineOrigin::Own),
            // Under the same id, and as the same author under a later one.
            (verdict("e1", "failed"), voice(1)),
            (verdict("e2", "failed"), voice(1)),
        ];
        let fold = fold_from(&lines);
        let verdicts = fold.memories().iter().next().unwrap().verdicts().clone();
        assert_eq!((verdicts.worked, verdicts.failed), (1, 1));
    }

    // S-HOOK-7, S-ORIGIN-4
    #[test]
    fn a_voice_hides_nothing_that_is_proven_here() {
        let mut candidate = line("x", 1);
        candidate["source"] = "hook".into();
        let said = |id: usize, verdict: &str, by: LineOrigin| {
            let said = json!({"id": format!("e{id}"), "event_type": "feedback", "verdict": verdict,
                "agent_id": format!("agent{id}"), "session_id": format!("s{id}")});
            (about(&said), by)
        };
        let mut lines = vec![(candidate, LineOrigin::Own), said(0, "worked", LineOrigin::Own)];
        lines.extend((1..9).map(|id| said(id, "failed", voice(1))));
        let fold = fold_from(&lines);
        let memory = fold.memories().iter().next().unwrap();
        assert!(!memory.is_candidate());
        assert_eq!(memory.verdicts().failed, 1, "an origin has one voice");
    }

    // S-READ-3
    #[test]
    fn nobody_keeps_the_fold_busy() {
        let mut lines = vec![(line("ours", 5), LineOrigin::Own)];
        lines.extend((0..40).map(|text| (line(&format!("theirs {text}"), 7), voice(1))));
        let event =
            |id: usize| about(&json!({"id": format!("e{id:05}"), "event_type": "feedback"}));
        lines.extend((0..1_500).map(|id| (event(id), voice(1))));
        let fold = fold_from(&lines);
        let mixed: Vec<_> = lines.iter().rev().cloned().collect();
        assert_eq!(seen(&fold), seen(&fold_from(&mixed)));
        let ours = fold.memories().iter().find(|memory| memory.event().lesson == "ours").unwrap();
        assert_eq!(ours.about().len(), 1_000);
        let theirs = fold.memories().iter().find(|memory| memory.event().lesson != "ours").unwrap();
        assert_eq!(theirs.conflicts().len(), 15);
    }

    fn any_line() -> impl Strategy<Value = (Value, LineOrigin)> {
        let origin = prop::sample::select(vec![
            LineOrigin::Own,
            voice(1),
            voice(2),
            LineOrigin::Trusted(other(3)),
        ]);
        (0_u8..3, 0_u8..3, 0_u8..4, prop::option::weighted(0.3, 0_u8..3), origin).prop_map(
            |(id, text, second, memory, origin)| {
                let mut line = line(&format!("lesson {text}"), second);
                line["id"] = format!("m{id}").into();
                if let Some(memory) = memory {
                    line["memory_id"] = format!("m{memory}").into();
                    line["event_type"] = "retract".into();
                    line["id"] = format!("e{id}").into();
                }
                (line, origin)
            },
        )
    }

    proptest! {
        // S-ORIGIN-3, S-ORIGIN-4
        #[test]
        fn order_and_repetition_keep_what_is_seen(
            lines in prop::collection::vec(any_line(), 0..14),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
        ) {
            prop_assume!(!lines.is_empty());
            let expected = fold_from(&lines);
            let mut mixed: Vec<_> = order.iter().map(|place| place.get(&lines).clone()).collect();
            mixed.extend(lines.iter().rev().cloned());
            let fold = fold_from(&mixed);
            prop_assert_eq!(seen(&fold), seen(&expected));
            let bytes: u64 = fold.memories().iter()
                .map(|memory| size::of_memory(memory, fold.frozen().bound())).sum();
            let orphaned: u64 = fold.frozen().orphans().map(|(_, about)| size::of_versions(about)).sum();
            prop_assert_eq!(fold.frozen().held_bytes(), bytes + orphaned);
            for memory in fold.memories().iter() {
                let numbers = fold.lookup.numbers.all(&memory.id);
                let found = numbers.iter().filter_map(|number| fold.memory(*number));
                prop_assert!(found.into_iter().any(|found| Arc::ptr_eq(&found, memory)));
            }
        }
    }
}
