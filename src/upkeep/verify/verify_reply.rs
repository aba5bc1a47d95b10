//! The report of a verification, as text and JSON. Not here: verifying.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::census::{Findings, LinePosition, LogCensus, StoreCensus, TOLD_MAX};
use super::chain_reply::{
    LOG_REMEDY, MIRROR_REMEDY, json_of_chain, json_of_mirror, remedy, write_chain_report,
};
use super::doubled_reply::{json_of_doubled, write_doubled_report};
use crate::counted_noun::counted;
use crate::display_path::display_path;
use event::EventId;
use guard::text::{Layout, neutralise};
use reply::Reply;
use store::Store;

/// Most findings of one kind that the text lists; `--json` lists more.
const SHOWN_MAX: usize = 10;

pub(super) fn reply(census: &StoreCensus, root: &Path) -> Reply {
    Reply::new(text(census, root), json(census))
}

fn text(census: &StoreCensus, root: &Path) -> String {
    let mut out = String::new();
    for (files, how) in [(&census.logs, LOG_REMEDY), (&census.mirrors, MIRROR_REMEDY)] {
        for file in files {
            about_log(&mut out, file);
            write_doubled_report(&mut out, file);
            write_chain_report(&mut out, file, census.origin.as_deref());
        }
        remedy(&mut out, files, how);
    }
    let lines = |places: &[LinePosition]| {
        let named = places.iter().take(SHOWN_MAX).map(|place| name_of_line(census, *place));
        named.collect::<Vec<_>>().join(", ") + &more(places.len())
    };
    for (id, places) in census.conflicts.iter().take(SHOWN_MAX) {
        let _ = writeln!(out, "CONFLICT  {id} has different contents: {}", lines(places));
    }
    write_more(&mut out, ["conflict", "conflicts"], census.conflicts.len());
    for (id, places) in census.orphans.iter().take(SHOWN_MAX) {
        let _ = writeln!(
            out,
            "note      memory {id} is in none of these logs, but named in {}",
            lines(places)
        );
    }
    write_more(&mut out, ["such memory", "such memories"], census.orphans.len());
    let copied = census.total(|log| log.copied);
    if copied > 0 {
        let folder = display_path(&root.join(".quarantine"));
        let _ = writeln!(
            out,
            "note      {} copied to {folder}; the logs were not changed",
            counted(copied, "damaged line")
        );
    }
    out.push_str(&census.own.text("SECRET"));
    if !census.own.found.is_empty() {
        let _ = writeln!(out, "          agent-knowledge scrub removes these too");
    }
    out + &summary(census)
}

fn summary(census: &StoreCensus) -> String {
    let (lines, events) = (census.total(|log| log.lines), census.total(|log| log.events));
    let skipped = census.total(|log| log.skipped.count);
    let cut_off = census.total(|log| log.cut_off.count);
    let repeated = census.total(|log| log.repeated);
    let secrets = census.total(|log| log.secrets.count) + census.own.found.len();
    let segments = census.logs.iter().filter(|found| Store::is_segment(&found.log)).count();
    let conflicts = census.conflicts.len();
    let ids = if conflicts == 1 { "id" } else { "ids" };
    let [changed, changed_mirrors] =
        [&census.logs, &census.mirrors].map(|files| changed_len(files));
    let mut text = counted(census.logs.len() - segments, "log");
    if segments > 0 {
        let _ = write!(text, ", {}", counted(segments, "segment"));
    }
    if !census.mirrors.is_empty() {
        let _ = write!(text, ", {}", counted(census.mirrors.len(), "mirror"));
    }
    let _ = write!(text, ", {}, {}", counted(lines, "line"), counted(events, "event"));
    let doubled: u64 = census.logs.iter().map(|log| log.doubled.lines()).sum();
    let doubled = usize::try_from(doubled).unwrap_or(usize::MAX);
    for (count, phrase) in [
        (doubled, format!("{doubled} in two files")),
        (repeated, format!("{repeated} repeated")),
        (cut_off, format!("{cut_off} cut off")),
        (skipped, format!("{skipped} skipped")),
        (conflicts, format!("{conflicts} {ids} in conflict")),
        (secrets, counted(secrets, "secret")),
        (changed, counted(changed, "changed log")),
        (changed_mirrors, counted(changed_mirrors, "changed mirror")),
    ] {
        if count > 0 {
            let _ = write!(text, ", {phrase}");
        }
    }
    text + if census.is_fine() { ": no problems found" } else { ": problems found" }
}

/// Counts the files that do not fit their chains.
fn changed_len(files: &[LogCensus]) -> usize {
    files.iter().filter(|file| !file.chain.is_fine()).count()
}

/// Reports the findings of a log; nothing if it has none.
fn about_log(out: &mut String, found: &LogCensus) {
    let log = display_path(&found.log);
    if let Some(trouble) = &found.trouble {
        let trouble = neutralise(trouble, Layout::Line);
        let _ = writeln!(out, "TROUBLE   {log}: failed to {trouble}");
    }
    for skip in found.skipped.first.iter().take(SHOWN_MAX) {
        let (line, offset) = (skip.line, skip.offset);
        let _ = writeln!(out, "SKIPPED   {log}: line {line}, byte {offset}: {}", skip.reason);
    }
    write_more(out, ["skipped line", "skipped lines"], found.skipped.count);
    for joined in found.joined.first.iter().take(SHOWN_MAX) {
        let (line, offset) = (joined.line, joined.offset);
        let _ = writeln!(out, "note      {log}: line {line}, byte {offset}: {}", joined.reason);
    }
    write_more(out, ["joined line", "joined lines"], found.joined.count);
    for skip in found.cut_off.first.iter().take(SHOWN_MAX) {
        let (line, offset) = (skip.line, skip.offset);
        let _ = writeln!(
            out,
            "note      {log}: line {line}, byte {offset}: cut off by a writer that was stopped; it was never acknowledged"
        );
    }
    write_more(out, ["line cut off", "lines cut off"], found.cut_off.count);
    for (line, spot) in found.secrets.first.iter().take(SHOWN_MAX) {
        let field = neutralise(&spot.field, Layout::Line);
        let place = if field.is_empty() { String::new() } else { format!(", {field}") };
        let _ = writeln!(out, "SECRET    {log}: line {line}{place}: {}", spot.rule);
    }
    write_more(out, ["secret", "secrets"], found.secrets.count);
    if found.secrets.count > 0 {
        let _ = writeln!(out, "          agent-knowledge scrub removes secrets from logs");
    }
    if let Some(first) = found.future.first.first() {
        let times = counted(found.future.count, "time");
        let _ = writeln!(out, "note      {log}: {times} in the future, the first in line {first}");
    }
    if found.torn_bytes > 0 {
        let _ = writeln!(
            out,
            "note      {log}: the last line has no line break yet ({}), and is not read before it has one",
            counted(found.torn_bytes, "byte")
        );
    }
    if found.no_room > 0 {
        let _ = writeln!(
            out,
            "note      {log}: the quarantine is full; {} not copied",
            counted(found.no_room, "line")
        );
    }
}

/// Writes how many findings are not listed; `nouns` are the singular and the plural.
fn write_more(out: &mut String, nouns: [&str; 2], count: usize) {
    if let Some(more) = count.checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        let [singular, plural] = nouns;
        let noun = if more == 1 { singular } else { plural };
        let _ = writeln!(out, "          and {more} more {noun}; --json lists up to {TOLD_MAX}");
    }
}

fn more(count: usize) -> String {
    count
        .checked_sub(SHOWN_MAX)
        .filter(|more| *more > 0)
        .map_or(String::new(), |more| format!(" and {more} more"))
}

fn name_of_line(census: &StoreCensus, place: LinePosition) -> String {
    let log = census.logs.get(place.log).map_or(Path::new(""), |found| &found.log);
    // Segment files are named by numbers, so the names of their folders identify them.
    let parts = if Store::is_segment(log) { 3 } else { 1 };
    let parts: Vec<&OsStr> = log.iter().rev().take(parts).collect();
    let name = display_path(&parts.into_iter().rev().collect::<PathBuf>());
    format!("{name} line {}", place.line)
}

/// Names a log, or a segment of a log.
fn json_of_path(path: &Path) -> (String, Option<String>) {
    let path_text = |path: &Path| path.display().to_string();
    match Store::log_of_segment(path) {
        Some(log) => (path_text(&log), Some(path_text(path))),
        None => (path_text(path), None),
    }
}

fn json(census: &StoreCensus) -> Value {
    let place = |place: &LinePosition| {
        let found = census.logs.get(place.log).map(|found| json_of_path(&found.log));
        let (log, segment) = found.unzip();
        json!({ "log": log, "segment": segment.flatten(), "line": place.line })
    };
    let by_id = |ids: &BTreeMap<EventId, Vec<LinePosition>>| -> Value {
        let items = ids.iter().take(TOLD_MAX).map(|(id, places)| {
            let places: Vec<Value> = places.iter().take(TOLD_MAX).map(place).collect();
            json!({ "id": id.as_str(), "lines": places })
        });
        items.collect()
    };
    json!({
        "fine": census.is_fine(),
        "lines": census.total(|log| log.lines),
        "events": census.total(|log| log.events),
        "blank": census.total(|log| log.blank),
        "repeated": census.total(|log| log.repeated),
        "doubled": census.logs.iter().map(|log| log.doubled.lines()).sum::<u64>(),
        "skipped": census.total(|log| log.skipped.count),
        "cut_off": census.total(|log| log.cut_off.count),
        "secrets": census.total(|log| log.secrets.count) + census.own.found.len(),
        "elsewhere": census.own.json(),
        "copied": census.total(|log| log.copied),
        "conflicts": by_id(&census.conflicts),
        "conflict_count": census.conflicts.len(),
        "orphans": by_id(&census.orphans),
        "orphan_count": census.orphans.len(),
        "origin": census.origin,
        "changed_logs": changed_len(&census.logs),
        "changed_mirrors": changed_len(&census.mirrors),
        "mirrors": census.mirrors.iter().map(json_of_mirror).collect::<Vec<_>>(),
        "logs": census.logs.iter().map(json_of_log).collect::<Vec<_>>(),
    })
}

fn json_of_log(found: &LogCensus) -> Value {
    let json_of = |findings: &Findings<_>, form: &dyn Fn(&_) -> Value| -> Value {
        findings.first.iter().map(form).collect()
    };
    let skips: Value = found
        .skipped
        .first
        .iter()
        .map(|skip| json!({ "line": skip.line, "offset": skip.offset, "reason": skip.reason }))
        .collect();
    let secrets = json_of(
        &found.secrets,
        &|(line, spot)| json!({ "line": line, "field": spot.field, "rule": spot.rule }),
    );
    let (log, segment) = json_of_path(&found.log);
    json!({
        "log": log, "segment": segment, "lines": found.lines, "events": found.events,
        "blank": found.blank, "repeated": found.repeated,
        "skipped": found.skipped.count, "skips": skips, "cut_off": found.cut_off.count, "joined": found.joined.count,
        "secrets": found.secrets.count, "secret_places": secrets,
        "future": found.future.count, "future_lines": found.future.first,
        "unfinished_bytes": found.torn_bytes, "copied": found.copied, "not_copied": found.no_room,
        "trouble": found.trouble, "chain": json_of_chain(found),
        "doubled": json_of_doubled(found),
    })
}
