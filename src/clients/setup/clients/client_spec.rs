//! What the table says of a client: how it is found, which files it has, and the form of our entries. Not here: the table.

use super::super::locations::{FileLocation, Machine, SetupScope};

/// One client, or one edition of it.
#[derive(Debug)]
pub struct ClientSpec {
    /// The name on the command line and in hooks.
    pub name: &'static str,
    /// The name that its makers use.
    pub title: &'static str,
    /// The client is installed if one of these files exists,
    pub(crate) marker_files: &'static [FileLocation],
    /// or if one of these programs can be started.
    pub(crate) programs: &'static [&'static str],
    pub(crate) user: Option<ScopeFiles>,
    pub(crate) project: Option<ScopeFiles>,
}

/// The files of one scope.
#[derive(Debug)]
pub(crate) struct ScopeFiles {
    pub(crate) server: ServerSpec,
    pub(crate) hooks: Option<HookSpec>,
    /// What the user does next.
    pub(crate) next_step: &'static str,
}

/// Where the MCP server is configured.
#[derive(Debug)]
pub(crate) struct ServerSpec {
    /// The first one that exists, or else the first one.
    pub(crate) files: &'static [FileLocation],
    pub(crate) form: ServerForm,
    pub(crate) folder: SessionFolder,
}

/// How the server learns in which folder a session of the client works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionFolder {
    /// The client starts it there.
    StartedThere,
    /// The client offers roots, or sets a variable of the environment.
    Offered,
    /// The client replaces this variable in the arguments of the server.
    Variable(&'static str),
    /// In no way that is known: a call must name its repository.
    Unsaid,
}

impl SessionFolder {
    /// Returns the variable that stands in the arguments.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Self::Variable(variable) => Some(variable),
            Self::StartedThere | Self::Offered | Self::Unsaid => None,
        }
    }
}

/// The form of the server entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ServerForm {
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
pub(crate) enum EntryForm {
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
pub(crate) struct HookSpec {
    pub(crate) file: FileLocation,
    /// If one of these files exists, the client reads it instead, with the events at its top.
    pub(crate) alternative_files: &'static [FileLocation],
    pub(crate) form: HookForm,
    pub(crate) events: &'static [ClientEvent],
}

/// An event of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientEvent {
    pub(crate) name: &'static str,
    /// Only for these tools, if the client can filter.
    pub(crate) matcher: Option<&'static str>,
}

impl ClientEvent {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, matcher: None }
    }

    pub(crate) const fn matching(name: &'static str, matcher: &'static str) -> Self {
        Self { name, matcher: Some(matcher) }
    }
}

/// The form of a hook entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookForm {
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
pub(crate) enum Timeout {
    /// In seconds.
    Seconds(u32),
    /// In milliseconds.
    Millis(u32),
    /// Left to the client: its versions use different units.
    Omitted,
}

impl ClientSpec {
    /// Whether the client seems to be installed.
    pub(crate) fn is_found(&self, machine: &Machine<'_>) -> bool {
        self.marker_files.iter().any(|location| location.path(machine).exists())
            || self.programs.iter().any(|program| machine.find_program(program).is_some())
    }

    /// Its files of a scope, if it has that scope.
    pub(crate) fn files(&self, scope: SetupScope) -> Option<&ScopeFiles> {
        match scope {
            SetupScope::User => self.user.as_ref(),
            SetupScope::Project => self.project.as_ref(),
        }
    }
}

impl ScopeFiles {
    pub(super) const fn new(
        server: ServerSpec,
        hooks: Option<HookSpec>,
        next: &'static str,
    ) -> Self {
        Self { server, hooks, next_step: next }
    }
}

impl ServerSpec {
    pub(super) const fn json(
        files: &'static [FileLocation],
        key: &'static str,
        form: EntryForm,
    ) -> Self {
        Self::new(files, ServerForm::Json(key, form))
    }

    /// Of a client that starts servers in the folder of its session, as those in a terminal do.
    pub(super) const fn new(files: &'static [FileLocation], form: ServerForm) -> Self {
        Self { files, form, folder: SessionFolder::StartedThere }
    }

    pub(super) const fn with_folder(self, folder: SessionFolder) -> Self {
        Self { folder, ..self }
    }
}

impl HookSpec {
    pub(super) const fn new(
        file: FileLocation,
        form: HookForm,
        events: &'static [ClientEvent],
    ) -> Option<Self> {
        Some(Self { file, alternative_files: &[], form, events })
    }
}
