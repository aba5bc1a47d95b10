//! What `verify` says of lines that stand in two files of a log, as text and JSON. Not here: finding them (`store`).

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::census::{DoubledCensus, LogCensus};
use crate::counted_noun::counted;
use crate::display_path::display_path;
use guard::text::{Layout, neutralise};
use store::{DoubledLines, Store};

pub(super) fn write_doubled_report(out: &mut String, found: &LogCensus) {
    let log = display_path(&found.log);
    match &found.doubled {
        DoubledCensus::None => {}
        DoubledCensus::Busy(why) => {
            let why = neutralise(why, Layout::Line);
            let _ =
                writeln!(out, "note      {log}: not compared with its segments: failed to {why}");
        }
        DoubledCensus::Unreadable(why) => {
            let why = neutralise(why, Layout::Line);
            let _ =
                writeln!(out, "TROUBLE   {log}: not compared with its segments: failed to {why}");
        }
        DoubledCensus::Found(all) => {
            for doubled in all {
                let _ = writeln!(out, "TWICE     {}", describe_doubled(doubled));
            }
            if !all.is_empty() {
                let repo = Store::repo_of(&found.log);
                let _ = writeln!(
                    out,
                    "          agent-knowledge archive {repo} takes them out; the earlier segment keeps them"
                );
            }
        }
    }
}

fn describe_doubled(DoubledLines { file, segment, lines, first_line }: &DoubledLines) -> String {
    let (file, number) = (display_path(file), number_of(segment));
    match lines {
        1 => format!("{file}: line {first_line} is also in segment {number}"),
        _ => format!(
            "{file}: {} are also in segment {number}, the first is line {first_line}",
            counted(*lines, "line")
        ),
    }
}

/// Returns the number by which a segment is named, or its whole name if somebody else packed it.
fn number_of(segment: &Path) -> String {
    let name = segment.file_name().unwrap_or_default().to_string_lossy();
    let number = name.split('.').next().and_then(|stem| stem.parse::<u64>().ok());
    number.map_or_else(|| display_path(Path::new(name.as_ref())), |number| number.to_string())
}

pub(super) fn json_of_doubled(found: &LogCensus) -> Value {
    let all = found.doubled.found().iter().map(|doubled| {
        let path = |path: &Path| path.display().to_string();
        json!({
            "file": path(&doubled.file), "segment": path(&doubled.segment),
            "lines": doubled.lines, "first_line": doubled.first_line,
        })
    });
    all.collect()
}
