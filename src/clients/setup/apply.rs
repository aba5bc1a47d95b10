//! Applies a plan file by file: first a copy of the old file, then the record, then the new file. After a crash at
//! any point, the record says what to undo. Not here: the plan.

use super::SetupError;
use super::files::{self, ExpectedContent, ReadAccess};
use super::locations::{Machine, SetupScope};
use super::plan::FileChange;
use super::record::{FileRecord, RecordStore, SetupRecord};

/// Changes one file and records it. Returns the name of the copy of the old file.
pub(super) fn apply(
    change: &FileChange,
    machine: &Machine<'_>,
    book: &RecordStore,
    record: &mut SetupRecord,
    at: &str,
) -> Result<Option<String>, SetupError> {
    let FileChange { desired, target, before, after } = change;
    if files::read(target)? != *before {
        return Err(SetupError::Changed { path: desired.path.clone() });
    }
    let readers = match desired.scope {
        SetupScope::User => ReadAccess::User,
        SetupScope::Project => ReadAccess::SystemDefault,
    };
    let known = record.find(&desired.path).cloned();
    let is_as_left =
        |text: &str| known.as_ref().is_some_and(|known| known.left == files::fingerprint(text));
    let copy = match before {
        // A file as we left it needs no copy: the copy of the original is kept.
        Some(text) if !is_as_left(text) => Some(book.keep_copy(&desired.path, text)?),
        Some(_) | None => None,
    };
    let (without_us, mut folders) = without_us(change, known.as_ref(), book, copy.clone())?;
    folders.extend(files::make_folders(target, readers)?);
    let left_without_us = without_us.clone();
    record.insert(FileRecord {
        client: desired.client.name.to_owned(),
        title: desired.client.title.to_owned(),
        scope: desired.scope.name().to_owned(),
        project: machine.project.clone(),
        path: desired.path.clone(),
        folders,
        without_us,
        left: files::fingerprint(after),
        program: machine.program.clone(),
        at: at.to_owned(),
        rest: known.map(|known| known.rest).unwrap_or_default(),
    });
    book.write(record)?;
    for name in [&copy, &left_without_us].into_iter().flatten() {
        book.confirm(name)?;
    }
    let expected = before.as_deref().map_or(ExpectedContent::Nothing, ExpectedContent::Text);
    files::write(target, after, desired.kind(), readers, expected)?;
    Ok(copy)
}

/// The file as it would be without us, and the folders that were made for it earlier. If the user changed the file
/// after an earlier setup, that is the present file without our part.
fn without_us(
    change: &FileChange,
    known: Option<&FileRecord>,
    book: &RecordStore,
    copy: Option<String>,
) -> Result<(Option<String>, Vec<std::path::PathBuf>), SetupError> {
    let (Some(known), Some(before)) = (known, change.before.as_deref()) else {
        return Ok((copy, known.map(|known| known.folders.clone()).unwrap_or_default()));
    };
    let folders = known.folders.clone();
    if files::fingerprint(before) == known.left {
        return Ok((known.without_us.clone(), folders));
    }
    let original = original(known, book)?;
    let taken = change.desired.remove_from(before, original.as_deref());
    let taken = taken.map_err(SetupError::broken(&change.desired.path))?;
    if original.is_none() && is_blank_config(&taken) {
        return Ok((None, folders));
    }
    Ok((Some(book.keep_copy(&change.desired.path, &taken)?), folders))
}

/// The file as it was without us.
pub(super) fn original(
    done: &FileRecord,
    book: &RecordStore,
) -> Result<Option<String>, SetupError> {
    done.without_us.as_deref().map_or(Ok(None), |name| book.kept_copy(name))
}

/// Whether a text is empty or an empty object.
pub(super) fn is_blank_config(text: &str) -> bool {
    matches!(text.trim(), "" | "{}")
}
