//! Checks that everything still works: the files as they were written, the program in its place, and the last call of
//! each part. This finds hooks that should have run and did not. Not here: recording the calls.

use std::path::Path;

use serde_json::{Value, json};

use super::clients;
use super::desired_state::{DesiredFile, desired_files};
use super::files;
use super::record::{FileRecord, RecordStore};
use super::report::error_report;
use super::undo::{is_selected, recorded_desired_file};
use super::{
    Machine, ReportStatus, SetupError, SetupReport, SetupRequest, SetupScope, UnknownTarget,
};
use event::{Timestamp, parse_timestamp};

/// Returns when an agent last made a call: `mcp`, `start`, `prompt`, `tool-failed`, `tool-succeeded`, `compact` or
/// `end`.
pub type LastSeenLookup<'a> = &'a dyn Fn(&str, &str) -> Option<Timestamp>;

/// The calls of hooks.
const HOOK_CALLS: [&str; 6] =
    ["start", "prompt", "tool-failed", "tool-succeeded", "compact", "end"];

/// By then the start hook of a session has run, even on a slow machine.
const START_SECONDS_MAX: i64 = 10 * 60;

/// No session lasts longer without a restart of its server, so an older start hook does not belong to it.
const SESSION_SECONDS_MAX: i64 = 7 * 24 * 60 * 60;

/// The result for one client.
struct CheckedClient {
    client: String,
    title: String,
    problems: Vec<String>,
    notes: Vec<String>,
    calls: Vec<(&'static str, Option<Timestamp>)>,
}

/// Checks everything that was set up.
///
/// # Errors
/// [`UnknownTarget`] for a client that does not exist.
pub fn check(
    request: &SetupRequest<'_>,
    last_seen: LastSeenLookup<'_>,
) -> Result<SetupReport, UnknownTarget> {
    let known = clients::names();
    if let Some(name) = request.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(UnknownTarget::Client(name.clone()));
    }
    let book = RecordStore::in_data(request.data);
    let record = match book.read() {
        Ok(record) => record,
        Err(error) => return Ok(error_report(&error)),
    };
    let project = &request.machine.project;
    let selected = record
        .files
        .iter()
        .filter(|done| is_selected(done, &request.names, request.scope, project));
    let selected: Vec<&FileRecord> = selected.collect();
    let mut found = checked_clients(selected.iter().copied(), request, last_seen);
    for found in &mut found {
        found.problems.extend(missing_server(&found.title, &selected, &request.machine));
    }
    let is_fine = found.iter().all(|found| found.problems.is_empty());
    let text: Vec<String> = found.iter().map(|found| text(found, request.now)).collect();
    let text = match text.concat() {
        text if text.is_empty() => "Nothing is set up; run agent-knowledge setup.".to_owned(),
        text => text.trim_end().to_owned(),
    };
    let json = json!({ "fine": is_fine, "clients": found.iter().map(json_of).collect::<Vec<_>>() });
    let status = if is_fine { ReportStatus::Fine } else { ReportStatus::Problem };
    Ok(SetupReport { status, text, json })
}

fn checked_clients<'a>(
    meant: impl Iterator<Item = &'a FileRecord>,
    request: &SetupRequest<'_>,
    last_seen: LastSeenLookup<'_>,
) -> Vec<CheckedClient> {
    let mut all: Vec<CheckedClient> = Vec::new();
    for done in meant {
        let place = all.iter().position(|found| found.title == done.title);
        let mut found = place.map_or_else(|| new(done, last_seen), |place| all.remove(place));
        match file(done, &request.machine) {
            Ok(has_hooks) => {
                let silent =
                    has_hooks.then(|| silent_hooks(done, last_seen, request.now)).flatten();
                found.problems.extend(silent);
            }
            Err(problem) => found.problems.push(problem),
        }
        let program = done.program.display();
        match request.machine.program_file(&done.program) {
            None => {
                found.problems.push(format!("{program} no longer exists; {}", remedy(done)));
            }
            Some(file) if request.machine.is_this_program(&file) => {}
            Some(_) => found.notes.push(format!(
                "it starts {program}, but this program is {}",
                request.machine.program.display()
            )),
        }
        found.problems.dedup();
        found.notes.dedup();
        all.push(found);
    }
    all
}

fn new(done: &FileRecord, last_seen: LastSeenLookup<'_>) -> CheckedClient {
    let calls =
        ["mcp"].iter().chain(&HOOK_CALLS).map(|call| (*call, last_seen(&done.client, call)));
    CheckedClient {
        client: done.client.clone(),
        title: done.title.clone(),
        problems: Vec::new(),
        notes: Vec::new(),
        calls: calls.collect(),
    }
}

fn remedy(done: &FileRecord) -> String {
    let scope = if done.scope == "project" { " --project" } else { "" };
    format!("run agent-knowledge setup {}{scope}", done.client)
}

/// Checks that a file is as it was written. Returns whether it holds hooks.
fn file(done: &FileRecord, machine: &Machine<'_>) -> Result<bool, String> {
    let shown = done.path.display();
    let Some(desired) = recorded_desired_file(done, machine) else {
        return Err(format!("{shown} was set up by another version; {}", remedy(done)));
    };
    let text = files::link_target(&done.path).and_then(|target| files::read(&target));
    let text = text.map_err(|error| error.to_string())?;
    let text = text.ok_or_else(|| format!("{shown} is gone; {}", remedy(done)))?;
    if let Some(elsewhere) = other_store(done, machine, &desired, &text) {
        return Err(elsewhere);
    }
    match desired.is_in(&text) {
        Ok(true) => Ok(desired.has_hooks()),
        Ok(false) => Err(format!(
            "{shown} no longer contains {} as setup wrote it; {}",
            desired.description(),
            remedy(done)
        )),
        Err(wrong) => Err(SetupError::broken(&done.path)(wrong).to_string()),
    }
}

/// Says that a client has hooks of ours and no server: its file could not be changed then.
fn missing_server(title: &str, done: &[&FileRecord], machine: &Machine<'_>) -> Option<String> {
    let mut of_client = done.iter().filter(|done| done.title == title).peekable();
    let first = *of_client.peek()?;
    let has_server = |done: &&FileRecord| {
        recorded_desired_file(done, machine).is_none_or(|desired| desired.has_server())
    };
    if of_client.any(has_server) {
        return None;
    }
    let (client, scope) =
        (clients::all_clients().find(|client| client.title == title)?, first.scope.as_str());
    let machine = machine.for_scope(SetupScope::parse(scope)?);
    let mut files = desired_files(client, SetupScope::parse(scope)?, &machine).into_iter();
    let desired = files.find(DesiredFile::has_server)?;
    let text = files::link_target(&desired.path).and_then(|target| files::read(&target));
    let text = text.ok().flatten().unwrap_or_default();
    let is_there = desired.is_in(&text).is_ok_and(|is_there| is_there);
    let shown = desired.path.display();
    (!is_there).then(|| {
        format!("its MCP server is not in {shown}; {} and read what it says", remedy(first))
    })
}

/// Says that a client saves into another store than this shell searches.
fn other_store(
    done: &FileRecord,
    machine: &Machine<'_>,
    desired: &DesiredFile,
    text: &str,
) -> Option<String> {
    let its = desired.store_in(text)?;
    if its == machine.store_text() {
        return None;
    }
    let shown = |store: Option<String>| store.unwrap_or_else(|| "the usual store".to_owned());
    let (its, ours) = (shown(its), shown(machine.store_text()));
    let (remedy, store) = (remedy(done), machine.store.as_ref());
    let remedy = match store.filter(|_| done.scope == "project") {
        Some(store) => format!("run agent-knowledge config set logs {}", store.display()),
        None => remedy,
    };
    Some(format!("it saves into {its}, but this shell searches {ours}; {remedy}"))
}

/// Finds hooks that the client did not run, although it started our server.
fn silent_hooks(
    done: &FileRecord,
    last_seen: LastSeenLookup<'_>,
    now: Timestamp,
) -> Option<String> {
    let set_up = parse_timestamp(&done.at)?;
    let server = last_seen(&done.client, "mcp")?;
    let since = |earlier: Timestamp, later: Timestamp| later.as_second() - earlier.as_second();
    if server < set_up || since(server, now) < START_SECONDS_MAX {
        return None;
    }
    let fired = match last_seen(&done.client, "start") {
        Some(fired) if fired >= set_up && since(fired, server) < SESSION_SECONDS_MAX => {
            return None;
        }
        Some(fired) => format!("last ran {}", age_text(fired, now)),
        None => "have never run".to_owned(),
    };
    let remedy = match done.client.as_str() {
        "codex" => "trust them in /hooks of Codex",
        "claude-code" => {
            "check /hooks in Claude Code; disableAllHooks in a settings file disables them"
        }
        "cline" => "enable hooks in its settings",
        _ => "check whether hooks are disabled in its settings",
    };
    let started = age_text(server, now);
    Some(format!(
        "its hooks do not run: it started our server {started}, but its hooks {fired}; {remedy}"
    ))
}

/// Returns a time span as people say it.
fn age_text(then: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_second() - then.as_second()).max(0);
    match seconds {
        0..60 => "just now".to_owned(),
        60..7_200 => format!("{} min ago", seconds / 60),
        7_200..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

fn text(found: &CheckedClient, now: Timestamp) -> String {
    let state = if found.problems.is_empty() { "ok" } else { "WRONG" };
    let mut text = format!("{} ({}): {state}\n", found.title, found.client);
    for problem in &found.problems {
        text.push_str(&format!("  {problem}\n"));
    }
    for note in &found.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text.push_str(&format!("  {}\n", last_calls(&found.calls, now)));
    text
}

fn last_calls(calls: &[(&'static str, Option<Timestamp>)], now: Timestamp) -> String {
    let seen: Vec<String> = calls
        .iter()
        .filter_map(|(call, at)| at.map(|at| format!("{call} {}", age_text(at, now))))
        .collect();
    if seen.is_empty() {
        "not seen yet".to_owned()
    } else {
        format!("last seen: {}", seen.join(", "))
    }
}

fn json_of(found: &CheckedClient) -> Value {
    let calls = found
        .calls
        .iter()
        .map(|(call, at)| ((*call).to_owned(), at.map_or(Value::Null, |at| at.to_string().into())));
    json!({
        "client": found.client, "title": found.title, "fine": found.problems.is_empty(),
        "problems": found.problems, "notes": found.notes,
        "last_seen": Value::Object(calls.collect()),
    })
}

/// A short summary of all clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientsStatus {
    /// Clients that were set up, each with its last call.
    pub set_up: Vec<String>,
    /// Clients that are installed, were not set up, and were never seen.
    pub left_out: Vec<&'static str>,
    /// Problems of those that were set up.
    pub problems: Vec<String>,
}

/// Returns the summary of all clients, for the doctor.
#[must_use]
pub fn clients_status(
    machine: Machine<'_>,
    data: &Path,
    now: Timestamp,
    last_seen: LastSeenLookup<'_>,
) -> ClientsStatus {
    let book = RecordStore::in_data(data);
    let recorded = match book.read() {
        Ok(record) => record.files,
        Err(error) => {
            return ClientsStatus { problems: vec![error.to_string()], ..ClientsStatus::default() };
        }
    };
    let is_seen =
        |name: &str| ["mcp"].iter().chain(&HOOK_CALLS).any(|call| last_seen(name, call).is_some());
    let is_done = |name: &str| recorded.iter().any(|recorded| recorded.client == name);
    let installed = clients::all_clients().filter(|client| client.is_found(&machine));
    let mut left_out: Vec<&str> = installed
        .map(|client| client.name)
        .filter(|name| !is_done(name) && !is_seen(name))
        .collect();
    left_out.dedup();
    let request = SetupRequest {
        machine,
        data,
        names: Vec::new(),
        scope: None,
        mode: super::SetupMode::DryRun,
        now,
    };
    let found = checked_clients(recorded.iter(), &request, last_seen);
    let set_up =
        found.iter().map(|found| format!("{} ({})", found.title, last_calls(&found.calls, now)));
    let problems = found.iter().flat_map(|found| {
        found.problems.iter().map(|problem| format!("{}: {problem}", found.title))
    });
    ClientsStatus { set_up: set_up.collect(), left_out, problems: problems.collect() }
}
