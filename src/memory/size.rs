//! Estimates the memory that a memory takes, from its lines alone: the estimate must be the same on
//! every machine and for every order of reading. Not here: the bound itself (`bound`).
//!
//! The figures are fitted to the peak memory of processes that read stores of short, usual and long
//! lines (`scripts/memory`, benches/runs): the texts, the records around them, and the lexical
//! index, which holds a few bytes for each word.

use std::sync::Arc;

use serde_json::Value;

use super::bound::MemoryBound;
use super::version::is_stamp;
use super::{Memory, Version};
use event::limits::SHORT_BYTES_MAX;
use event::{Event, EventId};

/// Bytes of a memory without its events: its entries in the maps and the index.
const MEMORY_BYTES: u64 = 200;

/// Bytes of an event without its texts, with the allocator's overhead.
const EVENT_BYTES: u64 = 800;

/// Bytes of a text without its content.
const TEXT_BYTES: u64 = 40;

/// Bytes of a value in an unknown field.
const VALUE_BYTES: u64 = 120;

/// Bytes of the lexical index for 16 bytes of text, including its rewriting and its hash tables.
/// This holds for texts that share most words; words that occur in one text only take several times
/// as much (benches/runs/2026-11-22-words.md).
const INDEX_SIXTEENTHS: u64 = 12;

/// Returns the size of a memory with all contents under its id and all events about it. They all
/// count alike, since which content is shown may change while lines are read.
pub(super) fn of_memory(memory: &Memory, bound: MemoryBound) -> u64 {
    let others = [memory.about(), memory.conflicts(), memory.copies()];
    let events = of_event(&memory.line_event()) + others.into_iter().map(of_versions).sum::<u64>();
    of_empty_memory(bound).saturating_add(events)
}

/// Returns the size of a memory without its events.
pub(super) fn of_empty_memory(bound: MemoryBound) -> u64 {
    MEMORY_BYTES.saturating_add(bound.vector_bytes)
}

/// Returns the size of one event.
pub(super) fn of_event(event: &Event) -> u64 {
    let indexed = indexed_bytes(event);
    EVENT_BYTES + indexed + indexed * INDEX_SIXTEENTHS / 16 + other_bytes(event)
}

/// Returns the size of several events.
pub(super) fn of_versions(versions: &[Arc<Version>]) -> u64 {
    versions.iter().map(|version| of_event(&version.event)).sum()
}

/// Returns the size of the texts that are indexed too.
fn indexed_bytes(event: &Event) -> u64 {
    let single = [&event.context, &event.lesson, &event.command];
    let lists = [&event.symptoms, &event.tags, &event.files];
    let listed: u64 = lists.into_iter().flatten().map(|text| TEXT_BYTES + length(text)).sum();
    single.into_iter().map(|text| length(text)).sum::<u64>() + listed
}

/// Returns the size of all other fields. Fields that the writer fills in do not count, unless they
/// are longer than the writer makes them: an event that was sent twice must have one size.
fn other_bytes(event: &Event) -> u64 {
    let stamps = [&event.commit, &event.branch, &event.session_id, &event.host];
    let long = stamps.into_iter().flatten().filter(|text| text.len() > SHORT_BYTES_MAX);
    let texts = long.chain([&event.agent_id]).chain(&event.source).map(|text| length(text));
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
