//! What there is to do: the table and the files as they are, to changes with the text before and after. Nothing
//! is written here.

use std::path::PathBuf;

use serde_json::Value;

use super::clients::{self, Client};
use super::edit::json::Json;
use super::files;
use super::places::{Ground, Scope, Spot};
use super::record::{Done, Record};
use super::wish::{Wish, wishes};
use super::{Trouble, Unknown};

/// What there is to do with one file.
#[derive(Debug)]
pub(super) enum Planned {
    /// It is to be changed.
    Change(Change),
    /// All stands there already.
    Same(Wish),
    /// It cannot be changed.
    Refused(Wish, Trouble),
}

/// A change to one file.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) wish: Wish,
    /// The file that the path means.
    pub(super) target: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Planned {
    pub(super) fn wish(&self) -> &Wish {
        match self {
            Self::Change(change) => &change.wish,
            Self::Same(wish) | Self::Refused(wish, _) => wish,
        }
    }
}

/// Picks the clients that are meant: those named, or those found.
pub(super) fn choose(
    names: &[String],
    scope: Scope,
    ground: &Ground<'_>,
) -> Result<Vec<&'static Client>, Unknown> {
    let with_scope = |client: &&Client| client.files(scope).is_some();
    if names.is_empty() {
        let found = clients::all().filter(|client| client.is_found(ground));
        return Ok(found.filter(with_scope).collect());
    }
    let mut chosen: Vec<&Client> = Vec::new();
    for name in names {
        let editions: Vec<&Client> =
            clients::all().filter(|client| client.name == name.as_str()).collect();
        if editions.is_empty() {
            return Err(Unknown::Client(name.clone()));
        }
        let able: Vec<&Client> = editions.into_iter().filter(|client| with_scope(client)).collect();
        // Who names a client wants it set up, also where we do not see it.
        let found: Vec<&Client> = able.iter().copied().filter(|c| c.is_found(ground)).collect();
        let meant = if found.is_empty() { able.into_iter().take(1).collect() } else { found };
        if meant.is_empty() {
            return Err(Unknown::Scope(name.clone(), scope));
        }
        chosen.extend(meant);
    }
    Ok(chosen)
}

/// Whether a client has us as a plugin already, which brings server and hooks of its own.
pub(super) fn has_plugin(client: &Client, ground: &Ground<'_>) -> bool {
    let ours = |(name, spot, member): &(&str, Spot, &str)| {
        let text = files::read(&spot.path(ground)).ok().flatten().unwrap_or_default();
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
    clients: &[&'static Client],
    scope: Scope,
    ground: &Ground<'_>,
    record: &Record,
) -> Vec<Planned> {
    let mut planned: Vec<Planned> = Vec::new();
    for wish in clients.iter().flat_map(|client| wishes(client, scope, ground)) {
        // Editions of one client share files.
        if !planned.iter().any(|other| other.wish().path == wish.path) {
            let known = record.of(&wish.path);
            planned.push(of(wish, known));
        }
    }
    planned
}

fn of(wish: Wish, known: Option<&Done>) -> Planned {
    let program = known.map(|known| known.program.to_string_lossy());
    let wish = match program {
        Some(program) => wish.knowing(&program),
        None => wish,
    };
    match change(&wish, known) {
        Ok(Some((target, before, after))) => {
            Planned::Change(Change { wish, target, before, after })
        }
        Ok(None) => Planned::Same(wish),
        Err(trouble) => Planned::Refused(wish, trouble),
    }
}

/// The file that is meant, its text, and what shall become of it.
type Found = (PathBuf, Option<String>, String);

fn change(wish: &Wish, known: Option<&Done>) -> Result<Option<Found>, Trouble> {
    let target = files::target(&wish.path)?;
    let before = files::read(&target)?;
    if let Some(hidden) = wish.hides() {
        return Err(Trouble::Hides { path: wish.path.clone(), hidden });
    }
    // A file of ours that is as an older version left it needs no other proof that it is.
    let is_as_left = before
        .as_deref()
        .is_some_and(|text| known.is_some_and(|known| known.left == files::fingerprint(text)));
    let base = before.as_deref().filter(|_| !(wish.is_whole() && is_as_left));
    let after = wish.put(base).map_err(Trouble::broken(&wish.path))?;
    // What a client wrote in another way may mean the same.
    Ok((before.as_deref() != Some(after.as_str())).then_some((target, before, after)))
}
