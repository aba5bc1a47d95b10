//! Encodes an event in a few bytes, and decodes it exactly. The id and the time are left out, since
//! the memory holds them. Not here: where the bytes are stored (`texts`), lines of logs
//! (`event::codec`).

use serde_json::{Map, Value};

use super::binary_encoding::{BinaryDecoder, BinaryEncoder};
use event::{Event, EventId, EventType, SuccessRate, Timestamp};

/// Writes an event.
pub fn write(event: &Event, to: &mut BinaryEncoder) {
    for text in [&event.agent_id, &event.repo, event.event_type.as_str()] {
        to.text(text);
    }
    for text in [&event.context, &event.command, &event.lesson] {
        to.text(text);
    }
    for list in [&event.tags, &event.symptoms, &event.files] {
        to.size(list.len());
        list.iter().for_each(|text| to.text(text));
    }
    let optional = [&event.commit, &event.branch, &event.session_id, &event.host, &event.source];
    optional.into_iter().for_each(|text| to.optional_text(text.as_deref()));
    to.optional_text(event.memory_id.as_ref().map(EventId::as_str));
    let (successes, attempts) = event.success_rate.map_or((0, 0), SuccessRate::counts);
    to.number(successes.into());
    to.number(attempts.into());
    to.number(event.schema.is_some().into());
    event.schema.into_iter().for_each(|schema| to.number(schema));
    if event.extra.is_empty() {
        to.text("");
    } else {
        // Unknown fields are stored as JSON text, which keeps them exactly.
        to.text(&serde_json::to_string(&event.extra).unwrap_or_default());
    }
}

/// Reads the event of an id and a time. `None` for bytes that [`write()`] did not write.
pub fn read(
    from: &mut BinaryDecoder<'_>,
    id: EventId,
    timestamp: Option<Timestamp>,
) -> Option<Event> {
    let agent_id = from.text()?.to_owned();
    let repo = from.text()?.to_owned();
    let event_type = EventType::from_line(from.text()?);
    let context = from.text()?.to_owned();
    let command = from.text()?.to_owned();
    let lesson = from.text()?.to_owned();
    let (tags, symptoms, files) = (list(from)?, list(from)?, list(from)?);
    let commit = from.optional_text()?.map(str::to_owned);
    let branch = from.optional_text()?.map(str::to_owned);
    let session_id = from.optional_text()?.map(str::to_owned);
    let host = from.optional_text()?.map(str::to_owned);
    let source = from.optional_text()?.map(str::to_owned);
    let memory_id = match from.optional_text()? {
        Some(text) => Some(EventId::foreign(text)?),
        None => None,
    };
    let counts = (u32::try_from(from.number()?).ok()?, u32::try_from(from.number()?).ok()?);
    let success_rate = match counts {
        (0, 0) => None,
        (successes, attempts) => Some(SuccessRate::from_counts(successes, attempts)?),
    };
    let schema = match from.number()? {
        0 => None,
        1 => Some(from.number()?),
        _ => return None,
    };
    let extra = extra(from.text()?)?;
    Some(Event {
        id,
        timestamp,
        agent_id,
        repo,
        event_type,
        context,
        command,
        lesson,
        success_rate,
        tags,
        symptoms,
        files,
        commit,
        branch,
        session_id,
        host,
        source,
        schema,
        memory_id,
        extra,
    })
}

fn list(from: &mut BinaryDecoder<'_>) -> Option<Vec<String>> {
    let count = from.count()?;
    (0..count).map(|_| from.text().map(str::to_owned)).collect()
}

fn extra(text: &str) -> Option<Map<String, Value>> {
    if text.is_empty() { Some(Map::new()) } else { serde_json::from_str(text).ok() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use event::{DecodedLine, codec};

    fn event(line: &Value) -> Event {
        match codec::decode(line.to_string().as_bytes(), "api") {
            DecodedLine::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    fn bytes(event: &Event) -> Vec<u8> {
        let mut packing = BinaryEncoder::default();
        write(event, &mut packing);
        packing.into_bytes()
    }

    fn back(bytes: &[u8], event: &Event) -> Option<Event> {
        let mut packed = BinaryDecoder::new(bytes);
        read(&mut packed, event.id.clone(), event.timestamp).filter(|_| packed.is_at_end())
    }

    fn full() -> Event {
        event(&serde_json::json!({
            "id": "m1", "timestamp": "2026-01-02T03:04:05.678Z", "agent_id": "a", "repo": "R/x",
            "event_type": "odd kind", "context": "c\n", "command": "do", "lesson": "ü",
            "success_rate": "3/4", "tags": ["t", ""], "symptoms": ["s"], "files": ["f"], "commit": "1",
            "branch": "b", "session_id": "s", "host": "h", "source": "human", "memory_id": "m0",
            "schema": 18_446_744_073_709_551_615_u64,
            "x": [1.0, -0.0, 1e300, 9_007_199_254_740_993_u64, null, {"b": 1, "a": "\u{0}"}],
        }))
    }

    #[test]
    fn every_field_round_trips() {
        for event in [full(), event(&serde_json::json!({"lesson": "x"}))] {
            assert_eq!(back(&bytes(&event), &event).as_ref(), Some(&event));
        }
    }

    #[test]
    fn a_truncated_record_is_none() {
        let event = full();
        let bytes = bytes(&event);
        assert!((0..bytes.len()).all(|end| back(&bytes[..end], &event).is_none()));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(
            place in any::<prop::sample::Index>(), byte in any::<u8>(),
            noise in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let event = full();
            let mut bytes = bytes(&event);
            let place = place.index(bytes.len());
            bytes[place] = byte;
            let _ = back(&bytes, &event);
            let _ = back(&noise, &event);
        }
    }
}
