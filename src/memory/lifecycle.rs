//! What later events about a memory add up to: whether it still counts, what stands in its place, whether it is
//! pinned, and how often each verdict was passed on it. A function of the set of those events: it depends on
//! no order, and who hears of one twice counts it once. Not here: what it does to a ranking (`search::prior`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::verdicts::Verdicts;
use super::{Memory, Version};
use event::{Author, Event, EventId, HOOK, MemoryChange, SuccessRate, Timestamp, Verdict};

/// Whether a memory counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LifecycleState {
    /// It does.
    #[default]
    Live,
    /// Another one does in its place.
    Superseded {
        /// The one that does.
        by: EventId,
    },
    /// Somebody took it back.
    Retracted,
    /// Nobody has needed it for long.
    Archived,
    /// Nobody has needed it for very long.
    Buried,
}

impl LifecycleState {
    /// What it is called in replies.
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

/// What later events add up to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lifecycle {
    /// Whether the memory counts, by the last event that says so.
    pub life: LifecycleState,
    /// When that was said; `None` where nothing was, or at no known time.
    pub since: Option<Timestamp>,
    /// Whether it does not grow old.
    pub is_pinned: bool,
    /// The verdicts.
    pub verdicts: Verdicts,
    /// The memories it was said not to contradict.
    pub distinct: BTreeSet<EventId>,
    /// Those whose words about it do not count.
    pub discounted: BTreeSet<Author>,
}

/// When something was said, and of two things said at one time which counts.
pub(super) type Order<'a> = (Option<Timestamp>, &'a EventId);

impl Lifecycle {
    /// That of a memory nobody said anything about.
    pub(super) const NONE: &'static Self = &Self {
        life: LifecycleState::Live,
        since: None,
        is_pinned: false,
        verdicts: Verdicts {
            worked: 0,
            failed: 0,
            stale: 0,
            confirmed: 0,
            is_stale: false,
            last_good: None,
        },
        distinct: BTreeSet::new(),
        discounted: BTreeSet::new(),
    };

    /// Adds up the events about a memory, which stand in the order of their ids. Of several contents under one
    /// id the first counts, as everywhere. Of what contradicts itself the latest counts, by time and then by id.
    #[must_use]
    pub fn of(about: &[Arc<Version>]) -> Self {
        let said = changes(about);
        let discounted = Discounted::by(&said);
        Self::without(&said, discounted)
    }

    fn without(said: &[(&Version, MemoryChange)], discounted: Discounted) -> Self {
        let (mut life, mut pin) = (Latest::default(), Latest::default());
        let mut verdicts: BTreeMap<Voice, Latest<'_, Verdict>> = BTreeMap::new();
        let mut distinct = BTreeSet::new();
        for (version, change) in said {
            let event = &version.event;
            if discounted.voids(event) {
                continue;
            }
            let at = (event.timestamp, &event.id);
            match change.clone() {
                MemoryChange::Feedback(verdict) => {
                    verdicts.entry(Voice::of(&version.event)).or_default().hear(at, verdict);
                }
                MemoryChange::Supersede { by } => life.hear(at, LifecycleState::Superseded { by }),
                MemoryChange::Retract => life.hear(at, LifecycleState::Retracted),
                MemoryChange::Archive => life.hear(at, LifecycleState::Archived),
                MemoryChange::Bury => life.hear(at, LifecycleState::Buried),
                MemoryChange::Restore => life.hear(at, LifecycleState::Live),
                MemoryChange::Distinct { from } => {
                    distinct.insert(from);
                }
                MemoryChange::Pin => pin.hear(at, true),
                MemoryChange::Unpin => pin.hear(at, false),
                MemoryChange::Discount { .. }
                | MemoryChange::Recount { .. }
                | MemoryChange::Link(_)
                | MemoryChange::Unlink { .. } => {}
            }
        }
        let verdicts = verdicts.into_values().filter_map(|latest| latest.0);
        Self {
            since: life.0.as_ref().and_then(|((at, _), _)| *at),
            life: life.0.map(|(_, life)| life).unwrap_or_default(),
            distinct,
            discounted: discounted.0.into_keys().collect(),
            is_pinned: pin.0.is_some_and(|(_, is_pinned)| is_pinned),
            verdicts: Verdicts::of(verdicts.map(|((at, id), verdict)| (at, id.clone(), verdict))),
        }
    }
}

/// What events do, each once.
pub(super) fn changes(about: &[Arc<Version>]) -> Vec<(&Version, MemoryChange)> {
    let mut last = None;
    let mut said = Vec::with_capacity(about.len());
    for version in about {
        if last.replace(&version.event.id) != Some(&version.event.id) {
            said.extend(MemoryChange::of(&version.event).map(|change| (&**version, change)));
        }
    }
    said
}

/// Whose words do not count, by the last event that says so of each: all of them, or where they said so of
/// themselves those from before that second. Nobody makes their own words count again.
pub(super) struct Discounted(BTreeMap<Author, Option<Timestamp>>);

impl Discounted {
    /// Finds them among what was said.
    pub(super) fn by(said: &[(&Version, MemoryChange)]) -> Self {
        let mut authors: BTreeMap<&Author, Latest<'_, Option<Option<Timestamp>>>> = BTreeMap::new();
        for (version, change) in said {
            let event = &version.event;
            let (author, is_out) = match change {
                MemoryChange::Discount { by } => (by, true),
                MemoryChange::Recount { by } if !by.wrote(event) => (by, false),
                _ => continue,
            };
            let until = event.timestamp.filter(|_| author.wrote(event));
            let at = (event.timestamp, &event.id);
            authors.entry(author).or_default().hear(at, is_out.then_some(until));
        }
        let out = authors.into_iter().filter_map(|(author, latest)| {
            let (_, until) = latest.0?;
            Some((author.clone(), until?))
        });
        Self(out.collect())
    }

    /// Tells whether an event does not count.
    pub(super) fn voids(&self, event: &Event) -> bool {
        let is_before = |until: &Option<Timestamp>| {
            until.is_none_or(|until| event.timestamp.is_none_or(|at| at < until))
        };
        self.0.iter().any(|(author, until)| author.wrote(event) && is_before(until))
    }
}

/// The latest of what was said.
pub(super) struct Latest<'a, T>(pub(super) Option<(Order<'a>, T)>);

impl<T> Default for Latest<'_, T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'a, T> Latest<'a, T> {
    pub(super) fn hear(&mut self, at: Order<'a>, said: T) {
        if self.0.as_ref().is_none_or(|(before, _)| *before < at) {
            self.0 = Some((at, said));
        }
    }
}

/// Whose verdict it is: one agent in one session has one, its latest; without a session it has one a day.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Voice {
    agent: String,
    session: Option<String>,
    day: Option<i64>,
}

const SECONDS_OF_DAY: i64 = 24 * 3_600;

impl Voice {
    fn of(event: &Event) -> Self {
        let session = event.session_id.clone();
        let day = event.timestamp.map(|at| at.as_second().div_euclid(SECONDS_OF_DAY));
        let day = day.filter(|_| session.is_none());
        Self { agent: event.agent_id.trim().to_lowercase(), session, day }
    }
}

/// Tells whether two events are of one voice (S-LIFE-2): an agent in a session; without a session, on a day.
#[must_use]
pub fn is_one_voice(one: &Event, other: &Event) -> bool {
    Voice::of(one) == Voice::of(other)
}

impl Memory {
    /// Returns its success so far: what was first reported, and every report since that it worked or failed.
    #[must_use]
    pub fn evidence(&self) -> Option<SuccessRate> {
        let Verdicts { worked, failed, .. } = self.lifecycle().verdicts;
        let (successes, attempts) = self.success_rate.map_or((0, 0), SuccessRate::counts);
        let successes = successes.saturating_add(worked);
        let attempts = attempts.saturating_add(worked).saturating_add(failed);
        // Of more attempts than a rate can have the share counts.
        SuccessRate::of_counts(successes, attempts).or(self.success_rate)
    }

    /// Returns whether it would count if nothing did that somebody said of it.
    #[must_use]
    pub fn life_without(&self, author: &Author) -> LifecycleState {
        let said = changes(self.about());
        let mut discounted = Discounted::by(&said);
        discounted.0.insert(author.clone(), None);
        Lifecycle::without(&said, discounted).life
    }

    /// Tells whether it is no answer any more: replaced, forgotten, faded, past its time, or a candidate that
    /// nothing has proven in its time. It is still cited by its id.
    #[must_use]
    pub fn is_out(&self, now: Timestamp) -> bool {
        self.lifecycle().life != LifecycleState::Live || self.is_expired(now) || self.is_past(now)
    }

    /// Tells whether [`Memory::is_out`] may be so at any time. Of most it may not until something is said of them.
    #[must_use]
    pub fn may_be_out(&self) -> bool {
        let is_of_hook = self.setting.source.as_deref() == Some(HOOK);
        !self.about().is_empty() || is_of_hook || self.setting.expires.is_some()
    }

    /// Returns what was said of it by a time adds up to; what is told at no time was always said.
    #[must_use]
    pub fn lifecycle_then(&self, then: Timestamp) -> Lifecycle {
        let was_said =
            |version: &&Arc<Version>| version.event.timestamp.is_none_or(|at| at <= then);
        Lifecycle::of(&self.about().iter().filter(was_said).cloned().collect::<Vec<_>>())
    }

    /// Tells whether it was no answer at a time, by what was said by then.
    #[must_use]
    pub fn was_out(&self, then: Timestamp) -> bool {
        let Lifecycle { life, verdicts, .. } = self.lifecycle_then(then);
        life != LifecycleState::Live || self.is_expired_with(&verdicts, then) || self.is_past(then)
    }

    /// Tells whether the time is over that its line says it counts for.
    fn is_past(&self, now: Timestamp) -> bool {
        self.setting.expires.is_some_and(|until| until <= now)
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

    fn of(events: &[Value]) -> Arc<Memory> {
        let said = events.iter().enumerate().map(|(at, event)| about(at, at, event));
        folded(&std::iter::once(memory()).chain(said).collect::<Vec<_>>())
    }

    fn verdict(word: &str, agent: &str, session: &str) -> Value {
        json!({"event_type": "feedback", "verdict": word, "agent_id": agent, "session_id": session})
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    // S-LIFE-2
    #[test]
    fn one_voice_has_one_verdict_and_the_latest_of_it_counts() {
        let verdicts = |events: &[Value]| of(events).verdicts().clone();
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
        assert_eq!(verdicts(&days).worked, 2, "without a session one a day");
    }

    // S-LIFE-2
    #[test]
    fn evidence_adds_what_was_reported_later_to_what_was_said_first() {
        let memory = of(&[
            verdict("worked", "a", "1"),
            verdict("failed", "b", "1"),
            verdict("stale", "c", "1"),
        ]);
        assert_eq!(memory.evidence(), SuccessRate::of_counts(2, 4));
        assert_eq!(of(&[]).evidence(), SuccessRate::of_counts(1, 2));
        let used_up = of(&[json!({"event_type": "note"})]);
        assert_eq!(used_up.lifecycle(), Lifecycle::NONE);
    }

    // S-LIFE-3
    #[test]
    fn use_that_helped_makes_a_memory_mature() {
        let maturity = |words: &[&str]| {
            let events: Vec<Value> = words
                .iter()
                .enumerate()
                .map(|(at, word)| verdict(word, "a", &at.to_string()))
                .collect();
            of(&events).maturity()
        };
        assert_eq!(maturity(&[]), Maturity::Candidate);
        assert_eq!(maturity(&["confirmed", "confirmed", "confirmed"]), Maturity::Candidate);
        assert_eq!(maturity(&["worked"]), Maturity::Established);
        assert_eq!(maturity(&["worked", "failed"]), Maturity::Candidate);
        assert_eq!(maturity(&["worked"; 3]), Maturity::Proven, "4/5, with what was said first");
        let mixed = ["worked", "worked", "worked", "failed", "failed"];
        assert_eq!(maturity(&mixed), Maturity::Established, "4/7 may be luck");
    }

    // S-LIFE-4
    #[test]
    fn what_was_taken_out_comes_back_and_the_last_word_counts() {
        let life = |types: &[&str]| {
            let events: Vec<Value> = types
                .iter()
                .map(|kind| json!({"event_type": kind, "superseded_by": "m2"}))
                .collect();
            of(&events).lifecycle().life.as_str()
        };
        for (types, expected) in [
            (&[][..], "live"),
            (&["retract"], "retracted"),
            (&["retract", "restore"], "live"),
            (&["restore", "supersede"], "superseded"),
            (&["supersede", "archive", "tombstone"], "buried"),
            (&["retract", "promote"], "retracted"),
        ] {
            assert_eq!(life(types), expected, "{types:?}");
        }
    }

    // S-LIFE-4
    #[test]
    fn a_memory_past_its_time_is_out_and_is_still_there() {
        let mut line = memory();
        line["expires"] = "2026-02-01".into();
        let memory = folded(&[line]);
        assert!(!memory.is_out(at("2026-01-31T23:59:59Z")));
        assert!(memory.is_out(at("2026-02-01T00:00:00Z")));
        assert_eq!(memory.lifecycle().life, LifecycleState::Live);
        let mut odd = self::memory();
        odd["expires"] = "when it rains".into();
        assert!(!folded(&[odd]).is_out(at("2099-01-01T00:00:00Z")));
    }

    // S-LIFE-10
    #[test]
    fn what_somebody_said_is_taken_back_together_and_they_cannot_bring_it_back() {
        let mallory =
            |kind: &str| json!({"event_type": kind, "agent_id": "mallory", "verdict": "stale"});
        let by = |who: &str, kind: &str| json!({"event_type": kind, "of_agent": "Mallory", "agent_id": who});
        let harm = [mallory("retract"), mallory("feedback")];
        assert_eq!(of(&harm).lifecycle().life, LifecycleState::Retracted);
        let purged = of(&[harm[0].clone(), harm[1].clone(), by("bob", "discount")]);
        assert_eq!(
            (purged.lifecycle().life.clone(), purged.verdicts().stale),
            (LifecycleState::Live, 0)
        );
        let again = of(&[harm[0].clone(), by("bob", "discount"), by("mallory", "recount")]);
        assert_eq!(again.lifecycle().life, LifecycleState::Live);
        let undone = of(&[harm[0].clone(), by("bob", "discount"), by("bob", "recount")]);
        assert_eq!(undone.lifecycle().life, LifecycleState::Retracted);
    }

    // S-LIFE-10
    #[test]
    fn who_takes_back_their_own_words_takes_back_those_of_before() {
        let bob = |kind: &str| json!({"event_type": kind, "agent_id": "bob", "verdict": "stale", "of_agent": "bob"});
        let own = of(&[bob("feedback"), bob("discount"), bob("retract")]);
        assert_eq!(
            (own.lifecycle().life.clone(), own.verdicts().stale),
            (LifecycleState::Retracted, 0)
        );
        let author = Author::Agent("bob".to_owned());
        assert_eq!(own.life_without(&author), LifecycleState::Live);
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
        fn no_order_no_repetition_and_no_merge_changes_a_course(
            events in prop::collection::vec((any_event(), 0_usize..5), 0..14),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..40)
        ) {
            let said = events.iter().enumerate().map(|(number, (event, minute))| about(number, *minute, event));
            let lines: Vec<Value> = std::iter::once(memory()).chain(said).collect();
            let expected = folded(&lines).lifecycle().clone();
            let mut mixed: Vec<Value> = order.iter().map(|place| place.get(&lines).clone()).collect();
            // Two stores, each with half of it, merged the other way round.
            mixed.extend(lines.iter().skip(1).step_by(2).rev().cloned());
            mixed.extend(lines.iter().rev().cloned());
            prop_assert_eq!(folded(&mixed).lifecycle().clone(), expected);
        }
    }
}
