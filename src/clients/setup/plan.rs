//! The plan: compares the table with the files, and returns changes with the text before and after. Nothing is
//! written here.

use std::path::PathBuf;

use serde_json::Value;

use super::clients::{self, ClientSpec};
use super::desired_state::{DesiredFile, desired_files};
use super::edit::json::Json;
use super::files;
use super::locations::{FileLocation, Machine, SetupScope};
use super::record::{FileRecord, SetupRecord};
use super::{SetupError, UnknownTarget};

/// The plan for one file.
#[derive(Debug)]
pub(super) enum PlannedFile {
    /// It will be changed.
    Change(FileChange),
    /// It is already as desired.
    Same(DesiredFile),
    /// It cannot be changed.
    Refused(DesiredFile, SetupError),
}

/// A change of one file.
#[derive(Debug)]
pub(super) struct FileChange {
    pub(super) desired: DesiredFile,
    /// The file that the path leads to.
    pub(super) target: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl PlannedFile {
    pub(super) fn desired(&self) -> &DesiredFile {
        match self {
            Self::Change(change) => &change.desired,
            Self::Same(desired) | Self::Refused(desired, _) => desired,
        }
    }
}

/// Returns the chosen clients: those that are named, or those that are installed.
pub(super) fn chosen_clients(
    names: &[String],
    scope: SetupScope,
    machine: &Machine<'_>,
) -> Result<Vec<&'static ClientSpec>, UnknownTarget> {
    let with_scope = |client: &&ClientSpec| client.files(scope).is_some();
    if names.is_empty() {
        let found = clients::all_clients().filter(|client| client.is_found(machine));
        return Ok(found.filter(with_scope).collect());
    }
    let mut chosen: Vec<&ClientSpec> = Vec::new();
    for name in names {
        let editions: Vec<&ClientSpec> =
            clients::all_clients().filter(|client| client.name == name.as_str()).collect();
        if editions.is_empty() {
            return Err(UnknownTarget::Client(name.clone()));
        }
        let able: Vec<&ClientSpec> =
            editions.into_iter().filter(|client| with_scope(client)).collect();
        // A client that is named is set up even if it is not found.
        let found: Vec<&ClientSpec> =
            able.iter().copied().filter(|c| c.is_found(machine)).collect();
        let meant = if found.is_empty() { able.into_iter().take(1).collect() } else { found };
        if meant.is_empty() {
            return Err(UnknownTarget::Scope(name.clone(), scope));
        }
        chosen.extend(meant);
    }
    Ok(chosen)
}

/// Whether a client already has our plugin, which has a server and hooks of its own.
pub(super) fn has_plugin(client: &ClientSpec, machine: &Machine<'_>) -> bool {
    let ours = |(name, location, member): &(&str, FileLocation, &str)| {
        let text = files::read(&location.path(machine)).ok().flatten().unwrap_or_default();
        let plugins = Json::parse(&text).ok().and_then(|json| json.get(&[member]));
        let plugins = plugins.as_ref().and_then(Value::as_object);
        let is_on = |(plugin, on): (&String, &Value)| {
            plugin.starts_with("agent-knowledge@") && *on == Value::Bool(true)
        };
        *name == client.name && plugins.is_some_and(|plugins| plugins.iter().any(is_on))
    };
    clients::PLUGINS.iter().any(ours)
}

/// Makes the plan.
pub(super) fn plan(
    clients: &[&'static ClientSpec],
    scope: SetupScope,
    machine: &Machine<'_>,
    record: &SetupRecord,
) -> Vec<PlannedFile> {
    let mut planned: Vec<PlannedFile> = Vec::new();
    for desired in clients.iter().flat_map(|client| desired_files(client, scope, machine)) {
        // Editions of one client share files.
        if !planned.iter().any(|other| other.desired().path == desired.path) {
            let known = record.find(&desired.path);
            planned.push(planned_file(desired, known));
        }
    }
    planned
}

fn planned_file(desired: DesiredFile, known: Option<&FileRecord>) -> PlannedFile {
    let program = known.map(|known| known.program.to_string_lossy());
    let desired = match program {
        Some(program) => desired.with_known_program(&program),
        None => desired,
    };
    match change(&desired, known) {
        Ok(Some((target, before, after))) => {
            PlannedFile::Change(FileChange { desired, target, before, after })
        }
        Ok(None) => PlannedFile::Same(desired),
        Err(error) => PlannedFile::Refused(desired, error),
    }
}

/// The file that is meant, its text, and the new text.
type Rewrite = (PathBuf, Option<String>, String);

fn change(
    desired: &DesiredFile,
    known: Option<&FileRecord>,
) -> Result<Option<Rewrite>, SetupError> {
    let target = files::link_target(&desired.path)?;
    let before = files::read(&target)?;
    if let Some(hidden) = desired.hidden_file() {
        return Err(SetupError::Hides { path: desired.path.clone(), hidden });
    }
    // A file that is as an older version left it is certainly ours.
    let is_as_left = before
        .as_deref()
        .is_some_and(|text| known.is_some_and(|known| known.left == files::fingerprint(text)));
    let base = before.as_deref().filter(|_| !(desired.owns_whole_file() && is_as_left));
    let after = desired.add_to(base).map_err(SetupError::broken(&desired.path))?;
    // A client may have written the same settings in another way.
    Ok((before.as_deref() != Some(after.as_str())).then_some((target, before, after)))
}
