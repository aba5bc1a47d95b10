//! Takes back what was set up: a file that is as we left it becomes what it was, byte for byte; from any other
//! our part is taken out and all else stays. Not here: the record itself.

use std::path::{Path, PathBuf};

use super::Trouble;
use super::apply::{is_nothing, original};
use super::clients;
use super::files::{self, Expected, Readers};
use super::places::{Ground, Scope};
use super::record::{Book, Done, Record};
use super::wish::{FileKind, Wish, wish_at, wishes};

/// How a file was left.
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
enum Step {
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
    done: &Done,
    ground: &Ground<'_>,
    book: &Book,
    record: &mut Record,
) -> Result<Undone, Trouble> {
    let undone = match step(done, ground, book)? {
        Step::Write { target, before, after, undone } => {
            let expected = Expected::Text(&before);
            files::write(&target, &after, FileKind::Data, Readers::User, expected)?;
            undone
        }
        Step::Remove(target, before) => {
            files::refuse_others(&target, Expected::Text(&before))?;
            files::remove(&target)?;
            files::remove_folders(&done.folders);
            Undone::Removed
        }
        Step::Nothing(undone) => {
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
pub(super) fn preview(done: &Done, ground: &Ground<'_>, book: &Book) -> Result<Undone, Trouble> {
    Ok(match step(done, ground, book)? {
        Step::Write { undone, .. } | Step::Nothing(undone) => undone,
        Step::Remove(..) => Undone::Removed,
    })
}

fn step(done: &Done, ground: &Ground<'_>, book: &Book) -> Result<Step, Trouble> {
    let target = files::target(&done.path)?;
    let Some(text) = files::read(&target)? else {
        // Who removed the folders that we made removed them; others may be on a disk that is away.
        let made = done.folders.first().unwrap_or(&done.path);
        let is_there = made.parent().is_some_and(Path::exists);
        let away = Trouble::Away { path: done.path.clone() };
        return if is_there { Ok(Step::Nothing(Undone::Gone)) } else { Err(away) };
    };
    let original = original(done, book)?;
    if original.as_deref() == Some(text.as_str()) {
        return Ok(Step::Nothing(Undone::Restored));
    }
    let is_as_left = files::fingerprint(&text) == done.left;
    match (is_as_left, original, &done.without_us) {
        (true, Some(after), _) => {
            Ok(Step::Write { target, before: text, after, undone: Undone::Restored })
        }
        (true, None, None) => Ok(Step::Remove(target, text)),
        // Changed since, or the copy is lost.
        (_, original, _) => {
            let wish =
                wish(done, ground).ok_or_else(|| Trouble::Forgotten { path: done.path.clone() })?;
            let taken = wish.take(&text, original.as_deref());
            let taken = taken.map_err(Trouble::broken(&done.path))?;
            let was_made = done.without_us.is_none() || wish.is_whole();
            Ok(match taken {
                taken if taken == text => Step::Nothing(Undone::TakenOut),
                taken if was_made && is_nothing(&taken) => Step::Remove(target, text),
                after => Step::Write { target, before: text, after, undone: Undone::TakenOut },
            })
        }
    }
}

/// What was wished of a file when it was set up. The machine may have moved the file since: its name tells.
pub(super) fn wish(done: &Done, ground: &Ground<'_>) -> Option<Wish> {
    let client = clients::all().find(|client| client.title == done.title)?;
    let then = Ground {
        platform: ground.platform,
        home: ground.home.clone(),
        project: done.project.clone(),
        folders: Vec::new(),
        program: done.program.clone(),
        lookup: ground.lookup,
    };
    let scope = Scope::parse(&done.scope)?;
    let named = |wish: &Wish| wish.path.file_name() == done.path.file_name();
    wish_at(client, scope, &then, &done.path)
        .or_else(|| wishes(client, scope, &then).into_iter().find(named))
}

/// Whether what was done is meant by these names and this scope.
pub(super) fn is_meant(
    done: &Done,
    names: &[String],
    scope: Option<Scope>,
    project: &Path,
) -> bool {
    let by_name = names.is_empty() || names.contains(&done.client);
    let by_scope = match scope {
        None => true,
        Some(Scope::User) => done.scope == Scope::User.name(),
        Some(Scope::Project) => done.scope == Scope::Project.name() && done.project == project,
    };
    by_name && by_scope
}
