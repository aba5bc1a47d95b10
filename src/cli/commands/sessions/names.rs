//! What a person means by a name on the command line: a tool, a folder of transcripts, a repository or a session. Not here:
//! what the commands do with it (`sessions`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use event::{DayZone, Problems, RepoKey, Timestamp};
use place::NameMatch;
use requests::{ApiError, TimePoint};
use retriever::failure::session_store_error;
use retriever::resolved_settings::ResolvedSettings;
use sessions::session_rows::KeptSession;
use sessions::session_store::SessionStore;
use settings::SessionPolicy;
use transcripts::readers::READERS;
use writer::UNNAMED;
use writer::exit::Exit;

use crate::log_check::is_repo_given;

/// Sessions or repositories that an ambiguous name lists in its error.
const NAMED_MAX: usize = 5;

/// The beginning of the address of a session, as resources and answers in JSON have it.
pub(crate) const SESSION_ADDRESS: &str = "session://";

/// Reads the names of tools; `field` is where they stand.
pub(crate) fn known_tools(field: &str, tools: &[String]) -> Result<Vec<String>, ApiError> {
    match unknown_tool(tools) {
        None => Ok(tools.to_vec()),
        Some(message) => Err(ApiError::Invalid(Problems::one(field, message))),
    }
}

/// Refuses settings that leave out a tool which does not exist: its sessions would be read.
pub(crate) fn check_policy(policy: &SessionPolicy) -> Result<(), ApiError> {
    unknown_tool(&policy.exclude_tools).map_or(Ok(()), |message| {
        let message = format!("[sessions] exclude_tools of the configuration: {message}");
        Err(ApiError::Failed { exit: Exit::Config, message })
    })
}

fn unknown_tool(tools: &[String]) -> Option<String> {
    let names: Vec<&str> = READERS.iter().map(|reader| reader.tool().name).collect();
    let unknown = tools.iter().find(|tool| !names.contains(&tool.as_str()))?;
    Some(format!("must be one of {}; got {}", names.join(", "), event::quoted(unknown)))
}

/// Reads `TOOL=DIR`; `field` is where it stands.
pub(crate) fn parse_root(field: &str, text: &str) -> Result<(String, PathBuf), ApiError> {
    let wrong = || {
        let message = format!(
            "must be TOOL=DIR, for example claude-code=/backup/projects; got {}",
            event::quoted(text)
        );
        ApiError::Invalid(Problems::one(field, message))
    };
    let (tool, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or_else(wrong)?;
    Ok((known_tools(field, &[tool.to_owned()])?.concat(), PathBuf::from(path)))
}

/// Returns the key of the repository that somebody names: a key, a URL, its last parts where one repository has them, a path, or a word
/// for the one at hand. `None`: a word for no value stands there.
pub(crate) fn kept_repo(
    session_store: &SessionStore,
    settled: &ResolvedSettings,
    from: &Path,
    name: &str,
) -> Result<Option<String>, ApiError> {
    if !is_repo_given(&name) {
        return Ok(None);
    }
    let refuse = |message: String| ApiError::Invalid(Problems::one("repo", message));
    let ResolvedSettings { store, config, .. } = settled;
    let rows = session_store.session_rows().map_err(|error| session_store_error(&error))?;
    let texts: BTreeSet<String> = rows.into_values().filter_map(|row| row.repo).collect();
    if texts.contains(name) {
        return Ok(Some(name.to_owned()));
    }
    let here = || store.place_at(from, config);
    let key = match store.place_of_text(name, Some(from), config).map_err(refuse)? {
        Some(place) => place.repository.ok_or_else(|| refuse(UNNAMED.to_owned()))?,
        None => match RepoKey::parse(name).map_err(|error| refuse(error.to_string()))? {
            _ if here().name_match(name, from) == Some(NameMatch::Repository) => {
                here().repository.ok_or_else(|| refuse(UNNAMED.to_owned()))?
            }
            key => config.current(&key),
        },
    };
    let keys: Vec<RepoKey> = texts.iter().filter_map(|text| RepoKey::parse(text).ok()).collect();
    if keys.contains(&key) {
        return Ok(Some(key.to_string()));
    }
    match key.longer(&keys).as_slice() {
        [only] => Ok(Some(only.to_string())),
        [] => Err(ApiError::NotFound(format!(
            "no past session is of the repository {}; agent-knowledge sessions list names them",
            event::quoted(key.as_str())
        ))),
        several => {
            let several = several.iter().take(NAMED_MAX).map(|key| key.as_str());
            let several = several.collect::<Vec<_>>().join(" or ");
            Err(refuse(format!("could be {several}; give one of them in full")))
        }
    }
}

/// Finds a session that may be shown, and the exchange that the name points at: `ID`, `ID#N` or `session://TOOL/ID`.
pub(crate) fn session_to_show(
    settled: &ResolvedSettings,
    name: &str,
) -> Result<(SessionStore, KeptSession, Option<u32>), ApiError> {
    let (id, exchange) = parts_of(name.trim());
    let (session_store, session) = find_session(settled, id)?;
    if leaves_out(&settled.config.sessions, &session) {
        let message = format!(
            "the session {} is left out by [sessions] of the configuration",
            event::quoted(id)
        );
        return Err(ApiError::NotFound(message));
    }
    Ok((session_store, session, exchange))
}

/// Splits a name that an answer printed into that of the session and the number of the exchange.
fn parts_of(name: &str) -> (&str, Option<u32>) {
    let numbered = name.rsplit_once('#').and_then(|(id, number)| Some((id, number.parse().ok()?)));
    numbered.map_or((name, None), |(id, number)| (id, Some(number)))
}

/// Splits an address into the tool and the id.
fn split_address(name: &str) -> (Option<&str>, &str) {
    let address = name.strip_prefix(SESSION_ADDRESS).and_then(|rest| rest.split_once('/'));
    address.map_or((None, name), |(tool, id)| (Some(tool), id))
}

/// Finds the one session that an id or an address means.
pub(crate) fn find_session(
    settled: &ResolvedSettings,
    id: &str,
) -> Result<(SessionStore, KeptSession), ApiError> {
    let session_store = open_session_store(settled)?;
    let (tool, named) = split_address(id.trim());
    let mut found = session_store
        .sessions_named(named, NAMED_MAX)
        .map_err(|error| session_store_error(&error))?;
    found.retain(|session| tool.is_none_or(|tool| session.tool == tool));
    match found.len() {
        1 => {}
        0 => {
            let message = format!(
                "no past session has the id {}; agent-knowledge sessions list shows them",
                event::quoted(id)
            );
            return Err(ApiError::NotFound(message));
        }
        _ => {
            let ids: Vec<String> = found.into_iter().map(|session| session.cited).collect();
            let message =
                format!("{} means several sessions: {}", event::quoted(id), ids.join(", "));
            return Err(ApiError::NotFound(message));
        }
    }
    let session = found.pop().ok_or_else(|| ApiError::NotFound(String::new()))?;
    Ok((session_store, session))
}

/// Tells whether the settings leave out a session.
pub(crate) fn leaves_out(policy: &SessionPolicy, session: &KeptSession) -> bool {
    policy.leaves_out(&session.tool, session.repo.as_deref(), session.facts.directory.as_deref())
}

/// Opens what is kept.
pub(crate) fn open_session_store(settled: &ResolvedSettings) -> Result<SessionStore, ApiError> {
    let session_store =
        SessionStore::open(&settled.sessions_dir).map_err(|error| session_store_error(&error))?;
    let none =
        "no past sessions are kept; agent-knowledge sessions import shows what is on this disk";
    session_store.ok_or_else(|| ApiError::NotFound(none.to_owned()))
}

/// Reads a time, in milliseconds.
pub(crate) fn parse_time_ms(now: Timestamp, field: &str, text: &str) -> Result<i64, ApiError> {
    let point = TimePoint::parse(text).ok_or_else(|| {
        let message = format!(
            "must be a time, a day or an age, such as 2026-03-01 or 30d; got {}",
            event::quoted(text)
        );
        ApiError::Invalid(Problems::one(field, message))
    })?;
    Ok(point.first(now, DayZone::System).as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_printed_is_understood() {
        for (name, parts) in [
            ("7b1f6a08", ("7b1f6a08", None)),
            ("7b1f6a08#3", ("7b1f6a08", Some(3))),
            ("session://claude-code/7b1f-6a08", ("session://claude-code/7b1f-6a08", None)),
            ("session://claude-code/a/b#0", ("session://claude-code/a/b", Some(0))),
            ("a#b", ("a#b", None)),
        ] {
            assert_eq!(parts_of(name), parts, "{name}");
        }
        assert_eq!(split_address("session://claude-code/a/b"), (Some("claude-code"), "a/b"));
        assert_eq!(split_address("7b1f6a08"), (None, "7b1f6a08"));
    }

    #[test]
    fn a_mistyped_exclude_is_refused() {
        let policy = |tool: &str| SessionPolicy {
            exclude_tools: vec![tool.to_owned()],
            ..SessionPolicy::default()
        };
        assert!(check_policy(&policy("codex")).is_ok());
        let error = check_policy(&policy("codx")).unwrap_err().to_string();
        assert!(error.contains("exclude_tools") && error.contains("\"codx\""), "{error}");
    }
}
