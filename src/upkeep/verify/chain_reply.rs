//! What a verification says of the chain of a log: lines that somebody edited, deleted, inserted or moved, and what
//! explains that a log is another than before. Not here: finding it (`store`).

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::census::{ChainCensus, LogCensus, TOLD_MAX};
use crate::shown_path::shown;
use event::StoreOrigin;
use guard::text::{Layout, neutralise};
use store::{ChainAudit, ChainEvent, ChainEventKind, ChainFault, ChainFaultKind};

/// Most findings that the text lists.
const SHOWN_MAX: usize = 10;

pub(super) fn about_chain(out: &mut String, found: &LogCensus, origin: Option<&str>) {
    let log = shown(&found.log);
    let other = store::origin_of(&found.log);
    let origin = other.as_ref().map(StoreOrigin::as_str).or(origin);
    let of = origin.map_or_else(String::new, |origin| format!(" of {origin}"));
    match &found.chain {
        ChainCensus::None => {}
        ChainCensus::Busy(why) => {
            let why = word(why);
            let _ = writeln!(out, "note      {log}: its chain was not checked: failed to {why}");
        }
        ChainCensus::Unreadable(why) => {
            let why = word(why);
            let _ = writeln!(out, "TROUBLE   {log}: its chain was not checked: failed to {why}");
        }
        ChainCensus::Accepted(audit) => {
            let faults = audit.faults.len() + audit.found_earlier().count();
            let _ = writeln!(out, "accepted  {log}: {faults} changes; the chain begins anew");
        }
        ChainCensus::Checked(audit) => {
            for fault in audit.faults.iter().take(SHOWN_MAX) {
                let _ = writeln!(out, "CHANGED   {log}{of}: {}", said_of(fault));
            }
            if let Some(more) = audit.faults.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
                let _ = writeln!(out, "          and {more} more changes");
            }
            for event in audit.found_earlier().take(SHOWN_MAX) {
                let (at, what) = (word(&event.at), word(&event.found));
                let _ = writeln!(
                    out,
                    "CHANGED   {log}{of}: found before {} at {at}: {what}",
                    doing(event)
                );
            }
            let explained: Vec<String> = audit.events.iter().filter_map(explained).collect();
            for text in explained.iter().rev().take(SHOWN_MAX).rev() {
                let _ = writeln!(out, "note      {log}: {text}");
            }
        }
    }
}

/// Tells how to go on after changes that somebody made on purpose.
pub(super) fn remedy(out: &mut String, logs: &[LogCensus]) {
    let is_changed =
        |log: &LogCensus| matches!(log.chain, ChainCensus::Checked(_)) && !log.chain.is_fine();
    if logs.iter().any(is_changed) {
        let _ = writeln!(
            out,
            "          if you changed these logs yourself: agent-knowledge verify --accept"
        );
    }
}

fn said_of(fault: &ChainFault) -> String {
    let (first, last) = fault.lines;
    let lines =
        if first >= last { format!("line {first}") } else { format!("lines {first}-{last}") };
    let bytes = format!("bytes {}-{}", fault.bytes.start, fault.bytes.end);
    let were = if first >= last { "was" } else { "were" };
    match fault.kind {
        ChainFaultKind::Deleted => {
            format!("{lines} {were} deleted (at byte {})", fault.bytes.start)
        }
        ChainFaultKind::Chain => format!("its chain is lost or damaged ({lines})"),
        ChainFaultKind::Edited | ChainFaultKind::Inserted | ChainFaultKind::Reordered => {
            format!("{lines} {were} {} ({bytes})", fault.kind.word())
        }
    }
}

fn doing(event: &ChainEvent) -> &'static str {
    match event.kind {
        ChainEventKind::Scrub => "a scrub",
        ChainEventKind::Archive => "archiving",
        ChainEventKind::Begin | ChainEventKind::Broken | ChainEventKind::Accept => "an append",
    }
}

fn explained(event: &ChainEvent) -> Option<String> {
    let at = word(&event.at);
    let segment = event.segment.as_deref().map_or_else(String::new, word);
    match event.kind {
        ChainEventKind::Scrub => Some(format!("scrubbed at {at}: {} lines", event.changed)),
        ChainEventKind::Archive => {
            Some(format!("archived at {at}: {} lines, to {segment}", event.moved))
        }
        ChainEventKind::Accept => {
            Some(format!("accepted at {at} by a person: {}", word(&event.found)))
        }
        ChainEventKind::Begin | ChainEventKind::Broken => None,
    }
}

fn word(text: &str) -> String {
    neutralise(text, Layout::Line)
}

pub(super) fn json_of_chain(found: &LogCensus) -> Value {
    match &found.chain {
        ChainCensus::None => Value::Null,
        ChainCensus::Busy(why) | ChainCensus::Unreadable(why) => {
            json!({ "state": "unchecked", "why": why })
        }
        ChainCensus::Accepted(audit) => json_of_audit(audit, "accepted", &found.log),
        ChainCensus::Checked(audit) if audit.is_whole() => {
            json_of_audit(audit, "whole", &found.log)
        }
        ChainCensus::Checked(audit) => json_of_audit(audit, "changed", &found.log),
    }
}

fn json_of_audit(audit: &ChainAudit, state: &str, log: &Path) -> Value {
    let faults = audit.faults.iter().take(TOLD_MAX).map(|fault| {
        json!({
            "what": fault.kind.word(), "first_line": fault.lines.0, "last_line": fault.lines.1,
            "first_byte": fault.bytes.start, "end_byte": fault.bytes.end,
        })
    });
    let events = audit.events.iter().map(|event| {
        json!({
            "what": event.kind.word(), "at": event.at, "changed": event.changed, "moved": event.moved,
            "segment": event.segment, "found": event.found,
        })
    });
    json!({
        "state": state, "exists": log.symlink_metadata().is_ok(), "lines": audit.lines,
        "taken_in": audit.taken_in, "uncovered_bytes": audit.uncovered_bytes,
        "faults": faults.collect::<Vec<_>>(), "fault_count": audit.faults.len(),
        "events": events.collect::<Vec<_>>(),
    })
}
