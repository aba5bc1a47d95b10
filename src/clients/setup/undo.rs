//! Undoes a setup: a file that is as we left it is restored byte for byte; from any other file only our part is
//! removed. Not here: the record itself.

use std::path::{Path, PathBuf};

use super::SetupError;
use super::apply::{is_blank_config, original};
use super::clients;
use super::desired_state::{DesiredFile, FileKind, desired_file_at, desired_files};
use super::files::{self, ExpectedContent, ReadAccess};
use super::locations::{Machine, SetupScope};
use super::record::{FileRecord, RecordStore, SetupRecord};

/// The result for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UndoOutcome {
    /// Restored byte for byte.
    Restored,
    /// Our part was removed; the user changed the file since.
    TakenOut,
    /// Removed, since it did not exist before.
    Removed,
    /// It was gone already.
    Gone,
}

/// The planned action on a file.
enum UndoStep {
    Write {
        target: PathBuf,
        before: String,
        after: String,
        undone: UndoOutcome,
    },
    /// The path and the present text.
    Remove(PathBuf, String),
    Nothing(UndoOutcome),
}

/// Undoes one file, and removes it from the record.
pub(super) fn undo(
    done: &FileRecord,
    machine: &Machine<'_>,
    book: &RecordStore,
    record: &mut SetupRecord,
) -> Result<UndoOutcome, SetupError> {
    let undone = match undo_step(done, machine, book)? {
        UndoStep::Write { target, before, after, undone } => {
            let expected = ExpectedContent::Text(&before);
            files::write(&target, &after, FileKind::Data, ReadAccess::User, expected)?;
            undone
        }
        UndoStep::Remove(target, before) => {
            files::refuse_changed(&target, ExpectedContent::Text(&before))?;
            files::remove(&target)?;
            files::remove_folders(&done.folders);
            UndoOutcome::Removed
        }
        UndoStep::Nothing(undone) => {
            files::remove_folders(&done.folders);
            undone
        }
    };
    record.files.retain(|other| other.path != done.path);
    // The copy of a restored file is of no more use. A copy of a changed file may be.
    if let (UndoOutcome::Restored, Some(name)) = (undone, &done.without_us) {
        book.remove_copy(name)?;
    }
    book.write(record)?;
    Ok(undone)
}

/// Returns what an undo would do, and changes nothing.
pub(super) fn preview(
    done: &FileRecord,
    machine: &Machine<'_>,
    book: &RecordStore,
) -> Result<UndoOutcome, SetupError> {
    Ok(match undo_step(done, machine, book)? {
        UndoStep::Write { undone, .. } | UndoStep::Nothing(undone) => undone,
        UndoStep::Remove(..) => UndoOutcome::Removed,
    })
}

fn undo_step(
    done: &FileRecord,
    machine: &Machine<'_>,
    book: &RecordStore,
) -> Result<UndoStep, SetupError> {
    let target = files::link_target(&done.path)?;
    let Some(text) = files::read(&target)? else {
        // If the folders that we made are gone, somebody removed them. If other folders are gone, their disk may not
        // be mounted.
        let made = done.folders.first().unwrap_or(&done.path);
        let is_there = made.parent().is_some_and(Path::exists);
        let away = SetupError::Away { path: done.path.clone() };
        return if is_there { Ok(UndoStep::Nothing(UndoOutcome::Gone)) } else { Err(away) };
    };
    let original = original(done, book)?;
    if original.as_deref() == Some(text.as_str()) {
        return Ok(UndoStep::Nothing(UndoOutcome::Restored));
    }
    let is_as_left = files::fingerprint(&text) == done.left;
    match (is_as_left, original, &done.without_us) {
        (true, Some(after), _) => {
            Ok(UndoStep::Write { target, before: text, after, undone: UndoOutcome::Restored })
        }
        (true, None, None) => Ok(UndoStep::Remove(target, text)),
        // The file was changed since, or its copy is lost.
        (_, original, _) => {
            let desired = recorded_desired_file(done, machine)
                .ok_or_else(|| SetupError::Forgotten { path: done.path.clone() })?;
            let without_ours = desired.remove_from(&text, original.as_deref());
            let without_ours = without_ours.map_err(SetupError::broken(&done.path))?;
            let was_made = done.without_us.is_none() || desired.owns_whole_file();
            Ok(match without_ours {
                without_ours if without_ours == text => UndoStep::Nothing(UndoOutcome::TakenOut),
                without_ours if was_made && is_blank_config(&without_ours) => {
                    UndoStep::Remove(target, text)
                }
                after => {
                    UndoStep::Write { target, before: text, after, undone: UndoOutcome::TakenOut }
                }
            })
        }
    }
}

/// Returns the desired state of a file at the time of its setup. The file may have moved since, so its name is
/// compared too.
pub(super) fn recorded_desired_file(
    done: &FileRecord,
    machine: &Machine<'_>,
) -> Option<DesiredFile> {
    let client = clients::all_clients().find(|client| client.title == done.title)?;
    let scope = SetupScope::parse(&done.scope)?;
    let then = Machine {
        platform: machine.platform,
        home: machine.home.clone(),
        project: done.project.clone(),
        folders: Vec::new(),
        program: done.program.clone(),
        store: machine.store.clone().filter(|_| scope == SetupScope::User),
        lookup: machine.lookup,
    };
    let named = |desired: &DesiredFile| desired.path.file_name() == done.path.file_name();
    desired_file_at(client, scope, &then, &done.path)
        .or_else(|| desired_files(client, scope, &then).into_iter().find(named))
}

/// Whether these names and this scope select a recorded file.
pub(super) fn is_selected(
    done: &FileRecord,
    names: &[String],
    scope: Option<SetupScope>,
    project: &Path,
) -> bool {
    let by_name = names.is_empty() || names.contains(&done.client);
    let by_scope = match scope {
        None => true,
        Some(SetupScope::User) => done.scope == SetupScope::User.name(),
        Some(SetupScope::Project) => {
            done.scope == SetupScope::Project.name() && done.project == project
        }
    };
    by_name && by_scope
}
