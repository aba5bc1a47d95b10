//! Encodes the log positions and what reading the logs found. Not here: the memories (`memory`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use event::{SkipReason, json_type};
use memory::binary_encoding::{BinaryDecoder, BinaryEncoder};
use search::snapshot::{Health, SkippedLogLine};
use store::Cursor;

/// Writes the cursors of the logs.
pub(super) fn write_cursors(cursors: &[(&str, Vec<u8>)], to: &mut BinaryEncoder) {
    to.size(cursors.len());
    for (log, cursor) in cursors {
        to.text(log);
        to.bytes(cursor);
    }
}

pub(super) fn read_cursors(from: &mut BinaryDecoder<'_>) -> Option<Vec<(PathBuf, Cursor)>> {
    let cursor = |from: &mut BinaryDecoder<'_>| {
        Some((PathBuf::from(from.text()?), Cursor::from_bytes(from.bytes()?)?))
    };
    (0..from.count()?).map(|_| cursor(from)).collect()
}

/// Writes the counts and the skips; the other fields of [`Health`] describe the moment. `None`
/// where a log's path is not UTF-8.
pub(super) fn write_health(health: &Health, to: &mut BinaryEncoder) -> Option<()> {
    to.size(health.lines);
    to.size(health.skipped);
    to.size(health.skips.len());
    for SkippedLogLine { log, offset, reason } in &health.skips {
        to.text(log.to_str()?);
        to.number(*offset);
        write_reason(reason, to);
    }
    Some(())
}

pub(super) fn read_health(from: &mut BinaryDecoder<'_>) -> Option<Health> {
    let (lines, skipped, count) = (from.size()?, from.size()?, from.count()?);
    let mut skips: Vec<SkippedLogLine> = Vec::new();
    for _ in 0..count {
        let path = Path::new(from.text()?);
        let same = skips.last().filter(|last| *last.log == *path);
        let log: Arc<Path> = same.map_or_else(|| path.into(), |last| Arc::clone(&last.log));
        skips.push(SkippedLogLine { log, offset: from.number()?, reason: read_reason(from)? });
    }
    Some(Health { lines, skipped, skips, ..Health::default() })
}

fn write_reason(reason: &SkipReason, to: &mut BinaryEncoder) {
    match reason {
        SkipReason::TooLong { line_bytes } => {
            to.number(0);
            to.number(*line_bytes);
        }
        SkipReason::NulBytes => to.number(1),
        SkipReason::TooDeep => to.number(2),
        SkipReason::NotJson(why) => {
            to.number(3);
            to.text(why);
        }
        SkipReason::NotAnObject(json_type) => {
            to.number(4);
            to.text(json_type);
        }
        SkipReason::Empty => to.number(5),
        SkipReason::NotOfMirror => to.number(6),
        SkipReason::Joined { events } => {
            to.number(7);
            to.number(u64::try_from(*events).unwrap_or(u64::MAX));
        }
    }
}

fn read_reason(from: &mut BinaryDecoder<'_>) -> Option<SkipReason> {
    Some(match from.number()? {
        0 => SkipReason::TooLong { line_bytes: from.number()? },
        1 => SkipReason::NulBytes,
        2 => SkipReason::TooDeep,
        3 => SkipReason::NotJson(from.text()?.to_owned()),
        4 => SkipReason::NotAnObject(json_type_named(from.text()?)?),
        5 => SkipReason::Empty,
        6 => SkipReason::NotOfMirror,
        7 => SkipReason::Joined { events: usize::try_from(from.number()?).ok()? },
        _ => return None,
    })
}

fn json_type_named(text: &str) -> Option<&'static str> {
    let one_of_each: [Value; 5] =
        [Value::Null, Value::Bool(true), 0.into(), "".into(), Value::Array(Vec::new())];
    one_of_each.iter().map(json_type).find(|name| *name == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_skip_reason_round_trips() {
        let json_types = [serde_json::json!(null), true.into(), 1.into(), "x".into()];
        let mut reasons: Vec<SkipReason> =
            json_types.iter().map(|value| SkipReason::NotAnObject(json_type(value))).collect();
        reasons.push(SkipReason::NotAnObject(json_type(&serde_json::json!([]))));
        reasons.extend([
            SkipReason::TooLong { line_bytes: 9 },
            SkipReason::NulBytes,
            SkipReason::TooDeep,
            SkipReason::NotJson("why".to_owned()),
            SkipReason::Empty,
            SkipReason::NotOfMirror,
        ]);
        let skip = |(offset, reason)| SkippedLogLine { log: Path::new("a").into(), offset, reason };
        let skips: Vec<SkippedLogLine> = (0..).zip(reasons).map(skip).collect();
        let health = Health { lines: 12, skipped: 11, skips, ..Health::default() };
        let mut packing = BinaryEncoder::default();
        write_health(&health, &mut packing).unwrap();
        let bytes = packing.into_bytes();
        let again = read_health(&mut BinaryDecoder::new(&bytes)).unwrap();
        assert_eq!((again.lines, again.skipped, again.skips), (12, 11, health.skips));
        assert!(
            (0..bytes.len())
                .all(|end| read_health(&mut BinaryDecoder::new(&bytes[..end])).is_none())
        );
    }
}
