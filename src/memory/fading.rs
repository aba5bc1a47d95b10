//! How a memory fades: its strength halves with each half-life of its kind, counted from when it
//! was written or last helped. The strength is reported, and acted on only when somebody asks; no
//! search reads it. Not here: recency in ranking (`search::prior`).

use super::{LifecycleState, Maturity, Memory};
use event::Timestamp;

/// Half-lives by kind, in days. Facts of a day fade first, procedures last (S2 of the founding
/// systems: fact 30, pattern 90, decision 120, principle 180, procedure 365). The kinds that this
/// project adds lie between them.
const HALF_LIFE_DAYS: [(&str, f64); 9] = [
    ("task", 30.0),
    ("session", 30.0),
    ("fact", 30.0),
    ("pattern", 90.0),
    ("success", 90.0),
    ("decision", 120.0),
    ("principle", 180.0),
    ("preference", 180.0),
    ("procedure", 365.0),
];
/// The half-life of every other kind. Errors come back after years, and conventions hold until
/// somebody changes them.
const HALF_LIFE_DAYS_OTHER: f64 = 365.0;

/// A memory below this strength has faded (S2).
pub const FADED_BELOW: f64 = 0.15;
/// A memory is buried this many days after it was archived (S2).
pub const BURIED_AFTER_DAYS: i64 = 180;

const SECONDS_OF_DAY: f64 = 86_400.0;

/// What happens to a memory that was not needed for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Stays,
    /// It is archived.
    Archived,
    /// It was archived long ago and is buried.
    Buried,
}

impl Memory {
    /// Returns its strength from 0 to 1. It is 1 where the memory is pinned, proven or has no time.
    #[must_use]
    pub fn strength(&self, now: Timestamp) -> f64 {
        // A restored memory counts as needed when it was restored.
        let last = self.timestamp.max(self.verdicts().last_good).max(self.lifecycle().since);
        let Some(last) = last.filter(|_| !self.never_fades()) else { return 1.0 };
        let seconds = now.as_second().saturating_sub(last.as_second()).max(0);
        let kind = self.provenance.kind.as_str();
        let known = HALF_LIFE_DAYS.iter().find(|(known, _)| *known == kind);
        let half_life = known.map_or(HALF_LIFE_DAYS_OTHER, |(_, days)| *days);
        // An f64 represents the seconds of any age.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        let days = seconds as f64 / SECONDS_OF_DAY;
        0.5_f64.powf(days / half_life)
    }

    /// Tells whether it never fades, because it is pinned or proven.
    fn never_fades(&self) -> bool {
        self.lifecycle().is_pinned || self.maturity() == Maturity::Proven
    }

    /// Returns its fate at this age.
    #[must_use]
    pub fn fate(&self, now: Timestamp) -> Fate {
        let lifecycle = self.lifecycle();
        match lifecycle.state {
            _ if self.never_fades() => Fate::Stays,
            LifecycleState::Live if self.strength(now) < FADED_BELOW => Fate::Archived,
            LifecycleState::Archived => {
                let seconds =
                    lifecycle.since.map(|at| now.as_second().saturating_sub(at.as_second()));
                let is_long = seconds.is_some_and(|seconds| seconds / 86_400 >= BURIED_AFTER_DAYS);
                if is_long { Fate::Buried } else { Fate::Stays }
            }
            LifecycleState::Live
            | LifecycleState::Superseded { .. }
            | LifecycleState::Retracted
            | LifecycleState::Buried => Fate::Stays,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sample::folded;
    use super::*;

    fn memory(kind: &str) -> Value {
        json!({"id": "m1", "timestamp": "2026-01-01T00:00:00Z", "event_type": kind, "lesson": "x"})
    }

    fn archived_line() -> Value {
        json!({"id": "e1", "memory_id": "m1", "event_type": "archive", "timestamp": "2026-04-01T00:00:00Z"})
    }

    fn after_days(days: i64) -> Timestamp {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        Timestamp::from_second(start.as_second() + days * 86_400).unwrap()
    }

    // S-LIFE-11
    #[test]
    fn strength_halves_with_each_half_life_of_its_kind() {
        for (kind, days) in [("fact", 30), ("decision", 120), ("error", 365), ("gotcha", 365)] {
            let memory = folded(&[memory(kind)]);
            assert!((memory.strength(after_days(days)) - 0.5).abs() < 1e-9, "{kind}");
            assert!((memory.strength(after_days(-5)) - 1.0).abs() < 1e-9);
        }
    }

    // S-LIFE-11
    #[test]
    fn faded_memories_are_archived_then_buried() {
        let fact = folded(&[memory("fact")]);
        // The strength reaches .15 after 30 * log2(1 / .15) = 82.1 days.
        assert_eq!(
            (fact.fate(after_days(82)), fact.fate(after_days(83))),
            (Fate::Stays, Fate::Archived)
        );
        let archived = folded(&[memory("fact"), archived_line()]);
        assert_eq!(archived.fate(after_days(90 + 179)), Fate::Stays);
        assert_eq!(archived.fate(after_days(90 + 181)), Fate::Buried);
        let pinned = json!({"id": "e2", "memory_id": "m1", "event_type": "pin"});
        assert_eq!(
            folded(&[memory("fact"), archived_line(), pinned]).fate(after_days(999)),
            Fate::Stays
        );
        let restored = json!({"id": "e2", "memory_id": "m1", "event_type": "restore", "timestamp": "2026-06-30T00:00:00Z"});
        let restored = folded(&[memory("fact"), archived_line(), restored]);
        assert_eq!(
            (restored.fate(after_days(181)), restored.fate(after_days(180 + 83))),
            (Fate::Stays, Fate::Archived)
        );
        let timeless = json!({"id": "m1", "event_type": "fact", "lesson": "x"});
        assert_eq!(folded(&[timeless]).fate(after_days(9_999)), Fate::Stays);
    }
}
