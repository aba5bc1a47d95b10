//! `hook`: runs a hook as a process: its deadline, its caller, and how it reaches the memory without waiting. Not here: what hooks
//! answer and learn (`clients::hooks`).

use guard::secrets::RedactedText;
use retriever::startup::Retriever;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use crate::command_context::{CommandContext, Process};
use crate::command_output::{CommandEnd, CommandResult};
use crate::program::Program;
use api::journal::agent_delivery::{self, AgentDelivery, AgentPlace, DeliveryJournal};
use api::local::Local;
use clients::hooks::hook_input::HookInput;
use clients::hooks::{self, ApiConnection, HookCall, HookDelivery, NoAnswer, switch};
use daemon::retriever_client::RetrieverClient;
use event::{HOOK, fits_short_field};
use place::{DirectoryOrigin, KnownDirectory};
use requests::caller::{Caller, Patience};
use retriever::options::{GlobalOptions, MemoryNeed};
use retriever::resolved_settings::{ResolvedSettings, WatchChoice};
use settings::variables::{HOOKS_DEADLINE_MS, HOOKS_DEBUG};
use writer::exit::{Exit, complain};
use writer::project_directory::known_directories;

/// The deadline of a hook in milliseconds, and the bounds of the setting. A prompt that waits for longer feels slow.
/// Tests on busy machines set more.
const DEADLINE_MS: u64 = 150;
const DEADLINE_MS_MIN: u64 = 10;
const DEADLINE_MS_MAX: u64 = 60_000;

/// Milliseconds that a process takes to start and to end, which the deadline must include.
const AROUND_MS: u64 = 10;

/// Up to this many bytes of logs a hook reads them itself when no retriever runs, which takes some tens of
/// milliseconds.
const ALONE_BYTES_MAX: u64 = 256 * 1024;

/// Longest name of an agent, in bytes.
const AGENT_BYTES_MAX: usize = 32;

/// The name of an agent whose given name is not valid.
const OTHER_AGENT: &str = "other";

const HOOK_HELP: &str = "\
Reads the client's JSON from standard input, and prints a reply in that client's format, or
nothing. Ends within 150 milliseconds and always with 0, whatever goes wrong, so that the agent
never waits.

Environment:
  AGENT_KNOWLEDGE_HOOKS        off, or the hooks to keep on: start,prompt,failure,learn,end
  AGENT_KNOWLEDGE_HOOKS_DEBUG  if set, say on standard error why nothing was printed
  AGENT_KNOWLEDGE_HOOKS_DEADLINE_MS  deadline in milliseconds (10 to 60000, default 150)";

/// Answer the hooks of agents
#[derive(Debug, Args)]
#[command(after_help = HOOK_HELP)]
pub struct Hook {
    /// The agent: claude-code, codex, gemini, opencode, cursor, copilot, cline, qwen, droid
    #[arg(long, value_name = "NAME")]
    pub agent: String,

    /// The event, if the client's JSON does not name it: start, prompt, tool-failed, tool-succeeded,
    /// compact, end, or the client's own name for it
    #[arg(long, value_name = "EVENT")]
    pub event: Option<String>,
}

/// Answers a hook. A failure is never shown to the agent.
pub(super) fn hook(context: &mut CommandContext<'_, '_>, command: &Hook) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let deadline = program.deadline();
    program.leave_after(deadline);
    let outcome = program.run_hook(options, command, process, deadline);
    let is_debugging = program.variable(HOOKS_DEBUG).is_some();
    if is_debugging {
        let settled = program.resolve_settings(options).ok();
        let warning = settled.and_then(|settled| settled.config.warning());
        for message in warning.into_iter().chain(outcome.err().map(|silence| silence.to_string())) {
            complain(process.messages, "agent-knowledge hook", &message);
        }
    }
    Ok(CommandEnd::Exit(Exit::Done))
}

impl Program<'_> {
    fn run_hook(
        &self,
        settings: &GlobalOptions,
        command: &Hook,
        process: &mut Process<'_>,
        deadline: Duration,
    ) -> Result<(), NoAnswer> {
        let settled = self.resolve_settings(settings)?;
        let agent = if is_name(&command.agent) { &command.agent } else { OTHER_AGENT };
        let switches = self.variable(switch::VARIABLE);
        let cache = settled.cache_dir.clone();
        let chosen = OnceCell::new();
        let place = |input: &HookInput| -> &HookPlace {
            chosen.get_or_init(|| self.hook_place(input, &settled))
        };
        let mut reach = |input: &HookInput| {
            let HookPlace { directory, is_joined } = place(input);
            // A directory that got a remote since the last call is joined by the settings as they are from now on.
            let settled = match is_joined {
                true => self.resolve_settings(settings)?,
                false => settled.clone(),
            };
            self.reach(settled, self.hook_caller(agent, input, directory, deadline))
        };
        let journal = DeliveryJournal::for_store(&cache, &settled.store, &settled.config);
        let moment = (self.surroundings.clock)();
        let mut record = |input: &HookInput, shown: &HookDelivery<'_>| {
            let directory = &place(input).directory;
            let delivery = AgentDelivery {
                agent: &RedactedText::stamp(agent_id(agent)),
                session: input.session_id.as_ref(),
                place: AgentPlace::Directory(directory),
                by: agent_delivery::BY_HOOK,
                occasion: shown.occasion,
                query: shown.query,
                text: shown.text,
                is_silent: shown.text.is_empty(),
                memories: shown.memories,
            };
            journal.iter().for_each(|journal| journal.record(&delivery, moment.now));
        };
        let mut grown = || self.import_in_background(&settled.sessions_dir);
        let hook = HookCall {
            agent,
            event: command.event.as_deref(),
            switches: switches.as_deref(),
            cache: &cache,
            now: moment.now,
            random: moment.random,
            on_transcript_growth: &mut grown,
            record_delivery: &mut record,
            connect: &mut reach,
        };
        hooks::run(hook, process.input, process.output)
    }

    /// Connects to the retriever, and starts it if none runs. Where the logs are small it opens them itself.
    fn reach(&self, settled: ResolvedSettings, caller: Caller) -> ApiConnection {
        let root = settled.store.root();
        if self.is_shared()? && root.exists() {
            let (need, settled) = (MemoryNeed::Words, settled.clone());
            let remote = self.retriever_client_for(caller.clone(), settled, need, "hook");
            if let Some(remote) = remote.filter(RetrieverClient::attach_if_running) {
                return Ok(Arc::new(remote));
            }
        }
        if logs_bytes(root) > ALONE_BYTES_MAX {
            let message = "no retriever is running yet, and the logs are too long to read within the deadline";
            return Err(NoAnswer::Unreached(message.to_owned()));
        }
        let clock = Box::new(self.surroundings.clock);
        let core = Retriever::open_core(settled, MemoryNeed::Words, WatchChoice::Off, clock, None)?;
        Ok(Arc::new(Local::new(Arc::new(core), caller)))
    }

    /// Returns the caller: the agent, in the directory and session that the client names. It waits for nothing. Where neither
    /// that directory nor the one of this process exists any more, the work tree above it counts.
    fn hook_caller(
        &self,
        agent: &str,
        input: &HookInput,
        directory: &Path,
        deadline: Duration,
    ) -> Caller {
        let session_id = input.session_id.clone().filter(|id| fits_short_field(id));
        let patience = Patience {
            query: deadline / 2,
            model: Duration::ZERO,
            embed: Duration::ZERO,
            index: deadline / 2,
        };
        let agent_id = RedactedText::stamp(agent_id(agent));
        let source = Some(HOOK.to_owned());
        Caller { agent_id, session_id, source, patience, ..self.caller(Some(directory.to_owned())) }
    }

    /// Returns the directory that tells the repository of a call: the one that the client names, or one that is a project.
    fn hook_place(&self, input: &HookInput, settled: &ResolvedSettings) -> HookPlace {
        let start = &self.surroundings.directory;
        let named = input.directory.clone();
        let named = named.map(|path| KnownDirectory::new(DirectoryOrigin::Hook, path));
        let known = known_directories(named, start, &settled.store, self.surroundings.lookup);
        let chosen = settled.store.project_directory(&known, &settled.config);
        let directory = chosen.unwrap_or_else(|| start.path().to_owned());
        let is_joined = self.remember_change(settled, &directory);
        HookPlace { directory, is_joined }
    }

    fn deadline(&self) -> Duration {
        let set = self.variable(HOOKS_DEADLINE_MS).and_then(|value| value.trim().parse().ok());
        let allowed = |ms: &u64| (DEADLINE_MS_MIN..=DEADLINE_MS_MAX).contains(ms);
        let ms = set.filter(allowed).unwrap_or(DEADLINE_MS);
        Duration::from_millis(ms.saturating_sub(AROUND_MS).max(DEADLINE_MS_MIN / 2))
    }

    /// Ends the process at the deadline, even in the middle of its work: an answer is written at once and whole, and so is an
    /// event.
    fn leave_after(&self, deadline: Duration) {
        let (end, leave) = (Instant::now() + deadline, self.surroundings.leave);
        // Without a thread the client's own deadline remains.
        let _ = std::thread::Builder::new().name("deadline".to_owned()).spawn(move || {
            while let Some(left) =
                end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            {
                std::thread::park_timeout(left);
            }
            leave();
        });
    }

    fn variable(&self, name: &str) -> Option<String> {
        let value = (self.surroundings.lookup)(name).filter(|value| !value.is_empty())?;
        Some(value.to_string_lossy().into_owned())
    }
}

/// Where the agent of a hook works.
struct HookPlace {
    directory: PathBuf,
    /// Whether it became another repository since the last call.
    is_joined: bool,
}

/// Returns the name of an agent as its memories carry it.
fn agent_id(agent: &str) -> &str {
    match agent {
        "gemini" => "gemini-cli",
        "qwen" => "qwen-code",
        other => other,
    }
}

fn is_name(agent: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !agent.is_empty() && agent.len() <= AGENT_BYTES_MAX && agent.bytes().all(is_plain)
}

/// Returns how many bytes there are to read; more than any bound where old lines are archived.
fn logs_bytes(store: &Path) -> u64 {
    let entries = std::fs::read_dir(store).into_iter().flatten().flatten();
    let size = |path: PathBuf| {
        if path.ends_with("archive") {
            u64::MAX
        } else {
            path.metadata().map_or(0, |metadata| metadata.len())
        }
    };
    entries.map(|entry| size(entry.path())).fold(0, u64::saturating_add)
}
