//! A day as its user counts it: a date, yesterday, today or tomorrow, in his time zone. Not here: the clock, which is
//! passed in; times of lines, which name their zone (`time_text`).

use std::fmt;

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};

use super::time_text::EARLIEST;

/// Whose days are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DayZone {
    /// Those of UTC: replicas and tests agree on them wherever they run.
    #[default]
    Utc,
    /// Those of the user: `TZ`, or the zone of the system. It is looked up each time, since a laptop travels.
    System,
}

impl DayZone {
    fn zone(self) -> TimeZone {
        match self {
            Self::Utc => TimeZone::UTC,
            Self::System => TimeZone::system(),
        }
    }
}

/// A day, not yet seen from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarDay {
    /// `2026-03-01`
    Date(Date),
    /// The day before today.
    Yesterday,
    /// The day of now.
    Today,
    /// The day after today.
    Tomorrow,
}

impl CalendarDay {
    /// Reads a date or one of three words, in any case; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let words = [Self::Yesterday, Self::Today, Self::Tomorrow];
        let word = words.into_iter().find(|day| text.eq_ignore_ascii_case(&day.to_string()));
        word.or_else(|| {
            let is_date = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            let date: Date = text.parse().ok().filter(|_| is_date)?;
            (date.to_zoned(TimeZone::UTC).ok()?.timestamp() >= EARLIEST).then_some(Self::Date(date))
        })
    }

    /// Returns the first instant of the day.
    #[must_use]
    pub fn first(self, now: Timestamp, days: DayZone) -> Timestamp {
        begin(self.date(now, days), days)
    }

    /// Returns the last instant of the day, which counts whole.
    #[must_use]
    pub fn last(self, now: Timestamp, days: DayZone) -> Timestamp {
        let next = self.date(now, days).tomorrow().map_or(Timestamp::MAX, |date| begin(date, days));
        next.checked_sub(1.nanosecond()).unwrap_or(Timestamp::MAX)
    }

    fn date(self, now: Timestamp, days: DayZone) -> Date {
        let today = now.to_zoned(days.zone()).date();
        match self {
            Self::Date(date) => date,
            Self::Yesterday => today.yesterday().unwrap_or(today),
            Self::Today => today,
            Self::Tomorrow => today.tomorrow().unwrap_or(today),
        }
    }
}

/// Returns when a day begins: not at midnight, where the clocks are put forward then.
fn begin(date: Date, days: DayZone) -> Timestamp {
    date.to_zoned(days.zone()).map_or(Timestamp::MAX, |zoned| zoned.timestamp())
}

/// In the form that [`CalendarDay::parse`] reads.
impl fmt::Display for CalendarDay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(date) => write!(out, "{date}"),
            Self::Yesterday => out.write_str("yesterday"),
            Self::Today => out.write_str("today"),
            Self::Tomorrow => out.write_str("tomorrow"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FIND-1
    #[test]
    fn a_day_is_a_date_or_a_word() {
        for text in ["2026-03-01", "today", "Tomorrow", " yesterday "] {
            let day = CalendarDay::parse(text).unwrap();
            assert_eq!(day.to_string(), text.trim().to_lowercase());
        }
        for text in ["", "2026-13-01", "2026-03-01T00:00", "20260301T1", "gestern", "-000001-12-31"]
        {
            assert_eq!(CalendarDay::parse(text), None, "{text}");
        }
    }

    // S-FIND-1
    #[test]
    fn a_day_counts_whole() {
        let now: Timestamp = "2026-03-31T12:00:00Z".parse().unwrap();
        for (text, first) in [
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("today", "2026-03-31T00:00:00Z"),
            ("yesterday", "2026-03-30T00:00:00Z"),
            ("tomorrow", "2026-04-01T00:00:00Z"),
        ] {
            let day = CalendarDay::parse(text).unwrap();
            let first: Timestamp = first.parse().unwrap();
            assert_eq!(day.first(now, DayZone::Utc), first, "{text}");
            let end = first.checked_add(24.hours()).unwrap();
            assert!(day.last(now, DayZone::Utc) < end, "{text}");
            assert!(day.last(now, DayZone::Utc) > end.checked_sub(1.second()).unwrap(), "{text}");
        }
    }
}
