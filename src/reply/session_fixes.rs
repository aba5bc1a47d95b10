//! How a failure was fixed in past sessions, in one line. Not here: finding it (`sessions::fixed_failure`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::reply::Reply;
use super::session_line::{DAY, line, time};
use sessions::fixed_failure::{FailureFix, KnownFix};

/// Longest command, in characters.
const COMMAND_CHARACTERS: usize = 160;

/// How a failure ended in past sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFixAnswer {
    /// The latest fix, if one is known.
    pub mended: Option<FixFields>,
}

impl Answer for KnownFixAnswer {}

/// A failure that was fixed in a past session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FixFields {
    /// The command that failed.
    pub command: String,
    /// What made it work: commands, or edits of files.
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    pub by: FailureFix,
    /// The id of the session.
    pub session: String,
    /// The number of the exchange.
    pub exchange: u32,
    /// In how many sessions it ended so.
    pub sessions: usize,
    /// When it failed, in milliseconds since 1970.
    pub at_ms: Option<i64>,
}

/// Writes how a failure ended before, in the session that is cited so; an empty text if that is unknown.
#[must_use]
pub fn known_fix(end: Option<(&KnownFix<'_>, &str)>) -> Reply {
    let Some((KnownFix { latest, sessions }, cited)) = end else {
        return Reply::with_text(String::new(), &KnownFixAnswer::default());
    };
    let failed = line(&latest.command, COMMAND_CHARACTERS);
    let ended = match &latest.fixed_by {
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
    let fix = FixFields {
        command: latest.command.clone(),
        by: latest.fixed_by.clone(),
        session: latest.session.clone(),
        exchange: latest.ordinal,
        sessions: *sessions,
        at_ms: latest.at_ms,
    };
    Reply::with_text(text, &KnownFixAnswer { mended: Some(fix) })
}
