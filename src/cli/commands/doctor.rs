//! `doctor`: checks the setup around the logs, here and for callers of the shared retriever. Not here: the checks (`upkeep`).

use std::path::PathBuf;

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::CommandResult;
use crate::log_check;
use crate::program::Program;
use api::local;
use engine::watch::WatchMode;
use retriever::options::{GlobalOptions, MemoryNeed};
use retriever::reranking;
use retriever::resolved_settings::ResolvedSettings;
use retriever::startup::Surroundings;
use search::snapshot::MemoryUsage;
use upkeep::{CheckReport, doctor};

/// Memory that a byte of a log can take, in bytes: a line that says next to nothing has some thirty bytes and takes a
/// thousand, or 2,700 with its vector.
const ROOM_PER_BYTE_MAX: u64 = 100;

/// How many times longer the lines of a segment are than the segment, at most. Measured segments have a quarter to a
/// third of the length of their lines.
const PACKED_TIMES: u64 = 16;

const DOCTOR_HELP: &str = "\
Exit 1 when a check says FAIL: then memories cannot be written or read, or other users can read
them. Nothing is changed, except that an empty file is created and removed again to test whether
it can be.";

/// Check the setup around the logs, and say how to fix problems
#[derive(Debug, Args)]
#[command(after_help = DOCTOR_HELP)]
pub struct Doctor {
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Also checks what stops all other commands from starting.
pub(super) fn doctor(context: &mut CommandContext<'_, '_>, command: &Doctor) -> CommandResult {
    let (program, options) = (&*context.program, context.options);
    let report = program.examine(options, |_| {
        let local = program.open_local(options, MemoryNeed::Words).ok()?;
        local.engine().snapshot().ok().map(|snapshot| snapshot.memory_usage())
    });
    Ok(log_check::check_end(command.form, report))
}

impl Program<'_> {
    /// Returns the same checks for callers of the shared retriever. They change nothing.
    pub(super) fn doctor_of_server(&self, settings: &GlobalOptions) -> local::DoctorCheck {
        let Surroundings { variable, clock, secret, leave, .. } = self.surroundings;
        let Surroundings { directory, temporary, program, host, .. } = &self.surroundings;
        let (directory, temporary) = (directory.clone(), temporary.clone());
        let (program, host, settings) = (program.clone(), host.clone(), settings.clone());
        Box::new(move |core| {
            let program = Program::new(Surroundings {
                lookup: &variable,
                variable,
                directory: directory.clone(),
                temporary: temporary.clone(),
                program: program.clone(),
                host: host.clone(),
                clock,
                secret,
                leave,
            });
            let room = |_: &_| core.engine.snapshot().ok().map(|snapshot| snapshot.memory_usage());
            program.examine(&settings, room).reply
        })
    }

    /// Examines everything; `room` is how much memory the memories take.
    fn examine(
        &self,
        settings: &GlobalOptions,
        room: impl Fn(&ResolvedSettings) -> Option<MemoryUsage>,
    ) -> CheckReport {
        let lookup = self.surroundings.lookup;
        let set = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let config_file = self.config_path();
        let (settled, settings_trouble) = match self.resolve_settings(settings) {
            Ok(settled) => (Some(settled), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let folders = set("PATH").map(|path| std::env::split_paths(&path).collect());
        doctor::examine(&doctor::DoctorRequest {
            store: settled.as_ref().map(|settled| &settled.store),
            config_file,
            settings_trouble,
            settings_findings: settled
                .as_ref()
                .map(|settled| settled.config.findings.iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
            model_dir: settled.as_ref().map(|settled| settled.model_dir.clone()),
            cache_dir: settled.as_ref().map(|settled| settled.cache_dir.clone()),
            room: settled.as_ref().filter(|settled| may_reach_bound(settled)).and_then(room),
            watching: settled.as_ref().map_or(WatchMode::PollOnly, |settled| settled.watching),
            home: set("HOME").or_else(|| set("USERPROFILE")).map(PathBuf::from),
            clients: self
                .clients(settled.as_ref().map(|settled| settled.cache_dir.as_path()))
                .unwrap_or_default(),
            directory: self.surroundings.directory.path(),
            program_folders: folders.unwrap_or_default(),
            sessions: settled.as_ref().and_then(|settled| self.sessions_note(settled)),
            team: settled.as_ref().and_then(|settled| self.team_note(settled)),
            reranker: settled.as_ref().and_then(reranking::doctor_note),
            repository: settled.as_ref().and_then(|settled| self.former_note(settled)),
        })
    }
}

/// Tells whether the memories could reach their bound. Logs far below it are not read to find out.
fn may_reach_bound(settled: &ResolvedSettings) -> bool {
    let bytes = |paths: &[PathBuf]| -> u64 {
        paths.iter().filter_map(|path| Some(path.symlink_metadata().ok()?.len())).sum()
    };
    let (Ok(logs), Ok(segments)) = (settled.store.logs(), settled.store.segments()) else {
        return false;
    };
    let bytes = bytes(&segments).saturating_mul(PACKED_TIMES).saturating_add(bytes(&logs));
    bytes.saturating_mul(ROOM_PER_BYTE_MAX) >= settled.bound.bytes_max
}
