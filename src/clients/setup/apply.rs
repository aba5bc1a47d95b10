//! Carries a plan out, file by file: a copy first, then the record, then the file. After a crash at any moment
//! the record tells what to undo. Not here: the plan.

use super::Trouble;
use super::files::{self, Expected, Readers};
use super::places::{Ground, Scope};
use super::plan::Change;
use super::record::{Book, Done, Record};

/// Changes one file, and notes it. Returns the name of the copy of what was there.
pub(super) fn apply(
    change: &Change,
    ground: &Ground<'_>,
    book: &Book,
    record: &mut Record,
    at: &str,
) -> Result<Option<String>, Trouble> {
    let Change { wish, target, before, after } = change;
    if files::read(target)? != *before {
        return Err(Trouble::Changed { path: wish.path.clone() });
    }
    let readers = match wish.scope {
        Scope::User => Readers::User,
        Scope::Project => Readers::AsUsual,
    };
    let known = record.of(&wish.path).cloned();
    let is_as_left =
        |text: &str| known.as_ref().is_some_and(|known| known.left == files::fingerprint(text));
    let copy = match before {
        // What we wrote ourselves needs no copy; that of what was there before is kept.
        Some(text) if !is_as_left(text) => Some(book.keep(&wish.path, text)?),
        Some(_) | None => None,
    };
    let (without_us, mut folders) = without_us(change, known.as_ref(), book, copy.clone())?;
    folders.extend(files::make_folders(target, readers)?);
    record.note(Done {
        client: wish.client.name.to_owned(),
        title: wish.client.title.to_owned(),
        scope: wish.scope.name().to_owned(),
        project: ground.project.clone(),
        path: wish.path.clone(),
        folders,
        without_us,
        left: files::fingerprint(after),
        program: ground.program.clone(),
        at: at.to_owned(),
        rest: known.map(|known| known.rest).unwrap_or_default(),
    });
    book.write(record)?;
    let expected = before.as_deref().map_or(Expected::Nothing, Expected::Text);
    files::write(target, after, wish.kind(), readers, expected)?;
    Ok(copy)
}

/// The file as it would be without us, and the folders that were made for it earlier. Where we were there before,
/// and its user has changed it since, that is what is there now without our part of it.
fn without_us(
    change: &Change,
    known: Option<&Done>,
    book: &Book,
    copy: Option<String>,
) -> Result<(Option<String>, Vec<std::path::PathBuf>), Trouble> {
    let (Some(known), Some(before)) = (known, change.before.as_deref()) else {
        return Ok((copy, known.map(|known| known.folders.clone()).unwrap_or_default()));
    };
    let folders = known.folders.clone();
    if files::fingerprint(before) == known.left {
        return Ok((known.without_us.clone(), folders));
    }
    let original = original(known, book)?;
    let taken = change.wish.take(before, original.as_deref());
    let taken = taken.map_err(Trouble::broken(&change.wish.path))?;
    if original.is_none() && is_nothing(&taken) {
        return Ok((None, folders));
    }
    Ok((Some(book.keep(&change.wish.path, &taken)?), folders))
}

/// The file as it was without us.
pub(super) fn original(done: &Done, book: &Book) -> Result<Option<String>, Trouble> {
    done.without_us.as_deref().map_or(Ok(None), |name| book.kept(name))
}

/// Whether nothing but an empty form is left of a text.
pub(super) fn is_nothing(text: &str) -> bool {
    matches!(text.trim(), "" | "{}")
}
