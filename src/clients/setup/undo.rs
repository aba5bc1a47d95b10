//! Takes back what was set up: a file that is as we left it becomes what it was, byte for byte; from any other
//! our part is taken out and all else stays. Not here: the record itself.

use std::path::{Path, PathBuf};

use super::SetupError;
use super::apply::{is_nothing, original};
use super::clients;
use super::desired_state::{DesiredFile, FileKind, desired_file_at, desired_files};
use super::files::{self, Expected, Readers};
use super::locations::{Machine, SetupScope};
use super::record::{FileRecord, Record, RecordStore};

/// SetupMode a file was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undone {
    /// As it was before us, byte for byte.
    Restored,
    /// As it is now, without us: it was changed since.
    TakenOut,
    /// Gone, as it was before us.
    Removed,
    /// It was gone already.
    Gone,
}

/// What there is to do with a file.
enum UndoStep {
    Write {
        target: PathBuf,
        before: String,
        after: String,
        undone: Undone,
    },
    /// With what it holds.
    Remove(PathBuf, String),
    Nothing(Undone),
}

/// Undoes one file, and removes it from the record.
pub(super) fn undo(
    done: &FileRecord,
    machine: &Machine<'_>,
    book: &RecordStore,
    record: &mut Record,
) -> Result<Undone, SetupError> {
    let undone = match step(done, machine, book)? {
        UndoStep::Write { target, before, after, undone } => {
            let expected = Expected::Text(&before);
            files::write(&target, &after, FileKind::Data, Readers::User, expected)?;
            undone
        }
        UndoStep::Remove(target, before) => {
            files::refuse_others(&target, Expected::Text(&before))?;
            files::remove(&target)?;
            files::remove_folders(&done.folders);
            Undone::Removed
        }
        UndoStep::Nothing(undone) => {
            files::remove_folders(&done.folders);
            undone
        }
    };
    record.files.retain(|other| other.path != done.path);
    // A copy of what is on the disk again is of no use; one of what was changed since may be.
    if let (Undone::Restored, Some(name)) = (undone, &done.without_us) {
        book.forget(name)?;
    }
    book.write(record)?;
    Ok(undone)
}

/// Tells what undoing would do, and does nothing.
pub(super) fn preview(
    done: &FileRecord,
    machine: &Machine<'_>,
    book: &RecordStore,
) -> Result<Undone, SetupError> {
    Ok(match step(done, machine, book)? {
        UndoStep::Write { undone, .. } | UndoStep::Nothing(undone) => undone,
        UndoStep::Remove(..) => Undone::Removed,
    })
}

fn step(
    done: &FileRecord,
    machine: &Machine<'_>,
    book: &RecordStore,
) -> Result<UndoStep, SetupError> {
    let target = files::target(&done.path)?;
    let Some(text) = files::read(&target)? else {
        // Who removed the folders that we made removed them; others may be on a disk that is away.
        let made = done.folders.first().unwrap_or(&done.path);
        let is_there = made.parent().is_some_and(Path::exists);
        let away = SetupError::Away { path: done.path.clone() };
        return if is_there { Ok(UndoStep::Nothing(Undone::Gone)) } else { Err(away) };
    };
    let original = original(done, book)?;
    if original.as_deref() == Some(text.as_str()) {
        return Ok(UndoStep::Nothing(Undone::Restored));
    }
    let is_as_left = files::fingerprint(&text) == done.left;
    match (is_as_left, original, &done.without_us) {
        (true, Some(after), _) => {
            Ok(UndoStep::Write { target, before: text, after, undone: Undone::Restored })
        }
        (true, None, None) => Ok(UndoStep::Remove(target, text)),
        // Changed since, or the copy is lost.
        (_, original, _) => {
            let desired = desired(done, machine)
                .ok_or_else(|| SetupError::Forgotten { path: done.path.clone() })?;
            let taken = desired.take(&text, original.as_deref());
            let taken = taken.map_err(SetupError::broken(&done.path))?;
            let was_made = done.without_us.is_none() || desired.is_whole();
            Ok(match taken {
                taken if taken == text => UndoStep::Nothing(Undone::TakenOut),
                taken if was_made && is_nothing(&taken) => UndoStep::Remove(target, text),
                after => UndoStep::Write { target, before: text, after, undone: Undone::TakenOut },
            })
        }
    }
}

/// What was wished of a file when it was set up. The machine may have moved the file since: its name tells.
pub(super) fn desired(done: &FileRecord, machine: &Machine<'_>) -> Option<DesiredFile> {
    let client = clients::all().find(|client| client.title == done.title)?;
    let then = Machine {
        platform: machine.platform,
        home: machine.home.clone(),
        project: done.project.clone(),
        folders: Vec::new(),
        program: done.program.clone(),
        lookup: machine.lookup,
    };
    let scope = SetupScope::parse(&done.scope)?;
    let named = |desired: &DesiredFile| desired.path.file_name() == done.path.file_name();
    desired_file_at(client, scope, &then, &done.path)
        .or_else(|| desired_files(client, scope, &then).into_iter().find(named))
}

/// Whether what was done is meant by these names and this scope.
pub(super) fn is_meant(
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
