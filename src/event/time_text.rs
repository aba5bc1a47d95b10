//! Parses the times that people and agents write. Not here: the clock; callers pass `now` in.

use std::time::Duration;

use jiff::{Timestamp, civil, tz::TimeZone};

const HOUR_SECONDS: u64 = 60 * 60;
const DAY_SECONDS: u64 = 24 * HOUR_SECONDS;
/// The units of an age.
const UNITS: [(char, u64); 4] =
    [('h', HOUR_SECONDS), ('d', DAY_SECONDS), ('w', 7 * DAY_SECONDS), ('y', 365 * DAY_SECONDS)];

/// The beginning of the year 0. RFC 3339 cannot write earlier times, so they could not be read back.
pub(super) const EARLIEST: Timestamp = Timestamp::constant(-62_167_219_200, 0);

/// Reads RFC 3339, the same without an offset (taken as UTC), or a bare date (midnight UTC).
/// Returns `None` for anything else.
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    parse_any(text.trim()).filter(|instant| *instant >= EARLIEST)
}

/// Parses an age: a whole number and a unit, as in `30d`, `12h`, `2w` or `1y`. Returns `None` for anything else.
#[must_use]
pub fn parse_age(text: &str) -> Option<Duration> {
    let (unit, seconds) = UNITS.iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number = text.strip_suffix(*unit)?;
    // `u32` would accept a sign, but an age has none.
    let number: u32 =
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)?.parse().ok()?;
    Some(Duration::from_secs(u64::from(number).saturating_mul(*seconds)))
}

fn parse_any(text: &str) -> Option<Timestamp> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant);
    }
    let civil = match text.parse::<civil::DateTime>() {
        Ok(date_time) => date_time,
        Err(_) => text.parse::<civil::Date>().ok()?.to_datetime(civil::Time::midnight()),
    };
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Formats a time as lines carry it: RFC 3339 in UTC with whole seconds. RFC 3339 has no form for times before
/// the year 0; these are written with a sign and six digits, as in ISO 8601.
pub(super) fn format_timestamp(timestamp: Timestamp) -> String {
    format!("{timestamp:.0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_ways_of_writing_a_time_are_read() {
        let expected: Timestamp = "2025-10-31T04:58:01Z".parse().unwrap();
        for text in [
            "2025-10-31T04:58:01Z",
            "2025-10-31T06:58:01+02:00",
            "2025-10-31T04:58:01",
            " 2025-10-31 04:58:01 ",
        ] {
            assert_eq!(parse_timestamp(text), Some(expected), "{text}");
        }
        assert_eq!(parse_timestamp("2025-10-31"), Some("2025-10-31T00:00:00Z".parse().unwrap()));
    }

    #[test]
    fn what_is_no_time_is_no_time() {
        for text in ["", "yesterday", "31/10/2025", "2025-13-01", "1698728281", "-000001-12-31"] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
        assert_eq!(parse_timestamp("0000-01-01T00:00:00Z"), Some(EARLIEST));
    }
}
