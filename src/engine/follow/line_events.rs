//! The events of a line: one, none, or several that lost the line break between them. Not here: what a line says
//! (`event::codec`), folding (`folded_state`).

use event::{DecodedLine, Event, SkipReason, codec, joined_events};
use store::LogLine;

/// Returns the events of a line, each with the offset of its first byte; none for a blank one.
///
/// # Errors
/// Why the line is no event.
pub(super) fn events_on(
    line: LogLine<'_>,
    file_repo: &str,
) -> Result<Vec<(u64, Event)>, SkipReason> {
    let reason = match codec::decode(line.bytes, file_repo) {
        DecodedLine::Blank => return Ok(Vec::new()),
        DecodedLine::Event(event) => return Ok(vec![(line.offset, *event)]),
        DecodedLine::Skipped(reason) => reason,
    };
    let is_joined = matches!(reason, SkipReason::NotJson(_));
    let joined = is_joined.then(|| joined_events(line.bytes, file_repo)).flatten().ok_or(reason)?;
    let begin = |start: usize| line.offset.saturating_add(u64::try_from(start).unwrap_or(u64::MAX));
    Ok(joined.into_iter().map(|(place, event)| (begin(place.start), event)).collect())
}
