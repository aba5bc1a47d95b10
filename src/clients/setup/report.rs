//! Sets up and undoes, and reports the result: one paragraph for each client, or JSON. Not here: how a file is
//! changed (`apply`, `undo`).

use serde_json::{Value, json};

use super::clients::ClientSpec;
use super::locations::SetupScope;
use super::plan::{FileChange, PlannedFile, chosen_clients, has_plugin, plan};
use super::record::{FileRecord, RecordStore, SetupRecord};
use super::undo::{self, UndoOutcome};
use super::{
    ReportStatus, SetupError, SetupMode, SetupReport, SetupRequest, UnknownTarget, apply, diff,
};

/// What happened to one file.
pub(super) struct FileReport {
    pub(super) client: String,
    pub(super) title: String,
    pub(super) path: String,
    /// The state in one word, for programs.
    pub(super) state: &'static str,
    pub(super) says: String,
    pub(super) copy: Option<String>,
    pub(super) diff: Option<String>,
    pub(super) status: ReportStatus,
}

/// Sets up clients.
///
/// # Errors
/// [`UnknownTarget`] for a target that does not exist. Then nothing is changed.
pub fn set_up(request: &SetupRequest<'_>) -> Result<SetupReport, UnknownTarget> {
    let machine = &request.machine;
    if machine.program.to_str().is_none() {
        return Err(UnknownTarget::Path(machine.program.clone()));
    }
    let scope = request.scope.unwrap_or(SetupScope::User);
    let machine = machine.for_scope(scope);
    let request = &SetupRequest { machine, names: request.names.clone(), ..*request };
    let machine = &request.machine;
    let clients = chosen_clients(&request.names, scope, machine)?;
    let book = RecordStore::in_data(request.data);
    let mut record = match book.read() {
        Ok(record) => record,
        Err(error) => return Ok(error_report(&error)),
    };
    let unseen: Vec<&str> =
        clients.iter().filter(|c| !c.is_found(machine)).map(|client| client.title).collect();
    let twice: Vec<&str> =
        clients.iter().filter(|c| has_plugin(c, machine)).map(|client| client.title).collect();
    let planned = plan(&clients, scope, machine, &record);
    if request.mode == SetupMode::Apply {
        let planned = planned.iter().map(|planned| planned.desired().path.as_path());
        book.remove_leftovers(planned.chain(record.files.iter().map(|done| done.path.as_path())));
    }
    let reports: Vec<FileReport> =
        planned.iter().map(|planned| report_change(planned, request, &book, &mut record)).collect();
    let next = |title: &str| next(&clients, title, scope);
    let is_of_here = scope == SetupScope::Project && machine.program.is_absolute();
    let about =
        ReportNotes { next: &next, unseen: &unseen, twice: &twice, is_of_here, sets_up: true };
    Ok(report(request, &book, &reports, &about))
}

fn next(clients: &[&'static ClientSpec], title: &str, scope: SetupScope) -> Option<&'static str> {
    clients
        .iter()
        .find(|c| c.title == title)
        .and_then(|c| c.files(scope))
        .map(|files| files.next_step)
}

fn report_change(
    planned: &PlannedFile,
    request: &SetupRequest<'_>,
    book: &RecordStore,
    record: &mut SetupRecord,
) -> FileReport {
    let desired = planned.desired();
    let report = |state, says, status| FileReport {
        client: desired.client.name.to_owned(),
        title: desired.client.title.to_owned(),
        path: desired.path.display().to_string(),
        state,
        says,
        copy: None,
        diff: None,
        status,
    };
    let refused = |error: &SetupError| report("refused", error.to_string(), error.status());
    match planned {
        PlannedFile::Same(_) => report("unchanged", desired.description(), ReportStatus::Fine),
        PlannedFile::Refused(_, error) => refused(error),
        PlannedFile::Change(change) => match changed(change, request, book, record) {
            Ok((state, copy, diff)) => FileReport {
                copy,
                diff,
                ..report(state, desired.description(), ReportStatus::Fine)
            },
            Err(error) => refused(&error),
        },
    }
}

/// The state, the name of the copy of the old file, and the diff.
type Changed = (&'static str, Option<String>, Option<String>);

fn changed(
    change: &FileChange,
    request: &SetupRequest<'_>,
    book: &RecordStore,
    record: &mut SetupRecord,
) -> Result<Changed, SetupError> {
    if request.mode == SetupMode::DryRun {
        let path = change.desired.path.display().to_string();
        let diff = diff::diff(&path, change.before.as_deref(), Some(&change.after));
        return Ok(("would write", None, Some(diff)));
    }
    let at = request.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let copy = apply::apply(change, &request.machine, book, record, &at)?;
    Ok(("wrote", copy.map(|name| book.folder().join(name).display().to_string()), None))
}

/// Undoes the setup of clients.
///
/// # Errors
/// [`UnknownTarget`] for a target that does not exist. Then nothing is changed.
pub fn take_back(request: &SetupRequest<'_>) -> Result<SetupReport, UnknownTarget> {
    let known = super::names();
    if let Some(name) = request.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(UnknownTarget::Client(name.clone()));
    }
    let book = RecordStore::in_data(request.data);
    let mut record = match book.read() {
        Ok(record) => record,
        Err(error) => return Ok(error_report(&error)),
    };
    if request.mode == SetupMode::Apply {
        book.remove_leftovers(record.files.iter().map(|done| done.path.as_path()));
    }
    let project = &request.machine.project;
    let is_meant =
        |done: &&FileRecord| undo::is_selected(done, &request.names, request.scope, project);
    // The file for which folders were made came first, so it is removed last.
    let meant: Vec<FileRecord> = record.files.iter().rev().filter(is_meant).cloned().collect();
    let reports: Vec<FileReport> =
        meant.iter().map(|done| report_undo(done, request, &book, &mut record)).collect();
    Ok(report(request, &book, &reports, &ReportNotes::default()))
}

fn report_undo(
    done: &FileRecord,
    request: &SetupRequest<'_>,
    book: &RecordStore,
    record: &mut SetupRecord,
) -> FileReport {
    let undone = match request.mode {
        SetupMode::DryRun => undo::preview(done, &request.machine, book),
        SetupMode::Apply => undo::undo(done, &request.machine, book, record),
    };
    let (state, says, status) = match undone {
        Ok(UndoOutcome::Restored) => (
            "restored",
            "the file is as it was before, byte for byte".to_owned(),
            ReportStatus::Fine,
        ),
        Ok(UndoOutcome::TakenOut) => (
            "taken out",
            "the file was changed since its setup, so only our part was removed".to_owned(),
            ReportStatus::Fine,
        ),
        Ok(UndoOutcome::Removed) => ("removed", "setup had made it".to_owned(), ReportStatus::Fine),
        Ok(UndoOutcome::Gone) => {
            ("gone", "the file was already gone".to_owned(), ReportStatus::Fine)
        }
        Err(error) => ("refused", error.to_string(), error.status()),
    };
    let state = match (request.mode, state) {
        (SetupMode::DryRun, "restored") => "would restore",
        (SetupMode::DryRun, "taken out") => "would take out of",
        (SetupMode::DryRun, "removed") => "would remove",
        (_, state) => state,
    };
    FileReport {
        client: done.client.clone(),
        title: done.title.clone(),
        path: done.path.display().to_string(),
        state,
        says,
        copy: None,
        diff: None,
        status,
    }
}

/// A report that contains only an error.
pub(super) fn error_report(error: &SetupError) -> SetupReport {
    let text = error.to_string();
    SetupReport { status: error.status(), json: json!({ "trouble": text, "files": [] }), text }
}

/// Notes on clients, by their titles.
struct ReportNotes<'a> {
    /// What the user does next.
    next: &'a dyn Fn(&str) -> Option<&'static str>,
    /// Clients that do not seem to be installed.
    unseen: &'a [&'a str],
    /// Clients that also have our plugin.
    twice: &'a [&'a str],
    /// Whether shared files name a path of this machine.
    is_of_here: bool,
    /// Whether clients are set up, and not taken back.
    sets_up: bool,
}

impl Default for ReportNotes<'_> {
    fn default() -> Self {
        Self { next: &|_| None, unseen: &[], twice: &[], is_of_here: false, sets_up: false }
    }
}

fn report(
    request: &SetupRequest<'_>,
    book: &RecordStore,
    reports: &[FileReport],
    about: &ReportNotes<'_>,
) -> SetupReport {
    let status = reports.iter().map(|report| report.status).max().unwrap_or(ReportStatus::Fine);
    let mut text = String::new();
    let mut titles: Vec<&str> = reports.iter().map(|report| report.title.as_str()).collect();
    titles.dedup();
    for title in titles {
        let of_client = || reports.iter().filter(|report| report.title == title);
        let is_unseen = about.unseen.contains(&title);
        let unseen =
            if is_unseen { ": not found here, but set up because you named it" } else { "" };
        let name = of_client().next().map(|report| report.client.as_str()).unwrap_or_default();
        text.push_str(&format!("{title} ({name}){unseen}\n"));
        for report in of_client() {
            text.push_str(&line(report));
        }
        if about.twice.contains(&title) {
            text.push_str("  note: the agent-knowledge plugin is enabled here too; keep only one of the two\n");
        }
        if about.is_of_here {
            let program = request.machine.program.display();
            text.push_str(&format!("  note: PATH does not lead to this program, so these files name it as {program}; everybody who shares them needs it there\n"));
        }
        let is_new = of_client().any(|report| report.state == "wrote" || report.diff.is_some());
        if let Some(next) = (about.next)(title).filter(|_| is_new) {
            text.push_str(&format!("  next: {next}\n"));
        }
    }
    if reports.is_empty() {
        text = nothing(request, about.sets_up);
    } else if reports.iter().any(|report| report.copy.is_some()) {
        let folder = book.folder().display();
        text.push_str(&format!(
            "Copies of the old files are in {folder}; agent-knowledge setup --undo restores them.\n"
        ));
    }
    let json = json!({ "fine": status == ReportStatus::Fine, "files": json_of(reports, about) });
    SetupReport { status, text: text.trim_end().to_owned(), json }
}

fn line(report: &FileReport) -> String {
    match (&report.diff, report.state) {
        (_, "refused") => format!("  refused: {}\n", report.says),
        (Some(diff), state) => format!("  {state} {}: {}\n{diff}", report.path, report.says),
        (None, state) => format!("  {state} {}: {}\n", report.path, report.says),
    }
}

fn nothing(request: &SetupRequest<'_>, sets_up: bool) -> String {
    let known = super::names().join(", ");
    if sets_up {
        return format!(
            "No client was found on this machine. To set one up anyway: agent-knowledge setup codex. Clients: {known}."
        );
    }
    let what = if request.names.is_empty() { "no client was" } else { "these clients were not" };
    format!("Nothing to do: {what} set up.")
}

fn json_of(reports: &[FileReport], about: &ReportNotes<'_>) -> Vec<Value> {
    let files = reports.iter().map(|report| {
        json!({
            "client": report.client, "title": report.title, "path": report.path, "state": report.state,
            "says": report.says, "copy": report.copy, "diff": report.diff, "next": (about.next)(&report.title),
            "has_plugin": about.twice.contains(&report.title.as_str()),
            "found": !about.unseen.contains(&report.title.as_str()),
        })
    });
    files.collect()
}
