//! The verdicts on a memory, counted, and what follows from them: maturity, candidates, expiry.
//! They are a function of the set of events, so neither order nor repetition matters. Not here:
//! their effect on ranking (`search::prior`).

use super::Memory;
use event::{EventId, HOOK, Timestamp, Verdict};

/// A candidate that nothing confirmed expires after this many seconds: thirty days. Somebody who
/// meets the same failure once a month learns as much from the failure itself.
pub const CANDIDATE_SECONDS_MAX: i64 = 30 * 24 * 3_600;

/// How often each verdict was given, one for each voice ([`super::Lifecycle`]).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdicts {
    /// It worked.
    pub worked: u32,
    /// It failed.
    pub failed: u32,
    /// It no longer holds.
    pub stale: u32,
    /// It is right.
    pub confirmed: u32,
    /// Whether the latest verdict on its truth is `stale`.
    pub is_stale: bool,
    /// When it last worked or was confirmed.
    pub last_good: Option<Timestamp>,
}

/// How far a memory has proven itself by use.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Maturity {
    /// Nobody reported using it, or the verdicts against it are at least as many as those for it.
    Candidate,
    /// It worked.
    Established,
    /// It worked in at least [`PROVEN_MIN`] sessions, and far more often than not.
    Proven,
}

/// A memory is proven once it worked in this many sessions.
pub const PROVEN_MIN: u32 = 3;
/// The lower bound of its success rate must be at least this too.
const PROVEN_SUCCESS_MIN: f64 = 0.5;

impl Maturity {
    /// Returns its name in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Established => "established",
            Self::Proven => "proven",
        }
    }
}

impl Verdicts {
    /// No verdict.
    pub(super) const NONE: Self =
        Self { worked: 0, failed: 0, stale: 0, confirmed: 0, is_stale: false, last_good: None };

    /// Counts verdicts. Of several at one time the greatest event id is the latest.
    pub(super) fn of(
        verdicts: impl Iterator<Item = (Option<Timestamp>, EventId, Verdict)>,
    ) -> Self {
        let mut counted = Self::default();
        let mut latest = None;
        for (at, id, verdict) in verdicts {
            let count = counted.count_mut(verdict);
            *count = count.saturating_add(1);
            if matches!(verdict, Verdict::Worked | Verdict::Confirmed) {
                counted.last_good = counted.last_good.max(at);
            }
            // One failure may have other reasons, so it says nothing about staleness.
            if verdict != Verdict::Failed
                && latest.as_ref().is_none_or(|before| *before < (at, id.clone()))
            {
                counted.is_stale = verdict == Verdict::Stale;
                latest = Some((at, id));
            }
        }
        counted
    }

    fn count_mut(&mut self, verdict: Verdict) -> &mut u32 {
        match verdict {
            Verdict::Worked => &mut self.worked,
            Verdict::Failed => &mut self.failed,
            Verdict::Stale => &mut self.stale,
            Verdict::Confirmed => &mut self.confirmed,
        }
    }

    /// Tells whether it has more verdicts for it than against it.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        self.worked.saturating_add(self.confirmed) > self.failed.saturating_add(self.stale)
    }
}

impl Memory {
    /// Returns its verdicts, counted.
    #[must_use]
    pub fn verdicts(&self) -> &Verdicts {
        &self.lifecycle().verdicts
    }

    /// Returns its maturity. Only helpful use raises it, not being shown.
    #[must_use]
    pub fn maturity(&self) -> Maturity {
        let verdicts = self.verdicts();
        let is_sound = self.evidence().is_some_and(|rate| rate.lower_bound() >= PROVEN_SUCCESS_MIN);
        match verdicts.worked {
            PROVEN_MIN.. if is_sound && verdicts.is_proven() => Maturity::Proven,
            1.. if verdicts.is_proven() => Maturity::Established,
            _ => Maturity::Candidate,
        }
    }

    /// Tells whether a hook wrote it and nothing has proven it since.
    #[must_use]
    pub fn is_candidate(&self) -> bool {
        self.is_candidate_with(&self.lifecycle().deciding)
    }

    fn is_candidate_with(&self, verdicts: &Verdicts) -> bool {
        self.provenance.source.as_deref() == Some(HOOK) && !verdicts.is_proven()
    }

    /// Tells whether it is an expired candidate. It can still be cited by its id.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.is_expired_with(&self.lifecycle().deciding, now)
    }

    pub(super) fn is_expired_with(&self, verdicts: &Verdicts, now: Timestamp) -> bool {
        let is_old = |then: Timestamp| {
            now.as_second().saturating_sub(then.as_second()) > CANDIDATE_SECONDS_MAX
        };
        self.is_candidate_with(verdicts) && self.timestamp.is_some_and(is_old)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::sample::folded;
    use super::*;

    fn candidate() -> Value {
        json!({"id": "m1", "timestamp": "2026-01-01T00:00:00Z", "event_type": "error",
            "lesson": "x", "source": "hook"})
    }

    fn verdict(id: usize, verdict: &str) -> Value {
        json!({"id": format!("f{id}"), "event_type": "feedback", "memory_id": "m1", "verdict": verdict})
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    // S-HOOK-7
    #[test]
    fn a_candidate_stays_one_until_verdicts_favour_it() {
        let is_candidate = |verdicts: &[&str]| {
            let events = (0..).zip(verdicts).map(|(id, word)| verdict(id, word));
            folded(&std::iter::once(candidate()).chain(events).collect::<Vec<_>>()).is_candidate()
        };
        assert!(is_candidate(&[]) && is_candidate(&["failed"]) && is_candidate(&["perhaps"]));
        assert!(!is_candidate(&["worked"]) && !is_candidate(&["confirmed"]));
        assert!(is_candidate(&["worked", "stale"]));
        assert!(!is_candidate(&["worked", "failed", "worked"]));
        let mut first_hand = candidate();
        first_hand["source"] = "agent".into();
        assert!(!folded(&[first_hand]).is_candidate());
        let other_kind =
            json!({"id": "f1", "event_type": "note", "memory_id": "m1", "verdict": "worked"});
        assert!(folded(&[candidate(), other_kind]).is_candidate());
    }

    // S-HOOK-7
    #[test]
    fn an_unproven_candidate_expires_after_thirty_days() {
        let memory = folded(&[candidate()]);
        assert!(!memory.is_expired(at("2026-01-31T00:00:00Z")));
        assert!(memory.is_expired(at("2026-01-31T00:00:01Z")));
        assert!(
            !folded(&[candidate(), verdict(1, "worked")]).is_expired(at("2027-01-01T00:00:00Z"))
        );
        let mut timeless = candidate();
        timeless.as_object_mut().unwrap().remove("timestamp");
        assert!(!folded(&[timeless]).is_expired(at("2027-01-01T00:00:00Z")));
    }

    proptest! {
        // S-HOOK-7
        #[test]
        fn order_and_repetition_keep_the_verdicts(
            verdicts in prop::collection::vec((0_usize..6, 0_usize..4), 0..12),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..30)
        ) {
            let mut lines = vec![candidate()];
            lines.extend(verdicts.iter().map(|(id, word)| verdict(*id, Verdict::ALL[*word].as_str())));
            let expected = folded(&lines).verdicts().clone();
            let mut mixed: Vec<Value> = order.iter().map(|place| place.get(&lines).clone()).collect();
            mixed.extend(lines.iter().rev().cloned());
            prop_assert_eq!(folded(&mixed).verdicts().clone(), expected);
        }
    }
}
