//! Sets up and takes back, and tells of it: one paragraph for each client, or JSON. Not here: how a file is
//! changed (`apply`, `undo`).

use serde_json::{Value, json};

use super::clients::Client;
use super::places::Scope;
use super::plan::{Change, Planned, choose, has_plugin, plan};
use super::record::{Book, Done, Record};
use super::undo::{self, Undone};
use super::{Ending, How, Report, Request, Trouble, Unknown, apply, show};

/// What happened to one file.
pub(super) struct Told {
    pub(super) client: String,
    pub(super) title: String,
    pub(super) path: String,
    /// In one word, for programs.
    pub(super) state: &'static str,
    pub(super) says: String,
    pub(super) copy: Option<String>,
    pub(super) diff: Option<String>,
    pub(super) ending: Ending,
}

/// Puts us into clients.
///
/// # Errors
/// [`Unknown`] where something is asked for that there is not; nothing is done then.
pub fn set_up(request: &Request<'_>) -> Result<Report, Unknown> {
    let ground = &request.ground;
    if ground.program.to_str().is_none() {
        return Err(Unknown::Path(ground.program.clone()));
    }
    let scope = request.scope.unwrap_or(Scope::User);
    let ground = ground.for_scope(scope);
    let request = &Request { ground, names: request.names.clone(), ..*request };
    let ground = &request.ground;
    let clients = choose(&request.names, scope, ground)?;
    let book = Book::in_data(request.data);
    let mut record = match book.read() {
        Ok(record) => record,
        Err(trouble) => return Ok(only(&trouble)),
    };
    let unseen: Vec<&str> =
        clients.iter().filter(|c| !c.is_found(ground)).map(|client| client.title).collect();
    let twice: Vec<&str> =
        clients.iter().filter(|c| has_plugin(c, ground)).map(|client| client.title).collect();
    let planned = plan(&clients, scope, ground, &record);
    let told: Vec<Told> =
        planned.iter().map(|planned| tell(planned, request, &book, &mut record)).collect();
    let next = |title: &str| next(&clients, title, scope);
    let is_of_here = scope == Scope::Project && ground.program.is_absolute();
    let about = About { next: &next, unseen: &unseen, twice: &twice, is_of_here };
    Ok(report(request, &book, &told, &about))
}

fn next(clients: &[&'static Client], title: &str, scope: Scope) -> Option<&'static str> {
    clients.iter().find(|c| c.title == title).and_then(|c| c.files(scope)).map(|files| files.next)
}

fn tell(planned: &Planned, request: &Request<'_>, book: &Book, record: &mut Record) -> Told {
    let wish = planned.wish();
    let told = |state, says, ending| Told {
        client: wish.client.name.to_owned(),
        title: wish.client.title.to_owned(),
        path: wish.path.display().to_string(),
        state,
        says,
        copy: None,
        diff: None,
        ending,
    };
    let refused = |trouble: &Trouble| told("refused", trouble.to_string(), trouble.ending());
    match planned {
        Planned::Same(_) => told("unchanged", wish.says(), Ending::Fine),
        Planned::Refused(_, trouble) => refused(trouble),
        Planned::Change(change) => match changed(change, request, book, record) {
            Ok((state, copy, diff)) => {
                Told { copy, diff, ..told(state, wish.says(), Ending::Fine) }
            }
            Err(trouble) => refused(&trouble),
        },
    }
}

/// How it is told, the copy of what was there, and the difference.
type Changed = (&'static str, Option<String>, Option<String>);

fn changed(
    change: &Change,
    request: &Request<'_>,
    book: &Book,
    record: &mut Record,
) -> Result<Changed, Trouble> {
    if request.how == How::DryRun {
        let path = change.wish.path.display().to_string();
        let diff = show::diff(&path, change.before.as_deref(), Some(&change.after));
        return Ok(("would write", None, Some(diff)));
    }
    let at = request.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let copy = apply::apply(change, &request.ground, book, record, &at)?;
    Ok(("wrote", copy.map(|name| book.folder().join(name).display().to_string()), None))
}

/// Takes us out of clients again.
///
/// # Errors
/// [`Unknown`] where something is asked for that there is not; nothing is done then.
pub fn take_back(request: &Request<'_>) -> Result<Report, Unknown> {
    let known = super::names();
    if let Some(name) = request.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Unknown::Client(name.clone()));
    }
    let book = Book::in_data(request.data);
    let mut record = match book.read() {
        Ok(record) => record,
        Err(trouble) => return Ok(only(&trouble)),
    };
    let project = &request.ground.project;
    let is_meant = |done: &&Done| undo::is_meant(done, &request.names, request.scope, project);
    // The file that folders were made for came first, so it goes last.
    let meant: Vec<Done> = record.files.iter().rev().filter(is_meant).cloned().collect();
    let told: Vec<Told> =
        meant.iter().map(|done| taken_back(done, request, &book, &mut record)).collect();
    Ok(report(request, &book, &told, &About::default()))
}

fn taken_back(done: &Done, request: &Request<'_>, book: &Book, record: &mut Record) -> Told {
    let undone = match request.how {
        How::DryRun => undo::preview(done, &request.ground, book),
        How::Change => undo::undo(done, &request.ground, book, record),
    };
    let (state, says, ending) = match undone {
        Ok(Undone::Restored) => ("restored", "as it was, byte for byte".to_owned(), Ending::Fine),
        Ok(Undone::TakenOut) => {
            ("taken out", "it was changed since; all else stays".to_owned(), Ending::Fine)
        }
        Ok(Undone::Removed) => ("removed", "it was ours".to_owned(), Ending::Fine),
        Ok(Undone::Gone) => ("gone", "it was removed already".to_owned(), Ending::Fine),
        Err(trouble) => ("refused", trouble.to_string(), trouble.ending()),
    };
    let state = match (request.how, state) {
        (How::DryRun, "restored") => "would restore",
        (How::DryRun, "taken out") => "would take out of",
        (How::DryRun, "removed") => "would remove",
        (_, state) => state,
    };
    Told {
        client: done.client.clone(),
        title: done.title.clone(),
        path: done.path.display().to_string(),
        state,
        says,
        copy: None,
        diff: None,
        ending,
    }
}

/// A report of nothing but why nothing was done.
pub(super) fn only(trouble: &Trouble) -> Report {
    let text = trouble.to_string();
    Report { ending: trouble.ending(), json: json!({ "trouble": text, "files": [] }), text }
}

/// What is told of a client beside its files, by its title.
struct About<'a> {
    /// What its user does next.
    next: &'a dyn Fn(&str) -> Option<&'static str>,
    /// Those that do not seem to be installed.
    unseen: &'a [&'a str],
    /// Those that have us as a plugin too.
    twice: &'a [&'a str],
    /// Whether files that are shared name a path of this machine.
    is_of_here: bool,
}

impl Default for About<'_> {
    fn default() -> Self {
        Self { next: &|_| None, unseen: &[], twice: &[], is_of_here: false }
    }
}

fn report(request: &Request<'_>, book: &Book, told: &[Told], about: &About<'_>) -> Report {
    let ending = told.iter().map(|told| told.ending).max().unwrap_or(Ending::Fine);
    let mut text = String::new();
    let mut titles: Vec<&str> = told.iter().map(|told| told.title.as_str()).collect();
    titles.dedup();
    for title in titles {
        let of_client = || told.iter().filter(|told| told.title == title);
        let is_unseen = about.unseen.contains(&title);
        let unseen = if is_unseen { ": not found here, set up because you named it" } else { "" };
        let name = of_client().next().map(|told| told.client.as_str()).unwrap_or_default();
        text.push_str(&format!("{title} ({name}){unseen}\n"));
        for told in of_client() {
            text.push_str(&line(told));
        }
        if about.twice.contains(&title) {
            text.push_str("  note: our plugin is switched on here too; keep one of the two\n");
        }
        if about.is_of_here {
            let program = request.ground.program.display();
            text.push_str(&format!("  note: no folder of PATH starts this program by its name, so who shares these files needs it as {program}\n"));
        }
        let is_new = of_client().any(|told| told.state == "wrote" || told.diff.is_some());
        if let Some(next) = (about.next)(title).filter(|_| is_new) {
            text.push_str(&format!("  next: {next}\n"));
        }
    }
    if told.is_empty() {
        text = nothing(request);
    } else if told.iter().any(|told| told.copy.is_some()) {
        let folder = book.folder().display();
        text.push_str(&format!("Copies of what was there are in {folder}; agent-knowledge setup --undo brings it back.\n"));
    }
    let json = json!({ "fine": ending == Ending::Fine, "files": json_of(told, about) });
    Report { ending, text: text.trim_end().to_owned(), json }
}

fn line(told: &Told) -> String {
    match (&told.diff, told.state) {
        (_, "refused") => format!("  refused: {}\n", told.says),
        (Some(diff), state) => format!("  {state} {}: {}\n{diff}", told.path, told.says),
        (None, state) => format!("  {state} {}: {}\n", told.path, told.says),
    }
}

fn nothing(request: &Request<'_>) -> String {
    let known = super::names().join(", ");
    match request.scope {
        _ if request.how == How::DryRun || request.names.is_empty() => {
            format!(
                "Nothing to do: no client was found, or none was set up. Name one to set it up all the same: {known}."
            )
        }
        _ => "Nothing to do: these clients were not set up.".to_owned(),
    }
}

fn json_of(told: &[Told], about: &About<'_>) -> Vec<Value> {
    let files = told.iter().map(|told| {
        json!({
            "client": told.client, "title": told.title, "path": told.path, "state": told.state,
            "says": told.says, "copy": told.copy, "diff": told.diff, "next": (about.next)(&told.title),
            "has_plugin": about.twice.contains(&told.title.as_str()),
            "found": !about.unseen.contains(&told.title.as_str()),
        })
    });
    files.collect()
}
