//! The desired state of one client file: which parts it must contain, and how to add, remove and check them. Pure.
//! Not here: the files themselves (`files`), the parts (`server`, `hooks`).

use std::path::{Path, PathBuf};

use super::clients::{ClientSpec, HookForm, HookSpec, ScopeFiles};
use super::edit::EditError;
use super::hooks::{self, HookHandlers, ListLocation};
use super::locations::{FileLocation, Machine, Platform, SetupScope};
use super::ownership;
use super::server::ServerEntry;

/// One file and the parts it must contain.
#[derive(Debug, Clone)]
pub(super) struct DesiredFile {
    pub(super) client: &'static ClientSpec,
    pub(super) scope: SetupScope,
    pub(super) path: PathBuf,
    parts: Vec<FilePart>,
}

#[derive(Debug, Clone)]
enum FilePart {
    Server(ServerEntry),
    Hooks(HookHandlers),
    Whole(OwnFile),
}

/// A file that is ours as a whole.
#[derive(Debug, Clone)]
struct OwnFile {
    text: String,
    says: String,
    kind: FileKind,
}

/// The kind of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// To be read.
    Data,
    /// To be run.
    Program,
}

impl DesiredFile {
    /// Returns the text with all parts.
    pub(super) fn add_to(&self, before: Option<&str>) -> Result<String, EditError> {
        let text = before.unwrap_or_default().to_owned();
        self.parts.iter().try_fold(text, |text, part| match part {
            FilePart::Server(entry) => entry.add_to(&text),
            FilePart::Hooks(handlers) => handlers.add_to(&text),
            FilePart::Whole(whole) => whole.add_to(&text),
        })
    }

    /// Returns the text without our parts.
    pub(super) fn remove_from(
        &self,
        text: &str,
        original: Option<&str>,
    ) -> Result<String, EditError> {
        self.parts.iter().rev().try_fold(text.to_owned(), |text, part| match part {
            FilePart::Server(entry) => entry.remove_from(&text, original),
            FilePart::Hooks(handlers) => handlers.remove_from(&text, original),
            FilePart::Whole(whole) => whole.remove_from(&text),
        })
    }

    /// Whether all parts are there as desired.
    pub(super) fn is_in(&self, text: &str) -> Result<bool, EditError> {
        for part in &self.parts {
            let stands = match part {
                FilePart::Server(entry) => entry.is_in(text)?,
                FilePart::Hooks(handlers) => handlers.is_in(text)?,
                FilePart::Whole(whole) => whole.text == text,
            };
            if !stands {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the store that the entry of the server names; `None` where there is no entry of ours.
    pub(super) fn store_in(&self, text: &str) -> Option<Option<String>> {
        self.parts.iter().find_map(|part| match part {
            FilePart::Server(entry) => entry.store_in(text),
            FilePart::Hooks(_) | FilePart::Whole(_) => None,
        })
    }

    /// Describes the parts for people.
    pub(super) fn description(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            FilePart::Server(_) => format!("MCP server {}", ownership::NAME),
            FilePart::Hooks(handlers) => format!("hooks {}", handlers.events().join(", ")),
            FilePart::Whole(whole) => whole.says.clone(),
        });
        parts.collect::<Vec<_>>().join("; ")
    }

    /// The kind of the file, if it is new.
    pub(super) fn kind(&self) -> FileKind {
        let kinds = self.parts.iter().map(|part| match part {
            FilePart::Whole(whole) => whole.kind,
            FilePart::Server(_) | FilePart::Hooks(_) => FileKind::Data,
        });
        kinds.into_iter().next().unwrap_or(FileKind::Data)
    }

    /// The same, with hooks of another program recognised as ours.
    pub(super) fn with_known_program(mut self, program: &str) -> Self {
        for part in &mut self.parts {
            if let FilePart::Hooks(handlers) = part {
                handlers.add_known_program(program.to_owned());
            }
        }
        self
    }

    /// Whether the file is ours as a whole.
    pub(super) fn owns_whole_file(&self) -> bool {
        self.parts.iter().any(|part| match part {
            FilePart::Server(entry) => entry.owns_whole_file(),
            FilePart::Hooks(_) => false,
            FilePart::Whole(_) => true,
        })
    }

    /// The file that the client would stop reading if this one were made.
    pub(super) fn hidden_file(&self) -> Option<PathBuf> {
        let is_of_continue = self.path.ends_with(".continue/config.yaml");
        let older = self.path.with_extension("json");
        (is_of_continue && !self.path.exists() && older.exists()).then_some(older)
    }

    /// Whether the entry of the server is among the parts.
    pub(super) fn has_server(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, FilePart::Server(_)))
    }

    /// Whether hooks are among the parts.
    pub(super) fn has_hooks(&self) -> bool {
        self.parts.iter().any(|part| !matches!(part, FilePart::Server(_)))
    }
}

impl OwnFile {
    fn add_to(&self, before: &str) -> Result<String, EditError> {
        if before.trim().is_empty() || hooks::is_our_file(before, &self.text) {
            return Ok(self.text.clone());
        }
        Err(ownership::foreign_file_error())
    }

    fn remove_from(&self, text: &str) -> Result<String, EditError> {
        if hooks::is_our_file(text, &self.text) {
            return Ok(String::new());
        }
        Err(ownership::foreign_file_error())
    }
}

/// The desired files of a client in a scope; none if the client has no files in that scope.
pub(super) fn desired_files(
    client: &'static ClientSpec,
    scope: SetupScope,
    machine: &Machine<'_>,
) -> Vec<DesiredFile> {
    let Some(files) = client.files(scope) else { return Vec::new() };
    let desired = |path, parts| DesiredFile { client, scope, path, parts };
    let entry = server_entry(files, machine);
    let mut desired_files =
        vec![desired(server_file(files, machine), vec![FilePart::Server(entry)])];
    let Some(hooks) = &files.hooks else { return desired_files };
    for (path, part) in hook_files(client, hooks, machine) {
        match desired_files.iter_mut().find(|desired| desired.path == path) {
            Some(same) => same.parts.push(part),
            None => desired_files.push(desired(path, vec![part])),
        }
    }
    desired_files
}

/// The desired state of one file, also if the client reads another file in its place by now.
pub(super) fn desired_file_at(
    client: &'static ClientSpec,
    scope: SetupScope,
    machine: &Machine<'_>,
    path: &Path,
) -> Option<DesiredFile> {
    let today =
        desired_files(client, scope, machine).into_iter().find(|desired| desired.path == path);
    let files = client.files(scope)?;
    let is_here = |location: &FileLocation| location.path(machine) == path;
    let earlier = || {
        let part = if files.server.files.iter().any(is_here) {
            FilePart::Server(server_entry(files, machine))
        } else {
            let hooks = files.hooks.as_ref()?;
            let lists = match is_here(&hooks.file) {
                true => ListLocation::Below,
                false if hooks.alternative_files.iter().any(is_here) => ListLocation::Top,
                false => return None,
            };
            let handlers = HookHandlers::new(machine, client.name, hooks.form, hooks.events);
            FilePart::Hooks(handlers.with_list_location(lists))
        };
        Some(DesiredFile { client, scope, path: path.to_owned(), parts: vec![part] })
    };
    today.or_else(earlier)
}

fn server_entry(files: &ScopeFiles, machine: &Machine<'_>) -> ServerEntry {
    let (program, store) = (machine.program_text(), machine.store_text());
    let directory = files.server.folder.variable();
    ServerEntry { form: files.server.form, program, store, directory }
}

fn server_file(files: &ScopeFiles, machine: &Machine<'_>) -> PathBuf {
    let mut paths = files.server.files.iter().map(|location| location.path(machine));
    let first = paths.next().unwrap_or_default();
    if first.exists() { first } else { paths.find(|path| path.exists()).unwrap_or(first) }
}

fn hook_files(
    client: &ClientSpec,
    hooks: &HookSpec,
    machine: &Machine<'_>,
) -> Vec<(PathBuf, FilePart)> {
    let path = hooks.file.path(machine);
    match hooks.form {
        HookForm::Plugin => {
            let text = hooks::plugin_text(machine);
            let says = "plugin with hooks".to_owned();
            vec![(path, FilePart::Whole(OwnFile { text, says, kind: FileKind::Data }))]
        }
        // It is unknown to us how the client starts scripts on Windows.
        HookForm::Scripts if machine.platform == Platform::Windows => Vec::new(),
        HookForm::Scripts => {
            let script = |event: &str| OwnFile {
                text: hooks::script_text(machine, client.name, event),
                says: format!("hook {event}"),
                kind: FileKind::Program,
            };
            let events = hooks.events.iter();
            events.map(|e| (path.join(e.name), FilePart::Whole(script(e.name)))).collect()
        }
        form => {
            let handlers = HookHandlers::new(machine, client.name, form, hooks.events);
            let mut instead = hooks.alternative_files.iter().map(|location| location.path(machine));
            let (path, handlers) = match instead.find(|path| path.exists()) {
                Some(path) => (path, handlers.with_list_location(ListLocation::Top)),
                None => (path, handlers),
            };
            vec![(path, FilePart::Hooks(handlers))]
        }
    }
}
