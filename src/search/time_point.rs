//! A point in time in a query: a time, a day or an age. Not here: the clock, which is passed in; the time of a line
//! (`event`).

use std::fmt;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use event::{CalendarDay, DayZone, Timestamp, parse_age, parse_timestamp};

const HOUR_SECONDS: u64 = 60 * 60;

/// A point in time, not yet seen from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimePoint {
    /// An instant.
    At(Timestamp),
    /// A whole day.
    Day(CalendarDay),
    /// This long before now.
    Ago(Duration),
}

impl TimePoint {
    /// What [`TimePoint::parse`] understands, for a message.
    pub const ALLOWED: &str = "a time, a day or an age, for example 2026-03-01T12:00:00Z, 2026-03-01, today, 30d, 12h, 2w or 1y";

    /// Reads RFC 3339 (UTC where it names no zone), a day, or an age in hours, days, weeks or years; `None` for
    /// anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let age = || parse_age(text).map(Self::Ago);
        let day = || CalendarDay::parse(text).map(Self::Day);
        age().or_else(day).or_else(|| parse_timestamp(text).map(Self::At))
    }

    /// The first instant that is meant.
    #[must_use]
    pub fn first(self, now: Timestamp, days: DayZone) -> Timestamp {
        match self {
            Self::At(instant) => instant,
            Self::Day(day) => day.first(now, days),
            // An age that reaches past the beginning of time means all of it.
            Self::Ago(age) => now.checked_sub(age).unwrap_or(Timestamp::MIN),
        }
    }

    /// The last instant that is meant: the end of a day, which counts whole.
    #[must_use]
    pub fn last(self, now: Timestamp, days: DayZone) -> Timestamp {
        match self {
            Self::Day(day) => day.last(now, days),
            other => other.first(now, days),
        }
    }
}

/// In the form that [`TimePoint::parse`] reads.
impl fmt::Display for TimePoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(instant) => write!(out, "{instant}"),
            Self::Day(day) => write!(out, "{day}"),
            Self::Ago(age) => write!(out, "{}h", age.as_secs() / HOUR_SECONDS),
        }
    }
}

impl Serialize for TimePoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimePoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("no point in time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn both(text: &str) -> (Timestamp, Timestamp) {
        let (point, now) = (TimePoint::parse(text).unwrap(), at("2026-03-31T12:00:00Z"));
        (point.first(now, DayZone::Utc), point.last(now, DayZone::Utc))
    }

    // S-FIND-1
    #[test]
    fn times_days_and_ages_are_understood() {
        let instant = at("2026-03-01T10:00:00Z");
        assert_eq!(both("2026-03-01T12:00:00+02:00"), (instant, instant));
        assert_eq!(both("30d").0, at("2026-03-01T12:00:00Z"));
        assert_eq!(both("12h").0, at("2026-03-31T00:00:00Z"));
        assert_eq!(both(" 2w "), both("14d"));
        assert_eq!(both("1y"), both("365d"));
        assert_eq!(both("4294967295w").0, Timestamp::MIN);
    }

    // S-FIND-1
    #[test]
    fn a_day_counts_whole() {
        let (first, last) = both("2026-03-01");
        assert_eq!(first, at("2026-03-01T00:00:00Z"));
        assert_eq!(last, at("2026-03-01T23:59:59.999999999Z"));
    }

    #[test]
    fn anything_else_is_no_point_in_time() {
        for text in ["", "d", "-3d", "+3d", "3.5d", "3m", "30 d", "gestern", "4294967296w", "3D"] {
            assert_eq!(TimePoint::parse(text), None, "{text}");
        }
    }
}
