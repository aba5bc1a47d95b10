//! The clients we can be put into, as a table of data: how each is found, which files it has, in which form it
//! wants us there, and what its user must be told. Not here: writing any of it.

mod editors;
mod terminals;

use super::locations::{BaseFolder, FileLocation, Machine, SetupScope};

/// One client, or one of its editions.
#[derive(Debug)]
pub struct ClientSpec {
    /// As people and hooks name it.
    pub name: &'static str,
    /// As its makers name it.
    pub title: &'static str,
    /// It is there when one of these is.
    pub(super) found: &'static [FileLocation],
    /// Or when one of these can be started.
    pub(super) programs: &'static [&'static str],
    pub(super) user: Option<ScopeFiles>,
    pub(super) project: Option<ScopeFiles>,
}

/// Where we are put for one scope.
#[derive(Debug)]
pub(super) struct ScopeFiles {
    pub(super) server: ServerSpec,
    pub(super) hooks: Option<HookSpec>,
    /// What its user does next.
    pub(super) next: &'static str,
}

/// Where the MCP server is named.
#[derive(Debug)]
pub(super) struct ServerSpec {
    /// The first that is there, else the first.
    pub(super) files: &'static [FileLocation],
    pub(super) form: ServerForm,
}

/// In which form.
#[derive(Debug, Clone, Copy)]
pub(super) enum ServerForm {
    /// A member of a JSON object.
    Json(&'static str, EntryForm),
    /// A table of TOML.
    Toml(&'static str),
    /// A block below a key of YAML, by its name.
    YamlExtension(&'static str),
    /// An element of a list below a key of YAML.
    YamlList(&'static str),
    /// A YAML file of its own.
    YamlFile,
}

/// The members of an entry in JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryForm {
    /// `command` and `args`.
    Plain,
    /// The same with `"type": "stdio"`.
    Stdio,
    /// One list of words, `"type": "local"`.
    Local,
    /// `"type": "local"`, and which tools may be used.
    LocalTools,
    /// `"type": "stdio"`, and whether it is off.
    StdioSwitch,
    /// Below `transport`.
    Transport,
    /// With `"source": "custom"`.
    Custom,
}

/// Where hooks are named.
#[derive(Debug)]
pub(super) struct HookSpec {
    pub(super) file: FileLocation,
    /// ScopeFiles that, where one is there, are read instead, with the events at their top.
    pub(super) instead: &'static [FileLocation],
    pub(super) form: HookForm,
    pub(super) events: &'static [ClientEvent],
}

/// A client's event, and when it happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientEvent {
    pub(super) name: &'static str,
    /// Only of these tools, where the client can tell.
    pub(super) matcher: Option<&'static str>,
}

impl ClientEvent {
    pub(super) const fn of(name: &'static str) -> Self {
        Self { name, matcher: None }
    }

    pub(super) const fn matching(name: &'static str, matcher: &'static str) -> Self {
        Self { name, matcher: Some(matcher) }
    }
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookForm {
    /// Groups of handlers below `hooks`; program and arguments apart, no shell.
    GroupsOfPrograms(Timeout),
    /// The same with one line for a shell.
    GroupsOfLines(Timeout),
    /// Handlers below `hooks`, `"version": 1`.
    Lines,
    /// A file of its own, with a line for each shell.
    Shells,
    /// A plugin in JavaScript.
    Plugin,
    /// One executable script for each event.
    Scripts,
}

/// SetupMode long the client waits; the hook itself ends far earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    /// In seconds.
    Seconds(u32),
    /// In milliseconds.
    Millis(u32),
    /// As the client thinks fit: its versions count in different units.
    Unsaid,
}

impl ClientSpec {
    /// Whether it seems to be installed.
    pub(super) fn is_found(&self, machine: &Machine<'_>) -> bool {
        self.found.iter().any(|spot| spot.path(machine).exists())
            || self.programs.iter().any(|program| machine.find_program(program).is_some())
    }

    /// Its files for a scope, where it has that scope.
    pub(super) fn files(&self, scope: SetupScope) -> Option<&ScopeFiles> {
        match scope {
            SetupScope::User => self.user.as_ref(),
            SetupScope::Project => self.project.as_ref(),
        }
    }
}

impl ScopeFiles {
    const fn new(server: ServerSpec, hooks: Option<HookSpec>, next: &'static str) -> Self {
        Self { server, hooks, next }
    }
}

impl ServerSpec {
    const fn json(files: &'static [FileLocation], key: &'static str, form: EntryForm) -> Self {
        Self { files, form: ServerForm::Json(key, form) }
    }
}

impl HookSpec {
    const fn new(
        file: FileLocation,
        form: HookForm,
        events: &'static [ClientEvent],
    ) -> Option<Self> {
        Some(Self { file, instead: &[], form, events })
    }
}

/// Where a client notes which plugins are switched on: its name, the file, and the member that names them.
pub(super) const PLUGINS: &[(&str, FileLocation, &str)] =
    &[("claude-code", FileLocation::at(BaseFolder::Claude, "settings.json"), "enabledPlugins")];

/// All clients; editions of one stand together.
pub(super) fn all() -> impl Iterator<Item = &'static ClientSpec> {
    terminals::CLIENTS.iter().chain(editors::CLIENTS)
}

/// The names of all clients, each once.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for client in all() {
        if !names.contains(&client.name) {
            names.push(client.name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_can_be_found_and_set_up() {
        assert_eq!(names().len(), 16);
        for client in all() {
            assert!(!client.found.is_empty() && client.user.is_some(), "{}", client.name);
        }
    }
}
