//! The supported clients as a table of data: how each one is found, which files it has, the form of our entries, and
//! what its user does next. Not here: writing files.

mod editors;
mod terminals;

use super::locations::{BaseFolder, FileLocation, Machine, SetupScope};

/// One client, or one edition of it.
#[derive(Debug)]
pub struct ClientSpec {
    /// The name on the command line and in hooks.
    pub name: &'static str,
    /// The name that its makers use.
    pub title: &'static str,
    /// The client is installed if one of these files exists,
    pub(super) found: &'static [FileLocation],
    /// or if one of these programs can be started.
    pub(super) programs: &'static [&'static str],
    pub(super) user: Option<ScopeFiles>,
    pub(super) project: Option<ScopeFiles>,
}

/// The files of one scope.
#[derive(Debug)]
pub(super) struct ScopeFiles {
    pub(super) server: ServerSpec,
    pub(super) hooks: Option<HookSpec>,
    /// What the user does next.
    pub(super) next: &'static str,
}

/// Where the MCP server is configured.
#[derive(Debug)]
pub(super) struct ServerSpec {
    /// The first one that exists, or else the first one.
    pub(super) files: &'static [FileLocation],
    pub(super) form: ServerForm,
}

/// The form of the server entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum ServerForm {
    /// A member of a JSON object.
    Json(&'static str, EntryForm),
    /// A TOML table.
    Toml(&'static str),
    /// A member below a YAML key.
    YamlExtension(&'static str),
    /// A list element below a YAML key.
    YamlList(&'static str),
    /// A YAML file of its own.
    YamlFile,
}

/// The members of a JSON entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryForm {
    /// `command` and `args`.
    Plain,
    /// The same with `"type": "stdio"`.
    Stdio,
    /// One list of words, with `"type": "local"`.
    Local,
    /// `"type": "local"`, and the allowed tools.
    LocalTools,
    /// `"type": "stdio"`, and whether it is disabled.
    StdioSwitch,
    /// Below `transport`.
    Transport,
    /// With `"source": "custom"`.
    Custom,
}

/// Where hooks are configured.
#[derive(Debug)]
pub(super) struct HookSpec {
    pub(super) file: FileLocation,
    /// If one of these files exists, the client reads it instead, with the events at its top.
    pub(super) instead: &'static [FileLocation],
    pub(super) form: HookForm,
    pub(super) events: &'static [ClientEvent],
}

/// An event of a client.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientEvent {
    pub(super) name: &'static str,
    /// Only for these tools, if the client can filter.
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

/// The form of a hook entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookForm {
    /// Groups of handlers below `hooks`, with program and arguments apart and no shell.
    GroupsOfPrograms(Timeout),
    /// The same with one shell line.
    GroupsOfLines(Timeout),
    /// Handlers below `hooks`, with `"version": 1`.
    Lines,
    /// A file of its own, with one line for each shell.
    Shells,
    /// A JavaScript plugin.
    Plugin,
    /// One executable script for each event.
    Scripts,
}

/// How long the client waits. The hook itself ends much earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    /// In seconds.
    Seconds(u32),
    /// In milliseconds.
    Millis(u32),
    /// Left to the client: its versions use different units.
    Unsaid,
}

impl ClientSpec {
    /// Whether the client seems to be installed.
    pub(super) fn is_found(&self, machine: &Machine<'_>) -> bool {
        self.found.iter().any(|location| location.path(machine).exists())
            || self.programs.iter().any(|program| machine.find_program(program).is_some())
    }

    /// Its files of a scope, if it has that scope.
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

/// Where a client lists its enabled plugins: its name, the file, and the member.
pub(super) const PLUGINS: &[(&str, FileLocation, &str)] =
    &[("claude-code", FileLocation::at(BaseFolder::Claude, "settings.json"), "enabledPlugins")];

/// All clients. Editions of one client are next to each other.
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
