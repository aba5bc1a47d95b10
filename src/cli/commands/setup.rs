//! `setup`: collects what the setup needs of the machine: home, project, programs, clock, and the last call of each client. Not here:
//! the setup itself (`clients::setup`).

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::sessions::consent::ConsentQuestion;
use crate::program::Program;
use clients::hooks::last_seen;
use clients::setup::{
    self, ClientsStatus, Machine, Platform, ReportStatus, SetupMode, SetupReport, SetupRequest,
    SetupScope,
};
use event::Problems;
use requests::{ApiError, Reply};
use retriever::failure::store_error;
use retriever::model_plan::sent_data_notice;
use retriever::options::GlobalOptions;
use retriever::reranking;
use settings::PlatformDirs;
use store::{FileLock, StoreError, make_private_dir};
use writer::exit::Exit;
use writer::log_memory::settle;

/// What the names of our variables begin with.
const OUR_VARIABLES: &str = "AGENT_KNOWLEDGE_";

/// How long one run waits for another on the same machine, in milliseconds: each writes a few files.
const TURN_MS_MAX: u64 = 10_000;

const SETUP_HELP: &str = "\
Clients: claude-code, codex, gemini, opencode, copilot, droid, qwen, cline, amp, goose, cursor,
vscode, windsurf, zed, continue, claude-desktop. Without a name, all clients that are found are
set up.

Each client gets our MCP server and, if it has hooks, our hooks. Every other byte of its files
stays; a copy of the original file is kept in 'setup' beside the logs. Running it again changes
nothing, unless the program was moved: then its path is updated. A file that cannot be parsed is
left alone, and reported with line and column (exit 1).

--undo restores every file byte for byte; if a file has been changed since, only our part is
removed.
--check verifies that everything is still as written, and shows when each client and hook was
last seen (exit 1 when a hook that should have run has not).

AGENT_KNOWLEDGE_HOOKS=off disables all hooks without changing a file.";

/// Set up Claude Code, Codex and other clients
#[derive(Debug, Args)]
#[command(after_help = SETUP_HELP)]
pub struct Setup {
    /// Only these clients
    #[arg(value_name = "CLIENT")]
    pub clients: Vec<String>,
    /// For all projects of this user (the default)
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// For the project of this directory, in files that can be shared
    #[arg(long)]
    pub project: bool,
    /// Only show what would change
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// Undo the setup
    #[arg(long, conflicts_with = "check")]
    pub undo: bool,
    /// Check the setup
    #[arg(long)]
    pub check: bool,
    /// Ask nothing; past sessions are then not read
    #[arg(long, conflicts_with = "check")]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn setup(context: &mut CommandContext<'_, '_>, command: &Setup) -> CommandResult {
    let messages = &mut *context.process.messages;
    let (exit, reply) = set_up(context.program, context.options, command, messages)?;
    Ok(CommandEnd::Answer { form: command.form, exit, reply })
}

/// Sets up clients, takes that back or checks it; also returns how the program ends.
pub(super) fn set_up(
    program: &Program<'_>,
    settings: &GlobalOptions,
    command: &Setup,
    messages: &mut dyn Write,
) -> Result<(Exit, Reply), ApiError> {
    let machine = program
        .machine(settings.logs.as_deref())
        .ok_or_else(|| store_error(&StoreError::NoPlace))?;
    let data = data().ok_or_else(|| store_error(&StoreError::NoPlace))?;
    let scope = match (command.user, command.project) {
        (_, true) => Some(SetupScope::Project),
        (true, false) => Some(SetupScope::User),
        (false, false) => None,
    };
    let mode = if command.dry_run { SetupMode::DryRun } else { SetupMode::Apply };
    let now = (program.surroundings.clock)().now;
    let changes = !command.check && !command.dry_run;
    let is_first_day = changes && !command.undo && !command.form.json;
    let _turn = changes.then(|| SetupLock::acquire(&data)).transpose()?;
    let request =
        SetupRequest { machine, data: &data, names: command.clients.clone(), scope, mode, now };
    let report = if command.check {
        let cache = program.resolve_settings(settings)?.cache_dir;
        setup::check(&request, &|agent, call_kind| last_seen::read(&cache, agent, call_kind))
    } else if command.undo {
        setup::take_back(&request)
    } else {
        setup::set_up(&request)
    };
    let unknown = |error: setup::UnknownTarget| Problems::one("CLIENT", error.to_string());
    let SetupReport { status, text, json } =
        report.map_err(|error| ApiError::Invalid(unknown(error)))?;
    let exit = match status {
        ReportStatus::Fine => Exit::Done,
        ReportStatus::Problem => Exit::NotFound,
        ReportStatus::Failed => Exit::Io,
    };
    let reply = Reply::new(text, json);
    if !is_first_day {
        return Ok((exit, reply));
    }
    // Settings that cannot be read are reported by the code that needs them.
    let config =
        program.resolve_settings(settings).map(|settled| settled.config).unwrap_or_default();
    let provider_notices = [
        ("embedding", sent_data_notice(&config)),
        ("reranker", reranking::sent_data_notice(&config)),
    ];
    let notices = provider_notices.into_iter().filter_map(|(about, says)| Some((about, says?)));
    let reply = notices.fold(reply, |reply, (about, says)| reply.with_line(about, &says));
    // What goes wrong with past sessions is no failure of the setup.
    let person = if command.yes { ConsentQuestion::Skipped } else { ConsentQuestion::Asked };
    let offered = program
        .offer_sessions(settings, person, messages)
        .unwrap_or_else(|error| error.to_string());
    Ok((exit, if offered.is_empty() { reply } else { reply.with_line("sessions", &offered) }))
}

impl Program<'_> {
    /// Returns the state of the clients, for the doctor; `None` where there is no home.
    pub(crate) fn clients(&self, cache: Option<&Path>) -> Option<ClientsStatus> {
        let now = (self.surroundings.clock)().now;
        let lived = |agent: &str, call_kind: &str| last_seen::read(cache?, agent, call_kind);
        Some(setup::clients_status(self.machine(None)?, &data()?, now, &lived))
    }

    fn machine(&self, logs: Option<&Path>) -> Option<Machine<'_>> {
        let lookup = self.surroundings.lookup;
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let home = set("HOME").or_else(|| set("USERPROFILE")).map(PathBuf::from)?;
        let folders = set("PATH").map(|path| std::env::split_paths(&path).collect());
        let folders: Vec<PathBuf> = folders.unwrap_or_default();
        let program = stable_path(self.surroundings.program.clone()?, &folders);
        let project = project_folder(self.surroundings.directory.path(), &home);
        let store = store_for_clients(lookup, logs);
        Some(Machine {
            platform: Platform::CURRENT,
            home,
            project,
            folders,
            program,
            store,
            lookup,
        })
    }
}

/// Returns the store of this shell, if a client that has none of our variables would use another one.
fn store_for_clients(
    lookup: &dyn Fn(&str) -> Option<OsString>,
    logs: Option<&Path>,
) -> Option<PathBuf> {
    let of_client = |name: &str| lookup(name).filter(|_| !name.starts_with(OUR_VARIABLES));
    let usual = settle(&of_client, None).ok().map(|(store, _)| store.root().to_owned());
    let usual = usual.or_else(|| Some(PlatformDirs::of_platform()?.logs));
    // Last, so that what this process trusts is what its own settings say.
    let (store, _) = settle(lookup, logs).ok()?;
    (Some(store.root()) != usual.as_deref()).then(|| store.root().to_owned())
}

/// The lock on clients' files and on the record of the setup: without it, one of two concurrent runs would lose the
/// other's entries.
struct SetupLock {
    path: PathBuf,
    _lock: FileLock,
}

impl SetupLock {
    fn acquire(data: &Path) -> Result<Self, ApiError> {
        let made = make_private_dir(data).map_err(StoreError::io("make the directory", data));
        made.map_err(|error| store_error(&error))?;
        let path = data.join("setup.lock");
        let lock = FileLock::acquire(&path, TURN_MS_MAX).map_err(|error| store_error(&error))?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for SetupLock {
    fn drop(&mut self) {
        // Removed while the lock is held: a waiting process sees that the file is gone, and makes another.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns our data directory. The logs may be elsewhere; the record of the setup is always here.
fn data() -> Option<PathBuf> {
    Some(PlatformDirs::of_platform()?.logs.parent()?.to_owned())
}

/// Returns the outermost folder of a directory's project: the top of its repository, else the directory.
fn project_folder(directory: &Path, home: &Path) -> PathBuf {
    let mut inside = directory.ancestors().take_while(|folder| *folder != home);
    let root = inside.find(|folder| folder.join(".git").exists());
    root.unwrap_or(directory).to_owned()
}

/// Returns the path that stays valid when the program is updated: the one found by its name, where that is the same
/// file.
fn stable_path(program: PathBuf, folders: &[PathBuf]) -> PathBuf {
    let Some(name) = program.file_name() else { return program };
    let Ok(real) = program.canonicalize() else { return program };
    let named =
        folders.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    let mut named = named.filter(|path| path.canonicalize().is_ok_and(|path| path == real));
    named.next().unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_begins_where_its_repository_does() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("repo/src/deep");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        assert_eq!(
            project_folder(&inside, folder.path()),
            inside,
            "a home under git is no project"
        );
        std::fs::create_dir(folder.path().join("repo/.git")).unwrap();
        assert_eq!(project_folder(&inside, folder.path()), folder.path().join("repo"));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_named_as_it_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (real, bin) = (folder.path().join("1.2/agent-knowledge"), folder.path().join("bin"));
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(&real, "").unwrap();
        assert_eq!(stable_path(real.clone(), std::slice::from_ref(&bin)), real);
        std::os::unix::fs::symlink(&real, bin.join("agent-knowledge")).unwrap();
        assert_eq!(stable_path(real, std::slice::from_ref(&bin)), bin.join("agent-knowledge"));
    }
}
