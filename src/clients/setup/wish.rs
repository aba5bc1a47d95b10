//! What shall stand in one file of a client: the parts of it, put there, taken out, looked for. Pure.
//! Not here: the files themselves (`files`), the forms of the parts (`server`, `hooks`).

use std::path::{Path, PathBuf};

use super::clients::{Client, Files, HookForm, Hooks};
use super::edit::Wrong;
use super::hooks::{self, Handlers, Lists};
use super::known;
use super::places::{Ground, Platform, Scope, Spot};
use super::server::{self, Entry};

/// One file, and what shall be in it.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) client: &'static Client,
    pub(super) scope: Scope,
    pub(super) path: PathBuf,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Server(Entry),
    Hooks(Handlers),
    Whole(Whole),
}

/// A file that is ours from its first byte to its last.
#[derive(Debug, Clone)]
struct Whole {
    text: String,
    says: String,
    kind: FileKind,
}

/// What a new file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// To be read.
    Data,
    /// To be started.
    Program,
}

impl Wish {
    /// Returns the text with all parts in it.
    pub(super) fn put(&self, before: Option<&str>) -> Result<String, Wrong> {
        let text = before.unwrap_or_default().to_owned();
        self.parts.iter().try_fold(text, |text, part| match part {
            Part::Server(entry) => entry.put(&text),
            Part::Hooks(handlers) => handlers.put(&text),
            Part::Whole(whole) => whole.put(&text),
        })
    }

    /// Returns the text without any of them.
    pub(super) fn take(&self, text: &str, original: Option<&str>) -> Result<String, Wrong> {
        self.parts.iter().rev().try_fold(text.to_owned(), |text, part| match part {
            Part::Server(entry) => entry.take(&text, original),
            Part::Hooks(handlers) => handlers.take(&text, original),
            Part::Whole(whole) => whole.take(&text),
        })
    }

    /// Whether all of them are there as they shall be.
    pub(super) fn stands(&self, text: &str) -> Result<bool, Wrong> {
        for part in &self.parts {
            let stands = match part {
                Part::Server(entry) => entry.stands(text)?,
                Part::Hooks(handlers) => handlers.stands(text)?,
                Part::Whole(whole) => whole.text == text,
            };
            if !stands {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Names the parts to people.
    pub(super) fn says(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Server(_) => format!("MCP server {}", server::NAME),
            Part::Hooks(handlers) => format!("hooks {}", handlers.events().join(", ")),
            Part::Whole(whole) => whole.says.clone(),
        });
        parts.collect::<Vec<_>>().join("; ")
    }

    /// What the file is, where it is made.
    pub(super) fn kind(&self) -> FileKind {
        let kinds = self.parts.iter().map(|part| match part {
            Part::Whole(whole) => whole.kind,
            Part::Server(_) | Part::Hooks(_) => FileKind::Data,
        });
        kinds.into_iter().next().unwrap_or(FileKind::Data)
    }

    /// The same, knowing what another program wrote as ours.
    pub(super) fn knowing(mut self, program: &str) -> Self {
        for part in &mut self.parts {
            if let Part::Hooks(handlers) = part {
                handlers.know(program.to_owned());
            }
        }
        self
    }

    /// Whether the file is ours from its first byte to its last.
    pub(super) fn is_whole(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Server(entry) => entry.is_whole(),
            Part::Hooks(_) => false,
            Part::Whole(_) => true,
        })
    }

    /// The file that its client would not read any more, were this one made.
    pub(super) fn hides(&self) -> Option<PathBuf> {
        let is_of_continue = self.path.ends_with(".continue/config.yaml");
        let older = self.path.with_extension("json");
        (is_of_continue && !self.path.exists() && older.exists()).then_some(older)
    }

    /// Whether hooks are among the parts.
    pub(super) fn has_hooks(&self) -> bool {
        self.parts.iter().any(|part| !matches!(part, Part::Server(_)))
    }
}

impl Whole {
    fn put(&self, before: &str) -> Result<String, Wrong> {
        if before.trim().is_empty() || hooks::is_our_file(before, &self.text) {
            return Ok(self.text.clone());
        }
        Err(known::no_file_of_ours())
    }

    fn take(&self, text: &str) -> Result<String, Wrong> {
        if hooks::is_our_file(text, &self.text) {
            return Ok(String::new());
        }
        Err(known::no_file_of_ours())
    }
}

/// The files of a client for a scope, with what shall be in them. None where it does not have that scope.
pub(super) fn wishes(client: &'static Client, scope: Scope, ground: &Ground<'_>) -> Vec<Wish> {
    let Some(files) = client.files(scope) else { return Vec::new() };
    let wish = |path, parts| Wish { client, scope, path, parts };
    let entry = Entry { form: files.server.form, program: ground.program_text() };
    let mut wishes = vec![wish(server_file(files, ground), vec![Part::Server(entry)])];
    let Some(hooks) = &files.hooks else { return wishes };
    for (path, part) in hook_files(client, hooks, ground) {
        match wishes.iter_mut().find(|wish| wish.path == path) {
            Some(same) => same.parts.push(part),
            None => wishes.push(wish(path, vec![part])),
        }
    }
    wishes
}

/// What shall be in one file of a client, also where it reads another one in its place by now.
pub(super) fn wish_at(
    client: &'static Client,
    scope: Scope,
    ground: &Ground<'_>,
    path: &Path,
) -> Option<Wish> {
    let today = wishes(client, scope, ground).into_iter().find(|wish| wish.path == path);
    let files = client.files(scope)?;
    let is_here = |spot: &Spot| spot.path(ground) == path;
    let earlier = || {
        let part = if files.server.files.iter().any(is_here) {
            Part::Server(Entry { form: files.server.form, program: ground.program_text() })
        } else {
            let hooks = files.hooks.as_ref()?;
            let lists = match is_here(&hooks.file) {
                true => Lists::Below,
                false if hooks.instead.iter().any(is_here) => Lists::Top,
                false => return None,
            };
            let handlers = Handlers::new(ground, client.name, hooks.form, hooks.events);
            Part::Hooks(handlers.standing(lists))
        };
        Some(Wish { client, scope, path: path.to_owned(), parts: vec![part] })
    };
    today.or_else(earlier)
}

fn server_file(files: &Files, ground: &Ground<'_>) -> PathBuf {
    let mut paths = files.server.files.iter().map(|spot| spot.path(ground));
    let first = paths.next().unwrap_or_default();
    if first.exists() { first } else { paths.find(|path| path.exists()).unwrap_or(first) }
}

fn hook_files(client: &Client, hooks: &Hooks, ground: &Ground<'_>) -> Vec<(PathBuf, Part)> {
    let path = hooks.file.path(ground);
    match hooks.form {
        HookForm::Plugin => {
            let text = hooks::plugin(ground);
            let says = "plugin with hooks".to_owned();
            vec![(path, Part::Whole(Whole { text, says, kind: FileKind::Data }))]
        }
        // What starts scripts on Windows is not known to us.
        HookForm::Scripts if ground.platform == Platform::Windows => Vec::new(),
        HookForm::Scripts => {
            let script = |event: &str| Whole {
                text: hooks::script(ground, client.name, event),
                says: format!("hook {event}"),
                kind: FileKind::Program,
            };
            let events = hooks.events.iter();
            events.map(|e| (path.join(e.name), Part::Whole(script(e.name)))).collect()
        }
        form => {
            let handlers = Handlers::new(ground, client.name, form, hooks.events);
            let mut instead = hooks.instead.iter().map(|spot| spot.path(ground));
            let (path, handlers) = match instead.find(|path| path.exists()) {
                Some(path) => (path, handlers.standing(Lists::Top)),
                None => (path, handlers),
            };
            vec![(path, Part::Hooks(handlers))]
        }
    }
}
