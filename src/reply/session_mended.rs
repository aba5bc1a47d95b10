//! How a failure ended in past sessions, in one line. Not here: finding it (`sessions::mended`).

use serde_json::json;

use super::reply::Reply;
use super::session_line::{DAY, line, time};
use sessions::fixed_failure::{FailureFix, KnownFix};

/// Longest command, in characters.
const COMMAND_CHARACTERS: usize = 160;

/// Writes how a failure ended before, in the session that is cited so; an empty text if that is unknown.
#[must_use]
pub fn known_end(end: Option<(&KnownFix<'_>, &str)>) -> Reply {
    let Some((KnownFix { latest, sessions }, cited)) = end else {
        return Reply::new(String::new(), json!({ "mended": null }));
    };
    let failed = line(&latest.command, COMMAND_CHARACTERS);
    let ended = match &latest.mended_by {
        FailureFix::Commands(commands) => {
            let commands: Vec<String> = commands
                .iter()
                .map(|command| format!("`{}`", line(command, COMMAND_CHARACTERS)))
                .collect();
            format!("after `{failed}` failed like this, {} worked", commands.join(", then "))
        }
        FailureFix::Edits(files) => {
            let files: Vec<String> =
                files.iter().map(|file| line(file, COMMAND_CHARACTERS)).collect();
            format!("`{failed}` worked after a change to {}", files.join(", "))
        }
    };
    let times = if *sessions > 1 { format!(" ({sessions} sessions)") } else { String::new() };
    let id = format!("{}#{}", line(cited, COMMAND_CHARACTERS), latest.ordinal);
    let text = format!("- [{}] {ended}{times} · {id}", time(latest.at_ms, DAY));
    let json = json!({ "mended": { "command": latest.command, "by": latest.mended_by, "session": latest.session,
        "exchange": latest.ordinal, "sessions": sessions, "at_ms": latest.at_ms } });
    Reply::new(text, json)
}
