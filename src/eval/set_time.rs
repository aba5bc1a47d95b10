//! Parses the time formats of published sets. Not here: the times of log lines (`event`).

use jiff::{civil::DateTime, tz::TimeZone};

use event::{Timestamp, parse_timestamp};

/// LoCoMo says "1:56 pm on 8 May, 2023", LongMemEval "2023/04/10 (Mon) 23:07".
const STYLES: [&str; 4] =
    ["%I:%M %p on %d %B, %Y", "%I:%M %p, %d %B, %Y", "%Y/%m/%d %H:%M", "%Y/%m/%d"];

/// Parses a time of a set, taken as UTC; `None` for anything else.
pub(super) fn parse_set_time(text: &str) -> Option<Timestamp> {
    if let Some(instant) = parse_timestamp(text) {
        return Some(instant);
    }
    // The day of the week adds nothing and could only contradict.
    let is_weekday = |word: &&str| word.starts_with('(') && word.ends_with(')');
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_weekday(word)).collect();
    let text = words.join(" ");
    let civil = STYLES.iter().find_map(|style| {
        let read = jiff::fmt::strtime::parse(style, &text).ok()?;
        read.to_datetime().ok().or_else(|| read.to_date().ok().map(DateTime::from))
    })?;
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Tells whether a time is more precise than a day. Equal times then mean one session.
pub(super) fn has_time_of_day(text: &str) -> bool {
    text.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_of_the_published_sets_is_read() {
        for (text, expected) in [
            ("2026-02-19", "2026-02-19T00:00:00Z"),
            ("2026-02-19T01:02:03Z", "2026-02-19T01:02:03Z"),
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00Z"),
            ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00Z"),
            ("2023/04/10 (Mon) 23:07", "2023-04-10T23:07:00Z"),
            ("2023/04/10", "2023-04-10T00:00:00Z"),
        ] {
            assert_eq!(parse_set_time(text), Some(expected.parse().unwrap()), "{text}");
        }
        for text in ["", "yesterday", "25:00 pm on 8 May, 2023", "8 May"] {
            assert_eq!(parse_set_time(text), None, "{text}");
        }
    }
}
