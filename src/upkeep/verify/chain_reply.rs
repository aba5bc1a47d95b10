//! What a verification says of the chain of a log: lines that somebody edited, deleted, inserted or moved, and what
//! explains that a log is another than before. Not here: finding it (`store`).

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::census::{ChainCensus, LogCensus, TOLD_MAX};
use crate::counted_noun::counted;
use crate::display_path::display_path;
use event::StoreOrigin;
use guard::text::{Layout, neutralise};
use store::{ChainAudit, ChainEvent, ChainEventKind, ChainFault, ChainFaultKind};

/// Most findings that the text lists.
const SHOWN_MAX: usize = 10;

pub(super) fn write_chain_report(out: &mut String, found: &LogCensus, origin: Option<&str>) {
    let log = display_path(&found.log);
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
            let _ = writeln!(
                out,
                "accepted  {log}: {}; the chain begins anew",
                counted(faults, "change")
            );
        }
        ChainCensus::Checked(audit) => {
            for fault in audit.faults.iter().take(SHOWN_MAX) {
                let _ = writeln!(out, "CHANGED   {log}{of}: {}", said_of(fault));
            }
            if let Some(more) = audit.faults.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
                let _ = writeln!(out, "          and {}", counted(more, "more change"));
            }
            for event in audit.found_earlier().take(SHOWN_MAX) {
                let (at, what) = (word(&event.at), said_of_found(&event.found));
                let _ = writeln!(
                    out,
                    "CHANGED   {log}{of}: found before {} at {at}: {what}",
                    doing(event)
                );
            }
            for text in explained(&audit.events) {
                let _ = writeln!(out, "note      {log}: {text}");
            }
        }
    }
}

/// How to go on after changes to logs of the store.
pub(super) const LOG_REMEDY: &str =
    "if you changed these logs yourself: agent-knowledge verify --accept";

/// How to go on after changes to mirrors, which nobody has a reason to make.
pub(super) const MIRROR_REMEDY: &str = "delete a changed mirror: the next agent-knowledge sync fetches it again, as far as its origin still shares it";

/// Tells how to go on if one of these files was changed.
pub(super) fn remedy(out: &mut String, logs: &[LogCensus], text: &str) {
    let is_changed =
        |log: &LogCensus| matches!(log.chain, ChainCensus::Checked(_)) && !log.chain.is_fine();
    if logs.iter().any(is_changed) {
        let _ = writeln!(out, "          {text}");
    }
}

fn said_of(fault: &ChainFault) -> String {
    let (first, last) = fault.lines;
    match fault.kind {
        ChainFaultKind::Gone => {
            let lines = last.saturating_sub(first).saturating_add(1);
            format!("the log is gone ({})", counted(lines, "line"))
        }
        ChainFaultKind::Deleted => {
            format!("{} deleted (at byte {})", lines_were(first, last), fault.bytes.start)
        }
        ChainFaultKind::Chain => format!("its chain is lost or damaged ({})", lines(first, last)),
        ChainFaultKind::Edited | ChainFaultKind::Inserted | ChainFaultKind::Reordered => {
            let (what, bytes) = (fault.kind.word(), &fault.bytes);
            format!("{} {what} (bytes {}-{})", lines_were(first, last), bytes.start, bytes.end)
        }
    }
}

/// What an event found, such as `edited:5-5,deleted:7-9`, in words.
fn said_of_found(found: &str) -> String {
    let fault = |fault: &str| {
        let (what, span) = fault.split_once(':')?;
        let (first, last) = span.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        Some(match what {
            "chain" => format!("its chain was lost or damaged ({})", lines(first, last)),
            what => format!("{} {what}", lines_were(first, last)),
        })
    };
    match found {
        "lost" => "its chain was lost".to_owned(),
        found => {
            let faults: Option<Vec<String>> = found.split(',').map(fault).collect();
            word(&faults.map_or_else(|| found.to_owned(), |faults| faults.join(", ")))
        }
    }
}

fn lines(first: u64, last: u64) -> String {
    if first >= last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

fn lines_were(first: u64, last: u64) -> String {
    let were = if first >= last { "was" } else { "were" };
    format!("{} {were}", lines(first, last))
}

fn doing(event: &ChainEvent) -> &'static str {
    match event.kind {
        ChainEventKind::Scrub => "a scrub",
        ChainEventKind::Archive => "archiving",
        ChainEventKind::Begin | ChainEventKind::Broken | ChainEventKind::Accept => "an append",
    }
}

/// What explains that the log is another than before: the newest rewritings, and the newest acceptance.
fn explained(events: &[ChainEvent]) -> Vec<String> {
    let accepted = events.iter().rposition(|event| event.kind == ChainEventKind::Accept);
    let told = events.iter().enumerate().filter_map(|(number, event)| match event.kind {
        ChainEventKind::Accept if accepted != Some(number) => None,
        _ => explained_by(event),
    });
    let told: Vec<String> = told.collect();
    let old = told.len().saturating_sub(SHOWN_MAX);
    told.into_iter().skip(old).collect()
}

fn explained_by(event: &ChainEvent) -> Option<String> {
    let at = word(&event.at);
    let segment = event.segment.as_deref().map_or_else(String::new, word);
    match event.kind {
        ChainEventKind::Scrub => {
            Some(format!("scrubbed at {at}: {}", counted(event.changed, "line")))
        }
        ChainEventKind::Archive => {
            Some(format!("archived at {at}: {}, to {segment}", counted(event.moved, "line")))
        }
        ChainEventKind::Accept if matches!(event.found.as_str(), "whole" | "unchecked") => {
            Some(format!("a person accepted the log as it was at {at}"))
        }
        ChainEventKind::Accept => {
            Some(format!("{}; a person accepted that at {at}", said_of_found(&event.found)))
        }
        ChainEventKind::Begin | ChainEventKind::Broken => None,
    }
}

fn word(text: &str) -> String {
    neutralise(text, Layout::Line)
}

pub(super) fn json_of_mirror(found: &LogCensus) -> Value {
    let origin = store::origin_of(&found.log);
    json!({
        "log": found.log.display().to_string(), "origin": origin.as_ref().map(StoreOrigin::as_str),
        "trouble": found.trouble, "chain": json_of_chain(found),
    })
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
    // A chain that was accepted just now has another head.
    let head = (state != "accepted").then(|| {
        json!({
            "begin": audit.head.begin.digits(), "hash": audit.head.hash.digits(),
            "lines": audit.lines, "bytes": audit.head.bytes,
        })
    });
    json!({
        "head": head,
        "state": state, "exists": log.symlink_metadata().is_ok(), "lines": audit.lines,
        "taken_in": audit.taken_in, "uncovered_bytes": audit.uncovered_bytes,
        "faults": faults.collect::<Vec<_>>(), "fault_count": audit.faults.len(),
        "events": events.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CHAIN-4
    #[test]
    fn what_an_event_found_is_said_in_words() {
        for (found, said) in [
            ("edited:5-5", "line 5 was edited"),
            ("edited:5-5,deleted:7-9", "line 5 was edited, lines 7-9 were deleted"),
            ("chain:1-40", "its chain was lost or damaged (lines 1-40)"),
            ("lost", "its chain was lost"),
            ("of:a-newer-version", "of:a-newer-version"),
        ] {
            assert_eq!(said_of_found(found), said);
        }
    }
}
