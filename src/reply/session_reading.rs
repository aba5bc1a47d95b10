//! What there is to read of past sessions, what an import read, and what was not understood. Not here: the sessions
//! themselves (`session_list`).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::reply::Reply;
use super::session_line::{DAY, bytes, counted, line, time, tool_title};
use sessions::file_rows::FileCensus;
use sessions::session_import::{ImportProgress, ToolFiles};
use sessions::session_rows::ToolExtent;
use transcripts::readers::reader_of_tool;
use transcripts::transcript::Census;

/// Errors of files that are listed, and the length of each in characters.
const ERRORS_SHOWN_MAX: usize = 5;
const ERROR_CHARACTERS: usize = 200;

/// Unknown kinds of records that are named.
const KINDS_SHOWN_MAX: usize = 6;

/// Nanoseconds of a millisecond.
const MS_NS: i64 = 1_000_000;

/// What an import keeps, and that it stays here.
const KEPT: &str =
    "keeps what was asked, answered, run and changed, without the secrets that our rules recognise";
const STAYS: &str = "Nothing of it enters a log or leaves this machine, unless you let a model of yours draft lessons \
                     (sessions review --draft).";

/// Says what transcripts are on the disk, and that nothing was read yet.
#[must_use]
pub fn import_planned(tools: &BTreeMap<&'static str, ToolFiles>, is_allowed: bool) -> Reply {
    let (mut text, json) = on_this_disk(tools);
    if !tools.is_empty() && !is_allowed {
        let _ = writeln!(
            text,
            "\nNothing was read. agent-knowledge sessions import --yes reads them and {KEPT}, in a folder that only you can \
             read. {STAYS}"
        );
    }
    Reply::new(text, json!({ "tools": json, "allowed": is_allowed }))
}

/// Returns what a person must know before they are asked whether these transcripts may be read and kept in `folder`.
#[must_use]
pub fn import_question(tools: &BTreeMap<&'static str, ToolFiles>, folder: &Path) -> String {
    let (mut text, _) = on_this_disk(tools);
    let _ = writeln!(
        text,
        "\nAfter a yes, agent-knowledge reads them, and new ones at most every hour. It {KEPT}, in {}, \
         which only you can read. {STAYS}",
        folder.display(),
    );
    text
}

/// Lists the transcripts that are on the disk.
fn on_this_disk(tools: &BTreeMap<&'static str, ToolFiles>) -> (String, Map<String, Value>) {
    let mut text = String::from("Transcripts of coding agents on this disk:\n");
    let mut json = Map::new();
    for (tool, files) in tools {
        let oldest = time(files.oldest_ns.map(|oldest| oldest / MS_NS), DAY);
        let _ = writeln!(
            text,
            "  {:<14} {}, {}, since {oldest}; {} new or changed{}",
            tool_title(tool),
            counted(files.files, "file"),
            bytes(files.bytes),
            files.changed,
            days_kept(tool),
        );
        push_errors(&mut text, &files.errors);
        json.insert(
            (*tool).to_owned(),
            json!({
                "files": files.files, "bytes": files.bytes, "changed": files.changed,
                "changed_bytes": files.changed_bytes, "errors": files.errors,
            }),
        );
    }
    if tools.is_empty() {
        text.push_str("  none was found\n");
    }
    (text, json)
}

/// Names the time after which a tool deletes its transcripts.
fn days_kept(tool: &str) -> String {
    let days = reader_of_tool(tool).and_then(|reader| reader.tool().days_kept);
    days.map_or_else(String::new, |days| format!(" (it deletes them after {days} days)"))
}

/// Says what an import read.
#[must_use]
pub fn import_done(progress: &ImportProgress) -> Reply {
    let mut text = format!(
        "Read {} ({}): {} in {} are new or have changed",
        counted(progress.files as u64, "file"),
        bytes(progress.bytes),
        counted(progress.exchanges, "exchange"),
        counted(progress.sessions, "session"),
    );
    text.push_str(&noted(progress.copied, "copied from other sessions"));
    text.push_str(&left_out(progress.left_out));
    text.push_str(&noted(progress.forgotten, "forgotten and not read again"));
    text.push_str(".\n");
    push_census(&mut text, &progress.census);
    push_errors(&mut text, &progress.errors);
    let json = json!({
        "files": progress.files, "bytes": progress.bytes, "sessions": progress.sessions,
        "exchanges": progress.exchanges, "copied": progress.copied, "left_out": progress.left_out,
        "forgotten": progress.forgotten, "records": census_json(&progress.census), "errors": progress.errors,
    });
    Reply::new(text, json)
}

/// Adds a number and what it counts, unless it is zero.
fn noted(count: u64, what: &str) -> String {
    if count > 0 { format!("; {count} {what}") } else { String::new() }
}

/// Says how many sessions the settings leave out, and which setting reads them.
fn left_out(sessions: u64) -> String {
    let why = "left out: excluded in [sessions] of the configuration, or of no repository (private = true there reads those)";
    noted(sessions, why)
}

/// Says for each tool what was read and what was not. The second value tells whether something is wrong: files of which
/// nothing could be read.
#[must_use]
pub fn sessions_checked(
    extents: &BTreeMap<String, ToolExtent>,
    censuses: &BTreeMap<String, FileCensus>,
) -> (Reply, bool) {
    let (mut text, mut json, mut is_wrong) = (String::new(), Map::new(), false);
    for (tool, files) in censuses {
        let extent = extents.get(tool);
        // Where sessions were left out or forgotten, that none is kept proves nothing.
        let is_excused = files.left_out > 0 || files.may_be_forgotten;
        let is_silent = files.census.understood == 0 || extent.is_none() && !is_excused;
        let is_mute = is_silent && files.files > files.gone;
        is_wrong |= is_mute || !files.errors.is_empty();
        let is_tried = reader_of_tool(tool).is_some_and(|reader| reader.tool().is_tried);
        let (sessions, exchanges) =
            extent.map_or((0, 0), |extent| (extent.sessions, extent.exchanges));
        let (first, last) = extent.and_then(|extent| extent.span_ms).unzip();
        let _ = writeln!(
            text,
            "{}{}: {}, {}, {}, {} to {}{}{}",
            tool_title(tool),
            if is_tried { "" } else { " (untried: no real file of this tool was at hand)" },
            counted(files.files, "file"),
            counted(sessions, "session"),
            counted(exchanges, "exchange"),
            time(first, DAY),
            time(last, DAY),
            noted(files.gone, "deleted by the tool since"),
            left_out(files.left_out),
        );
        if is_mute {
            text.push_str("  FAULT: there are files, and nothing of them was understood\n");
        }
        push_census(&mut text, &files.census);
        push_errors(&mut text, &files.errors);
        json.insert(tool.clone(), json!({
            "files": files.files, "gone": files.gone, "left_out": files.left_out, "sessions": sessions, "exchanges": exchanges,
            "first_ms": first, "last_ms": last, "tried": is_tried, "fault": is_mute,
            "records": census_json(&files.census), "errors": files.errors,
        }));
    }
    if censuses.is_empty() {
        text.push_str(
            "Nothing was read yet. agent-knowledge sessions import shows what is on this disk.",
        );
    }
    (Reply::new(text, json!({ "tools": json, "fault": is_wrong })), is_wrong)
}

fn push_census(text: &mut String, census: &Census) {
    if *census == Census::default() {
        return;
    }
    let _ =
        write!(text, "  records: {} understood, {} known and left", census.understood, census.left);
    let unknown: u64 = census.unknown.values().sum();
    if unknown > 0 {
        let kinds = census.unknown.iter().take(KINDS_SHOWN_MAX);
        let kinds: Vec<String> =
            kinds.map(|(kind, times)| format!("{} ({times})", line(kind, 48))).collect();
        let _ = write!(text, ", {unknown} of unknown kinds: {}", kinds.join(", "));
    }
    let damaged = [(census.broken, "broken"), (census.too_long, "too long")];
    damaged.iter().filter(|(count, _)| *count > 0).for_each(|(count, what)| {
        let _ = write!(text, ", {count} {what}");
    });
    text.push('\n');
}

fn push_errors(text: &mut String, errors: &[String]) {
    for error in errors.iter().take(ERRORS_SHOWN_MAX) {
        let _ = writeln!(text, "  not read: {}", line(error, ERROR_CHARACTERS));
    }
    if let Some(more) = errors.len().checked_sub(ERRORS_SHOWN_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more; --json has all");
    }
}

fn census_json(census: &Census) -> Value {
    serde_json::to_value(census).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(files: FileCensus) -> (String, bool) {
        let censuses = BTreeMap::from([("codex".to_owned(), files)]);
        let (reply, is_wrong) = sessions_checked(&BTreeMap::new(), &censuses);
        (reply.text, is_wrong)
    }

    // S-SESS-4, S-SESS-7
    #[test]
    fn forgetting_everything_is_no_fault() {
        let read = |understood, may_be_forgotten| {
            let unknown = BTreeMap::from([("odd".to_owned(), 9)]);
            let census = Census { understood, unknown, ..<_>::default() };
            checked(FileCensus { files: 1, census, may_be_forgotten, ..<_>::default() })
        };
        let (text, is_wrong) = read(9, true);
        assert!(!is_wrong && !text.contains("FAULT"), "{text}");
        for (understood, may_be_forgotten) in [(0, true), (0, false), (9, false)] {
            let (text, is_wrong) = read(understood, may_be_forgotten);
            assert!(is_wrong && text.contains("nothing of them was understood"), "{text}");
        }
    }

    // S-SESS-7, S-SESS-8
    #[test]
    fn what_is_left_out_says_why() {
        let progress = ImportProgress { left_out: 3, forgotten: 2, ..<_>::default() };
        let imported = import_done(&progress).text;
        let census = Census { understood: 9, ..<_>::default() };
        let (checked, _) = checked(FileCensus { files: 3, left_out: 3, census, ..<_>::default() });
        let why = "; 3 left out: excluded in [sessions] of the configuration, or of no repository";
        for text in [&imported, &checked] {
            assert!(text.contains(why) && text.contains("private = true"), "{text}");
        }
        assert!(imported.contains("; 2 forgotten and not read again."), "{imported}");
    }
}
