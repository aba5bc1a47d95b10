//! What a memory takes, estimated from what its lines say: it must be the same whatever order they were
//! read in, and wherever. Not here: what is done about it (`bound`).
//!
//! The figures are fitted to what processes took at their peak, `scripts/memory` over stores of short,
//! usual and long lines (benches/runs): the texts as they are, the records around them, and the index of
//! words, which holds a few bytes for each word.

use std::sync::Arc;

use serde_json::Value;

use super::bound::Bound;
use super::version::is_stamp;
use super::{Memory, Version};
use event::limits::SHORT_BYTES_MAX;
use event::{Event, EventId};

/// What a memory takes besides what is said of it: its entries in the maps and the index.
const MEMORY_BYTES: u64 = 200;

/// What a record takes that says nothing: an event under its id or about it, with the allocator's share.
const SAID_BYTES: u64 = 800;

/// What a text takes besides its bytes.
const TEXT_BYTES: u64 = 40;

/// What a value inside a field takes that we do not know.
const VALUE_BYTES: u64 = 120;

/// How many bytes the index of words takes for 16 bytes of text, its rewriting and its tables of hashes included.
/// True of texts that have most words in common; of names that stand in one text each it takes some times as much
/// (benches/runs/2026-11-22-words.md).
const INDEX_SIXTEENTHS: u64 = 12;

/// Returns what a memory takes: what is said under its id and about it. All of that counts alike, since
/// which of several contents is shown may change while lines are read.
pub(super) fn of_memory(memory: &Memory, bound: Bound) -> u64 {
    let said =
        of_event(&memory.event()) + of_versions(memory.about()) + of_versions(memory.conflicts());
    of_empty_memory(bound).saturating_add(said)
}

/// Returns what a memory takes besides what is said.
pub(super) fn of_empty_memory(bound: Bound) -> u64 {
    MEMORY_BYTES.saturating_add(bound.vector_bytes)
}

/// Returns what one event takes.
pub(super) fn of_event(event: &Event) -> u64 {
    let indexed = indexed_bytes(event);
    SAID_BYTES + indexed + indexed * INDEX_SIXTEENTHS / 16 + other_bytes(event)
}

/// Returns what several events take.
pub(super) fn of_versions(versions: &[Arc<Version>]) -> u64 {
    versions.iter().map(|version| of_event(&version.event)).sum()
}

/// The texts that the index of words holds too.
fn indexed_bytes(event: &Event) -> u64 {
    let single = [&event.context, &event.lesson, &event.command];
    let lists = [&event.symptoms, &event.tags, &event.files];
    let listed: u64 = lists.into_iter().flatten().map(|text| TEXT_BYTES + length(text)).sum();
    single.into_iter().map(|text| length(text)).sum::<u64>() + listed
}

/// All else that is said. What the door fills in is not, unless it is longer than the door makes it: an
/// event that was sent twice must have one size.
fn other_bytes(event: &Event) -> u64 {
    let stamps = [&event.commit, &event.branch, &event.session_id, &event.host];
    let said = stamps.into_iter().flatten().filter(|text| text.len() > SHORT_BYTES_MAX);
    let texts = said.chain([&event.agent_id]).chain(&event.source).map(|text| length(text));
    let ids = event.memory_id.iter().map(|id: &EventId| length(id.as_str()));
    let unknown = event.extra.iter().filter(|(name, value)| !is_stamp(name, value));
    let unknown = unknown.map(|(name, value)| length(name) + of_value(value));
    length(event.event_type.as_str()) + texts.chain(ids).chain(unknown).sum::<u64>()
}

fn of_value(value: &Value) -> u64 {
    VALUE_BYTES
        + match value {
            Value::String(text) => length(text),
            Value::Array(items) => items.iter().map(of_value).sum(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| TEXT_BYTES + length(name) + of_value(value)).sum()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}
