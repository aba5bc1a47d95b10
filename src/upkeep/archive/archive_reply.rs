//! The report of an archiving run, as text and JSON. Not here: archiving.

use std::fmt::Write;

use serde_json::{Value, json};

use super::archive_result::{ArchiveMode, ArchiveResult};
use crate::counted_noun::counted;
use crate::display_path::display_path;
use guard::text::{Layout, neutralise};
use reply::Reply;
use store::MovedLines;

pub(super) fn reply(how: ArchiveMode, all: &[ArchiveResult]) -> Reply {
    let mut text = String::new();
    all.iter().for_each(|done| about(&mut text, how, done));
    let total = |of: fn(&MovedLines) -> u64| -> u64 {
        all.iter().filter_map(|done| done.moved.as_ref().ok()).map(of).sum()
    };
    let (lines, cleaned) = (total(|moved| moved.lines), total(|moved| moved.cleaned_lines));
    text.push_str(&match (lines, how) {
        (0, _) if cleaned > 0 => "nothing else to archive".to_owned(),
        (0, _) => "nothing to archive".to_owned(),
        (_, ArchiveMode::Change) => format!("{lines} lines archived; searches still find them"),
        (_, ArchiveMode::DryRun) => format!("{lines} lines would be archived; nothing was changed"),
    });
    let json = json!({
        "changed": how == ArchiveMode::Change && lines + cleaned > 0, "lines": lines, "cleaned": cleaned,
        "line_bytes": total(|moved| moved.line_bytes),
        "packed_bytes": total(|moved| moved.packed_bytes),
        "logs": all.iter().map(json_of).collect::<Vec<_>>(),
    });
    Reply::new(text, json)
}

fn about(text: &mut String, how: ArchiveMode, done: &ArchiveResult) {
    let log = display_path(&done.log);
    let moved = match &done.moved {
        Ok(moved) => moved,
        Err(error) => {
            let error = neutralise(&error.to_string(), Layout::Line);
            let _ = writeln!(text, "FAILED    {log}: failed to {error}");
            return;
        }
    };
    let (lines, cleaned) = (moved.lines, moved.cleaned_lines);
    if cleaned > 0 {
        let would = if how == ArchiveMode::DryRun { "would be " } else { "" };
        let _ = writeln!(
            text,
            "cleaned   {log}: {} {would}removed, because a segment has them already",
            counted(cleaned, "line")
        );
    }
    if lines > 0 && how == ArchiveMode::DryRun {
        let _ = writeln!(text, "would     {log}: {lines} lines, {} bytes", moved.line_bytes);
    } else if lines > 0 {
        let segments: Vec<String> = moved.segments.iter().map(|path| display_path(path)).collect();
        let (from, to) = (moved.line_bytes, moved.packed_bytes);
        let _ = writeln!(
            text,
            "archived  {log}: {lines} lines, {from} bytes, packed to {to}: {}",
            segments.join(", ")
        );
    }
}

fn json_of(done: &ArchiveResult) -> Value {
    let log = done.log.display().to_string();
    match &done.moved {
        Ok(moved) => json!({
            "log": log, "lines": moved.lines, "cleaned": moved.cleaned_lines,
            "line_bytes": moved.line_bytes, "packed_bytes": moved.packed_bytes,
            "segments": moved.segments.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "log": log, "trouble": error.to_string() }),
    }
}
