//! The lifecycle of a memory: whether it is in force, what supersedes it, whether it is pinned, and
//! its verdicts. It is a function of the set of events about the memory, so neither order nor
//! repetition matters. Not here: its effect on ranking (`search::prior`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::verdicts::{GivenVerdict, Verdicts, VoiceVerdicts};
use super::voices::{OnlyOrigin, Voice, changes, decides};
use super::{Memory, Version};
use event::{Author, Event, EventId, HOOK, MemoryChange, SuccessRate, Timestamp};

/// Whether a memory is in force.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LifecycleState {
    /// It is in force.
    #[default]
    Live,
    /// Another memory supersedes it.
    Superseded {
        /// The id of that memory.
        by: EventId,
    },
    /// Somebody retracted it.
    Retracted,
    /// It was not needed for long.
    Archived,
    /// It was not needed for very long.
    Buried,
}

impl LifecycleState {
    /// Returns its name in replies.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Superseded { .. } => "superseded",
            Self::Retracted => "retracted",
            Self::Archived => "archived",
            Self::Buried => "buried",
        }
    }
}

/// The lifecycle of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lifecycle {
    /// Its state, by the latest event that sets it.
    pub state: LifecycleState,
    /// When that event was written. `None` without such an event or without a time.
    pub since: Option<Timestamp>,
    /// The id of that event.
    pub decided_by: Option<EventId>,
    /// Whether it is pinned: it does not fade.
    pub is_pinned: bool,
    /// Its verdicts, counted.
    pub verdicts: Verdicts,
    /// Those of them that decide whether what a hook wrote is proven: not those of origins that are not trusted.
    pub deciding: Verdicts,
    /// The memories it is declared not to contradict.
    pub distinct: BTreeSet<EventId>,
    /// The authors whose events about it do not count.
    pub discounted: BTreeSet<Author>,
}

/// The order of events: by time, then by id.
pub(super) type Order<'a> = (Option<Timestamp>, &'a EventId);

impl Lifecycle {
    /// The lifecycle of a memory without events about it.
    pub(super) const NONE: &'static Self = &Self {
        state: LifecycleState::Live,
        since: None,
        decided_by: None,
        is_pinned: false,
        verdicts: Verdicts::NONE,
        deciding: Verdicts::NONE,
        distinct: BTreeSet::new(),
        discounted: BTreeSet::new(),
    };

    /// Computes the lifecycle from the events about a memory, sorted by id; `of` is its only origin,
    /// if it has one. Of several contents of one origin under one id the first counts. Of events
    /// that contradict each other the latest counts, by time and then by id.
    #[must_use]
    pub fn from_versions(about: &[Arc<Version>], of: OnlyOrigin<'_>) -> Self {
        let events = changes(about, of);
        let discounted = DiscountedAuthors::by(&events);
        Self::without(&events, discounted, of)
    }

    fn without(
        events: &[(&Version, MemoryChange)],
        discounted: DiscountedAuthors,
        of: OnlyOrigin<'_>,
    ) -> Self {
        let (mut state, mut pin) = (LatestValue::default(), LatestValue::default());
        // Whether a voice decides follows from its origin.
        let mut voices: BTreeMap<Voice, (VoiceVerdicts<'_>, bool)> = BTreeMap::new();
        let mut distinct = BTreeSet::new();
        for (version, change) in events {
            let event = &version.event;
            if discounted.voids(event) {
                continue;
            }
            let at = (event.timestamp, &event.id);
            match change.clone() {
                MemoryChange::Feedback(verdict) => {
                    let given = GivenVerdict { at: event.timestamp, id: &event.id, verdict };
                    let (voice, may_decide) =
                        voices.entry(Voice::from_version(version)).or_default();
                    voice.offer(given);
                    *may_decide |= decides(&version.place.log.origin, of);
                }
                MemoryChange::Supersede { by } => {
                    state.offer(at, LifecycleState::Superseded { by });
                }
                MemoryChange::Retract => state.offer(at, LifecycleState::Retracted),
                MemoryChange::Archive => state.offer(at, LifecycleState::Archived),
                MemoryChange::Bury => state.offer(at, LifecycleState::Buried),
                MemoryChange::Restore => state.offer(at, LifecycleState::Live),
                MemoryChange::Distinct { from } => {
                    distinct.insert(from);
                }
                MemoryChange::Pin => pin.offer(at, true),
                MemoryChange::Unpin => pin.offer(at, false),
                MemoryChange::Discount { .. }
                | MemoryChange::Recount { .. }
                | MemoryChange::Link(_)
                | MemoryChange::Unlink { .. } => {}
            }
        }
        let deciding = voices.values().filter(|(_, may_decide)| *may_decide);
        Self {
            since: state.0.as_ref().and_then(|((at, _), _)| *at),
            decided_by: state.0.as_ref().map(|((_, id), _)| (*id).clone()),
            state: state.0.map(|(_, state)| state).unwrap_or_default(),
            distinct,
            discounted: discounted.0.into_keys().collect(),
            is_pinned: pin.0.is_some_and(|(_, is_pinned)| is_pinned),
            verdicts: Verdicts::count(voices.values().map(|(voice, _)| voice)),
            deciding: Verdicts::count(deciding.map(|(voice, _)| voice)),
        }
    }
}

/// The authors who are discounted, by the latest event about each. All of an author's events are
/// void, or, where the author discounted themselves, those before that second. Nobody can lift a
/// discount of themselves.
pub(super) struct DiscountedAuthors(BTreeMap<Author, Option<Timestamp>>);

impl DiscountedAuthors {
    /// Finds the discounted authors.
    pub(super) fn by(events: &[(&Version, MemoryChange)]) -> Self {
        let mut authors: BTreeMap<&Author, LatestValue<'_, Option<Option<Timestamp>>>> =
            BTreeMap::new();
        for (version, change) in events {
            let event = &version.event;
            let (author, is_out) = match change {
                MemoryChange::Discount { by } => (by, true),
                MemoryChange::Recount { by } if !by.wrote(event) => (by, false),
                _ => continue,
            };
            let until = event.timestamp.filter(|_| author.wrote(event));
            let at = (event.timestamp, &event.id);
            authors.entry(author).or_default().offer(at, is_out.then_some(until));
        }
        let out = authors.into_iter().filter_map(|(author, latest)| {
            let (_, until) = latest.0?;
            Some((author.clone(), until?))
        });
        Self(out.collect())
    }

    /// Tells whether an event is void.
    pub(super) fn voids(&self, event: &Event) -> bool {
        let is_before = |until: &Option<Timestamp>| {
            until.is_none_or(|until| event.timestamp.is_none_or(|at| at < until))
        };
        self.0.iter().any(|(author, until)| author.wrote(event) && is_before(until))
    }
}

/// The latest of several values.
pub(super) struct LatestValue<'a, T>(pub(super) Option<(Order<'a>, T)>);

impl<T> Default for LatestValue<'_, T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'a, T> LatestValue<'a, T> {
    pub(super) fn offer(&mut self, at: Order<'a>, value: T) {
        if self.0.as_ref().is_none_or(|(before, _)| *before < at) {
            self.0 = Some((at, value));
        }
    }
}

impl Memory {
    /// Returns its success rate: the first reported one, and every later report that it worked or
    /// failed.
    #[must_use]
    pub fn evidence(&self) -> Option<SuccessRate> {
        let Verdicts { worked, failed, .. } = self.lifecycle().verdicts;
        SuccessRate::with_reports(self.success_rate, worked, failed)
    }

    /// Returns the state it would have if nothing by this author counted.
    #[must_use]
    pub fn state_without(&self, author: &Author) -> LifecycleState {
        let events = changes(self.about(), self.only_origin());
        let mut discounted = DiscountedAuthors::by(&events);
        discounted.0.insert(author.clone(), None);
        Lifecycle::without(&events, discounted, self.only_origin()).state
    }

    /// Tells whether it no longer answers queries: it was superseded, retracted, archived or
    /// buried, it expired, or it is a candidate that nothing confirmed in time. It can still be
    /// cited by its id.
    #[must_use]
    pub fn is_inactive(&self, now: Timestamp) -> bool {
        self.lifecycle().state != LifecycleState::Live
            || self.is_expired(now)
            || self.has_expired(now)
    }

    /// Tells whether [`Memory::is_inactive`] can be true at any time. Without events about it most
    /// memories can not.
    #[must_use]
    pub fn may_be_inactive(&self) -> bool {
        let is_of_hook = self.provenance.source.as_deref() == Some(HOOK);
        !self.about().is_empty() || is_of_hook || self.provenance.expires.is_some()
    }

    /// Returns its lifecycle at a time. Events without a time always count.
    #[must_use]
    pub fn lifecycle_at(&self, then: Timestamp) -> Lifecycle {
        let was_written =
            |version: &&Arc<Version>| version.event.timestamp.is_none_or(|at| at <= then);
        let known: Vec<Arc<Version>> = self.about().iter().filter(was_written).cloned().collect();
        Lifecycle::from_versions(&known, self.only_origin())
    }

    /// Tells whether it was inactive at a time, by the events up to then.
    #[must_use]
    pub fn was_inactive(&self, then: Timestamp) -> bool {
        let Lifecycle { state, deciding, .. } = self.lifecycle_at(then);
        state != LifecycleState::Live
            || self.is_expired_with(&deciding, then)
            || self.has_expired(then)
    }

    /// Tells whether the expiry date of its line has passed.
    fn has_expired(&self, now: Timestamp) -> bool {
        self.provenance.expires.is_some_and(|until| until <= now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::Maturity;
    use super::super::sample::folded;
    use super::*;

    fn memory() -> Value {
        json!({"id": "m1", "timestamp": "2026-01-01T00:00:00Z", "event_type": "error",
            "lesson": "x", "source": "agent", "success_rate": "1/2"})
    }

    fn about(number: usize, minute: usize, event: &Value) -> Value {
        let mut line = json!({"id": format!("e{number:02}"), "memory_id": "m1",
            "timestamp": format!("2026-01-02T00:{minute:02}:00Z")});
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        line
    }

    fn memory_with_events(events: &[Value]) -> Arc<Memory> {
        let events = events.iter().enumerate().map(|(at, event)| about(at, at, event));
        folded(&std::iter::once(memory()).chain(events).collect::<Vec<_>>())
    }

    fn verdict(word: &str, agent: &str, session: &str) -> Value {
        json!({"event_type": "feedback", "verdict": word, "agent_id": agent, "session_id": session})
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    // S-LIFE-2
    #[test]
    fn the_latest_verdict_of_each_voice_counts() {
        let verdicts = |events: &[Value]| memory_with_events(events).verdicts().clone();
        let again = [verdict("worked", "codex", "s1"), verdict("worked", "Codex ", "s1")];
        assert_eq!(verdicts(&again).worked, 1);
        let after_all = [verdict("failed", "codex", "s1"), verdict("worked", "codex", "s1")];
        assert_eq!((verdicts(&after_all).worked, verdicts(&after_all).failed), (1, 0));
        let others = [
            verdict("worked", "codex", "s1"),
            verdict("worked", "codex", "s2"),
            verdict("worked", "bob", "s1"),
        ];
        assert_eq!(verdicts(&others).worked, 3);
        let mut days = [
            json!({"event_type": "feedback", "verdict": "worked", "agent_id": "bob"}),
            Value::Null,
            Value::Null,
        ];
        (days[1], days[2]) = (days[0].clone(), days[0].clone());
        days[2]["timestamp"] = "2026-02-01T00:00:00Z".into();
        assert_eq!(verdicts(&days).worked, 2, "one a day without a session");
    }

    // S-LIFE-2
    #[test]
    fn evidence_adds_later_reports_to_the_first_rate() {
        let memory = memory_with_events(&[
            verdict("worked", "a", "1"),
            verdict("failed", "b", "1"),
            verdict("stale", "c", "1"),
        ]);
        assert_eq!(memory.evidence(), SuccessRate::from_counts(2, 4));
        assert_eq!(memory_with_events(&[]).evidence(), SuccessRate::from_counts(1, 2));
        let used_up = memory_with_events(&[json!({"event_type": "note"})]);
        assert_eq!(used_up.lifecycle(), Lifecycle::NONE);
    }

    // S-LIFE-3
    #[test]
    fn helpful_use_raises_maturity() {
        let maturity = |words: &[&str]| {
            let events: Vec<Value> = words
                .iter()
                .enumerate()
                .map(|(at, word)| verdict(word, "a", &at.to_string()))
                .collect();
            memory_with_events(&events).maturity()
        };
        assert_eq!(maturity(&[]), Maturity::Candidate);
        assert_eq!(maturity(&["confirmed", "confirmed", "confirmed"]), Maturity::Candidate);
        assert_eq!(maturity(&["worked"]), Maturity::Established);
        assert_eq!(maturity(&["worked", "failed"]), Maturity::Candidate);
        assert_eq!(maturity(&["worked"; 3]), Maturity::Proven, "4/5, with the first rate");
        let mixed = ["worked", "worked", "worked", "failed", "failed"];
        assert_eq!(maturity(&mixed), Maturity::Established, "4/7 may be luck");
    }

    // S-LIFE-4
    #[test]
    fn the_latest_state_event_counts() {
        let state_after = |types: &[&str]| {
            let events: Vec<Value> = types
                .iter()
                .map(|kind| json!({"event_type": kind, "superseded_by": "m2"}))
                .collect();
            memory_with_events(&events).lifecycle().state.as_str()
        };
        for (types, expected) in [
            (&[][..], "live"),
            (&["retract"], "retracted"),
            (&["retract", "restore"], "live"),
            (&["restore", "supersede"], "superseded"),
            (&["supersede", "archive", "tombstone"], "buried"),
            (&["retract", "promote"], "retracted"),
        ] {
            assert_eq!(state_after(types), expected, "{types:?}");
        }
    }

    // S-LIFE-4
    #[test]
    fn an_expired_memory_is_inactive_and_still_live() {
        let mut line = memory();
        line["expires"] = "2026-02-01".into();
        let memory = folded(&[line]);
        assert!(!memory.is_inactive(at("2026-01-31T23:59:59Z")));
        assert!(memory.is_inactive(at("2026-02-01T00:00:00Z")));
        assert_eq!(memory.lifecycle().state, LifecycleState::Live);
        let mut odd = self::memory();
        odd["expires"] = "when it rains".into();
        assert!(!folded(&[odd]).is_inactive(at("2099-01-01T00:00:00Z")));
    }

    // S-LIFE-10
    #[test]
    fn a_discount_voids_all_events_of_an_author() {
        let mallory =
            |kind: &str| json!({"event_type": kind, "agent_id": "mallory", "verdict": "stale"});
        let by = |who: &str, kind: &str| json!({"event_type": kind, "of_agent": "Mallory", "agent_id": who});
        let harm = [mallory("retract"), mallory("feedback")];
        assert_eq!(memory_with_events(&harm).lifecycle().state, LifecycleState::Retracted);
        let purged = memory_with_events(&[harm[0].clone(), harm[1].clone(), by("bob", "discount")]);
        assert_eq!(
            (purged.lifecycle().state.clone(), purged.verdicts().stale),
            (LifecycleState::Live, 0)
        );
        let again =
            memory_with_events(&[harm[0].clone(), by("bob", "discount"), by("mallory", "recount")]);
        assert_eq!(again.lifecycle().state, LifecycleState::Live);
        let undone =
            memory_with_events(&[harm[0].clone(), by("bob", "discount"), by("bob", "recount")]);
        assert_eq!(undone.lifecycle().state, LifecycleState::Retracted);
    }

    // S-LIFE-10
    #[test]
    fn discounting_oneself_voids_earlier_events_only() {
        let bob = |kind: &str| json!({"event_type": kind, "agent_id": "bob", "verdict": "stale", "of_agent": "bob"});
        let own = memory_with_events(&[bob("feedback"), bob("discount"), bob("retract")]);
        assert_eq!(
            (own.lifecycle().state.clone(), own.verdicts().stale),
            (LifecycleState::Retracted, 0)
        );
        let author = Author::Agent("bob".to_owned());
        assert_eq!(own.state_without(&author), LifecycleState::Live);
    }

    fn any_event() -> impl Strategy<Value = Value> {
        let words = prop::sample::select(vec!["worked", "failed", "stale", "confirmed"]);
        let feedback = (words, 0_u8..3, 0_u8..3).prop_map(|(word, agent, session)| {
            verdict(word, &agent.to_string(), &session.to_string())
        });
        let discount = prop::sample::select(vec!["discount", "recount"])
            .prop_map(|kind| json!({"event_type": kind, "of_agent": "1", "agent_id": "admin"}));
        let kinds = vec![
            "retract",
            "restore",
            "archive",
            "tombstone",
            "pin",
            "unpin",
            "supersede",
            "other",
        ];
        let other = prop::sample::select(kinds)
            .prop_map(|kind| json!({"event_type": kind, "superseded_by": "m2"}));
        prop_oneof![feedback, other, discount]
    }

    proptest! {
        // S-LIFE-5
        #[test]
        fn order_repetition_and_merge_keep_the_lifecycle(
            events in prop::collection::vec((any_event(), 0_usize..5), 0..14),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..40)
        ) {
            let events = events.iter().enumerate().map(|(number, (event, minute))| about(number, *minute, event));
            let lines: Vec<Value> = std::iter::once(memory()).chain(events).collect();
            let expected = folded(&lines).lifecycle().clone();
            let mut mixed: Vec<Value> = order.iter().map(|place| place.get(&lines).clone()).collect();
            // Two stores with half of it each, merged the other way round.
            mixed.extend(lines.iter().skip(1).step_by(2).rev().cloned());
            mixed.extend(lines.iter().rev().cloned());
            prop_assert_eq!(folded(&mixed).lifecycle().clone(), expected);
        }
    }
}
