//! `init`: the first five minutes: clients, model and past sessions, each after a question. Not here: how each is done (`setup`,
//! `sessions::consent`, `model`).

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Map, Value};

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::sessions::consent::{ConsentQuestion, run_import};
use crate::commands::setup::{Setup, set_up};
use crate::program::Program;
use crate::question::{DefaultAnswer, ask_yes_or_no};
use index::embed::model::{self, FetchState};
use reply::Home;
use requests::{ApiError, Reply};
use retriever::failure::session_store_error;
use retriever::options::GlobalOptions;
use retriever::session_permission::SessionPermission;
use sessions::session_store::SessionStore;
use writer::exit::Exit;

/// What became of the three parts.
#[derive(Default)]
struct InitReport {
    /// What happened, in words.
    messages: Vec<String>,
    json: Map<String, Value>,
    exit: Option<Exit>,
}

impl InitReport {
    fn add_part(&mut self, part: &str, state: &str, text: String) {
        self.json.insert(part.to_owned(), state.into());
        if !text.is_empty() {
            self.messages.push(text);
        }
    }

    /// Notes that one part failed. The others are done all the same.
    fn fail(&mut self, part: &str, error: &ApiError) {
        self.add_part(part, "failed", format!("{part}: {error}"));
        self.exit.get_or_insert(match error {
            ApiError::Failed { exit, .. } => *exit,
            ApiError::Invalid(_) => Exit::Invalid,
            ApiError::NotFound(_) => Exit::NotFound,
        });
    }
}

/// What a setup would change, by the report of its dry run.
struct SetupChanges {
    /// The files that it would write, and what follows, without their lines.
    words: String,
    /// How many they are.
    to_write: usize,
    /// Whether there is any file of a client.
    has_clients: bool,
}

impl SetupChanges {
    fn from_plan(plan: &Value) -> Self {
        let files = plan.get("files").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let text = |file: &Value, name: &str| {
            file.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let new: Vec<&Value> = files.iter().filter(|file| !text(file, "diff").is_empty()).collect();
        let mut words = String::new();
        for (at, file) in new.iter().enumerate() {
            let (state, path, says) = (text(file, "state"), text(file, "path"), text(file, "says"));
            let _ = writeln!(words, "{state} {path}: {says}");
            let client = text(file, "client");
            let is_last = new.get(at + 1).is_none_or(|after| text(after, "client") != client);
            let next = text(file, "next");
            if is_last && !next.is_empty() {
                let _ = writeln!(words, "  next: {next}");
            }
        }
        words.push_str("agent-knowledge setup --dry-run shows every line.");
        Self { words, to_write: new.len(), has_clients: !files.is_empty() }
    }

    /// Returns the word for a setup that did not fail.
    fn state(&self) -> &'static str {
        match (self.has_clients, self.to_write) {
            (false, _) => "none",
            (true, 0) => "unchanged",
            (true, _) => "done",
        }
    }
}

const INIT_HELP: &str = "\
It asks three questions, one after another: whether to set up the clients that it finds, whether
to fetch the model for search by meaning (107 MB, in the background), and whether to read the past
sessions on this disk. An option answers its question. Without a terminal nobody is asked: what no option answers
is left as it is, and named. Run it again at any time; what is done already is not asked again.

A script: agent-knowledge init --yes --no-sessions";

/// Get ready in one conversation: clients, model, past sessions
#[derive(Debug, Clone, Copy, Args)]
#[command(after_help = INIT_HELP)]
pub struct Init {
    /// Yes to clients and model; past sessions need their own yes
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// Set up the clients that are found
    #[arg(long)]
    pub clients: bool,
    /// Leave the clients as they are
    #[arg(long, conflicts_with = "clients")]
    pub no_clients: bool,
    /// Fetch the model
    #[arg(long)]
    pub fetch_model: bool,
    /// Search by words alone
    #[arg(long, conflicts_with = "fetch_model")]
    pub no_model: bool,
    /// Read the past sessions of the tools on this disk
    #[arg(long)]
    pub sessions: bool,
    /// Do not read past sessions
    #[arg(long, conflicts_with = "sessions")]
    pub no_sessions: bool,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Returns what the command line answers to a question; nothing where a person is asked.
fn given_answer(yes: bool, no: bool) -> Option<bool> {
    (yes || no).then_some(!no)
}

impl Init {
    /// Returns the given answer about clients.
    fn about_clients(&self) -> Option<bool> {
        given_answer(self.clients || self.yes, self.no_clients)
    }

    /// Returns the given answer about the model.
    fn about_model(&self) -> Option<bool> {
        given_answer(self.fetch_model || self.yes, self.no_model)
    }

    /// Returns the given answer about past sessions.
    fn about_sessions(&self) -> Option<bool> {
        given_answer(self.sessions, self.no_sessions)
    }
}

/// Runs the command.
pub(super) fn init(context: &mut CommandContext<'_, '_>, command: &Init) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let messages = &mut *process.messages;
    let mut report = InitReport::default();
    if let Err(error) =
        program.init_clients(options, command.about_clients(), messages, &mut report)
    {
        report.fail("clients", &error);
    }
    if let Err(error) = program.init_model(options, command.about_model(), messages, &mut report) {
        report.fail("model", &error);
    }
    if let Err(error) =
        program.init_sessions(options, command.about_sessions(), messages, &mut report)
    {
        report.fail("sessions", &error);
    }
    let home = Home::without_step(program.home_reply(options)?, "agent-knowledge init");
    report.messages.push(home.text);
    let mut json = home.json;
    if let Some(fields) = json.as_object_mut() {
        fields.insert("init".to_owned(), Value::Object(report.json));
    }
    let exit = report.exit.unwrap_or(Exit::Done);
    let reply = Reply::new(report.messages.join("\n\n"), json);
    Ok(CommandEnd::Answer { form: command.form, exit, reply })
}

/// Says how far the fetch of the model is.
fn fetching_text(line: &str) -> String {
    format!(
        "The model is being fetched in the background ({line}). Until it is there, search is by words; agent-knowledge status says how far it is."
    )
}

impl Program<'_> {
    fn init_clients(
        &self,
        settings: &GlobalOptions,
        given: Option<bool>,
        messages: &mut dyn Write,
        done: &mut InitReport,
    ) -> Result<(), ApiError> {
        if given == Some(false) {
            done.add_part("clients", "left", String::new());
            return Ok(());
        }
        let command = |dry_run| Setup {
            clients: Vec::new(),
            user: false,
            project: false,
            dry_run,
            undo: false,
            check: false,
            yes: false,
            // What is asked about past sessions comes later.
            form: OutputFormat { json: true },
        };
        let (_, plan) = set_up(self, settings, &command(true), messages)?;
        let changes = SetupChanges::from_plan(&plan.json);
        let answer = match given {
            None if changes.to_write == 0 => Some(true),
            None => ask_yes_or_no(
                &changes.words,
                "Set up these clients?",
                DefaultAnswer::Yes,
                messages,
            )?,
            given => given,
        };
        match answer {
            Some(true) => {
                let (exit, reply) = set_up(self, settings, &command(false), messages)?;
                let state = if exit == Exit::Done { changes.state() } else { "failed" };
                if exit != Exit::Done {
                    done.exit = Some(exit);
                }
                done.add_part("clients", state, reply.text);
            }
            Some(false) => done.add_part("clients", "left", String::new()),
            None => done.add_part(
                "clients",
                "left",
                "clients: not set up; --clients sets them up, `agent-knowledge setup --dry-run` shows what that changes".to_owned(),
            ),
        }
        Ok(())
    }

    fn init_model(
        &mut self,
        settings: &GlobalOptions,
        given: Option<bool>,
        messages: &mut dyn Write,
        done: &mut InitReport,
    ) -> Result<(), ApiError> {
        let directory = self.resolve_settings(settings)?.model_dir;
        if model::status(&directory).is_ready() {
            done.add_part("model", "ready", String::new());
            return Ok(());
        }
        if let FetchState::Running(line) = model::fetch_state(&directory) {
            done.add_part("model", "fetching", fetching_text(&line));
            return Ok(());
        }
        let about = "The model finds memories by meaning, also in other words. Without it, search is by words alone.";
        let answer = match given {
            None => ask_yes_or_no(about, "Fetch it (107 MB)?", DefaultAnswer::Yes, messages)?,
            given => given,
        };
        match answer {
            Some(true) => match self.fetch_in_background(&directory)? {
                FetchState::Running(line) => {
                    done.add_part("model", "fetching", fetching_text(&line));
                }
                FetchState::None | FetchState::Failed(_) => {
                    done.add_part("model", "fetched", "The model is installed.".to_owned());
                }
            },
            Some(false) => done.add_part("model", "left", String::new()),
            None => done.add_part(
                "model",
                "left",
                "model: not installed; --fetch-model fetches it (107 MB)".to_owned(),
            ),
        }
        Ok(())
    }

    fn init_sessions(
        &self,
        settings: &GlobalOptions,
        given: Option<bool>,
        messages: &mut dyn Write,
        done: &mut InitReport,
    ) -> Result<(), ApiError> {
        let settled = self.resolve_settings(settings)?;
        let session_store = SessionStore::open(&settled.sessions_dir)
            .map_err(|error| session_store_error(&error))?;
        let permission = SessionPermission::read(session_store.as_ref())?.word();
        match (given, permission) {
            (None, Some(permission)) => done.add_part("sessions", permission, String::new()),
            (None, None) => {
                drop(session_store);
                let text = self.offer_sessions(settings, ConsentQuestion::Asked, messages)?;
                let session_store = SessionStore::open(&settled.sessions_dir)
                    .map_err(|error| session_store_error(&error))?;
                let permission = SessionPermission::read(session_store.as_ref())?.word();
                done.add_part("sessions", permission.unwrap_or("left"), text);
            }
            (Some(false), _) => {
                drop(session_store);
                let session_store = SessionStore::create(&settled.sessions_dir)
                    .map_err(|error| session_store_error(&error))?;
                SessionPermission::Refused.write(&session_store)?;
                done.add_part("sessions", "no", String::new());
            }
            (Some(true), _) => {
                let plan =
                    self.session_plan(session_store.as_ref(), self.session_scope(&settled, &[])?)?;
                drop(session_store);
                let now_ms = (self.surroundings.clock)().now.as_millisecond();
                let reply = run_import(&settled, plan, &[], now_ms)?;
                done.add_part("sessions", "read", reply.text);
            }
        }
        Ok(())
    }
}
