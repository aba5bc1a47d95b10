//! What somebody meant by a command that does not exist. Not here: other names that work (`args`).

use clap::error::{ContextKind, ContextValue};

/// Words that people try, and the command that does it. clap knows similar spellings, but no similar meanings.
const MEANINGS: &[(&str, &[&str])] = &[
    (
        "add",
        &["remember", "save", "new", "create", "learn", "note", "write", "log", "record", "store"],
    ),
    ("forget", &["remove", "del", "retract", "undo", "restore"]),
    ("search", &["query", "recall", "ask", "grep"]),
    ("show", &["history", "cat", "get", "view", "open"]),
    ("list", &["all"]),
    ("pick", &["choose", "select", "browse", "tui", "fzf"]),
    ("tag", &["tags", "label", "labels"]),
    ("man-pages", &["man", "manual", "manpages"]),
    ("recent", &["latest", "last"]),
    ("context", &["brief", "briefing"]),
    ("doctor", &["check", "health"]),
    ("setup", &["install"]),
    ("config", &["configure", "configuration", "settings", "set", "options"]),
    ("serve", &["start", "daemon", "server"]),
    ("ui", &["dashboard", "web", "gui"]),
    ("sync", &["push", "pull", "share", "team", "fetch"]),
];

/// Words that look like a command and mean something that does not exist here.
const NOTHING: &[&str] = &["login", "logout", "version", "update", "upgrade"];

/// Makes the message about an unknown command name the right one, and only that.
pub(super) fn with_meaning(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    // `token`, `sessions` and others have commands of their own, where these words mean nothing.
    let is_ours = matches!(error.get(ContextKind::Usage), Some(ContextValue::StyledStr(usage))
        if usage.to_string().starts_with("Usage: agent-knowledge ["));
    if !is_ours {
        return error;
    }
    let word = word.to_ascii_lowercase();
    let mut meanings = MEANINGS.iter();
    let meant = meanings.find(|(_, words)| words.contains(&word.as_str()));
    let best = match (meant, error.get(ContextKind::SuggestedSubcommand)) {
        (Some((name, _)), _) => Some((*name).to_owned()),
        _ if NOTHING.contains(&word.as_str()) => None,
        // The most similar one is the last.
        (_, Some(ContextValue::Strings(similar))) => similar.last().cloned(),
        (_, Some(ContextValue::String(similar))) => Some(similar.clone()),
        _ => None,
    };
    match best {
        Some(name) => error.insert(ContextKind::SuggestedSubcommand, ContextValue::String(name)),
        None => error.remove(ContextKind::SuggestedSubcommand),
    };
    error
}
