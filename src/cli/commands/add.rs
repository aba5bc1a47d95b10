//! `add`: saves a lesson that a person gives as text, or writes into a form. Not here: the form (`lesson_form`), the write
//! itself (`writer`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::command_context::{CommandContext, Process};
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::add::lesson_fields::LessonFields;
use crate::piped_input;
use crate::program::Program;
use event::{Draft, Problems};
use requests::{ApiError, Reply};
use retriever::failure::store_error;
use retriever::options::GlobalOptions;
use store::{Destination, Durability};
use writer::exit::complain;
use writer::field_flags::flag_of;
use writer::{Identity, Receipt, RecordError, WAITS, Writer, takes_directory};

pub(super) mod editor;
mod lesson_fields;
mod lesson_form;

/// What happened to a form.
pub(super) enum FormOutcome {
    /// Its text was saved, with this type.
    Saved(Box<Receipt>, String),
    /// It has no lesson.
    Empty,
    /// It says what was known before.
    Unchanged,
}

/// A form that is saved once a person has filled it in.
pub(super) struct FormOrder<'a> {
    /// What the form begins with.
    pub(super) draft: Draft,
    /// What the form says about itself.
    pub(super) title: &'a str,
    /// The form, if it was filled in before.
    pub(super) file: Option<&'a Path>,
    /// The command that reads a kept form.
    pub(super) again: &'a str,
    /// Whether a form that says the same as before is saved.
    pub(super) is_new: bool,
}

const ADD_HELP: &str = "\
Without a lesson, on a terminal, the editor of $VISUAL or $EDITOR (else vi) opens a form. An
editor that returns at once needs its option to wait: EDITOR='code --wait'. Without --type it is
guessed from the words, and told. The answer is the id of the memory. Many lessons at once:
log-memory --json FILE.

  agent-knowledge add 'run the migrations before the tests' --type error --tags db,ci";

/// Save a lesson; without one, an editor opens
#[derive(Debug, Args)]
#[command(after_help = ADD_HELP)]
pub struct Add {
    /// What to do next time, in one or two sentences; - reads it from standard input
    #[arg(value_name = "LESSON", conflicts_with_all = ["lesson", "form"])]
    pub words: Vec<String>,
    /// The fields.
    #[command(flatten)]
    pub fields: LessonFields,
    /// Return only when the memory is on disk, so that it survives a power loss
    #[arg(long)]
    pub durable: bool,
    /// Read a form from this file instead of opening an editor; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "lesson")]
    pub form: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    pub output: OutputFormat,
}

/// Runs the command.
pub(super) fn add(context: &mut CommandContext<'_, '_>, command: &Add) -> CommandResult {
    let Add { words, fields, durable, form, output } = command;
    let CommandContext { program, process, options, .. } = context;
    let durability = if *durable { Durability::Synced } else { Durability::Written };
    let mut draft = fields.draft.clone();
    if *words == ["-"] {
        draft.lesson = Some(piped_input::read_piped_text(process)?);
    } else if !words.is_empty() {
        draft.lesson = Some(words.join(" "));
    }
    program.directory_use.record(takes_directory(&draft));
    let writer = program.lesson_writer(options)?;
    if draft.lesson.is_some() {
        let (receipt, kind) = program.record_typed(&writer, draft, durability, process)?;
        return Ok(CommandEnd::Saved { form: *output, reply: receipt_reply(&receipt, &kind) });
    }
    if form.is_none() && !editor::is_possible() {
        let example = "is missing; for example: agent-knowledge add 'run the migrations before the tests'. On a terminal an editor opens instead";
        return Err(Problems::one("LESSON", example).into());
    }
    if form.is_none() {
        // The form shows the kind, so no notice is needed.
        let kind = draft.guessed_kind();
        draft.event_type.get_or_insert_with(|| kind.to_owned());
    }
    let order = FormOrder {
        draft,
        title: "A lesson for the shared memory of agents.",
        file: form.as_deref(),
        again: "agent-knowledge add",
        is_new: true,
    };
    let end = program.fill_in_form(&writer, &order, durability, process)?;
    Ok(CommandEnd::Saved { form: *output, reply: end.reply() })
}

impl Program<'_> {
    /// Returns the door of the caller, for this directory.
    pub(super) fn lesson_writer(&self, settings: &GlobalOptions) -> Result<Writer, ApiError> {
        let settled = self.resolve_settings(settings)?;
        let identity = Identity::from_environment(
            self.surroundings.lookup,
            self.surroundings.directory.path(),
        )
        .with_host(self.surroundings.host.as_deref());
        let directory = self.working_directory().unwrap_or_default();
        Ok(Writer { store: settled.store, config: settled.config, directory, identity })
    }

    /// Lets a person fill in a form, and saves it. A form that cannot be saved stays.
    pub(super) fn fill_in_form(
        &self,
        writer: &Writer,
        order: &FormOrder<'_>,
        durability: Durability,
        process: &mut Process<'_>,
    ) -> Result<FormOutcome, ApiError> {
        let before = lesson_form::form_text(&order.draft, order.title);
        let own;
        let (path, text, is_ours) = match order.file {
            Some(path) if path == Path::new("-") => {
                (path, editor::read_input(process.input)?, false)
            }
            Some(path) => (path, editor::read(path)?, false),
            None => {
                own = editor::edit_text(&self.surroundings, &before)?;
                (own.path.as_path(), own.text, true)
            }
        };
        let with_path_kept =
            |error| if is_ours { with_form_path(error, path, order.again) } else { error };
        let mut draft = lesson_form::read_form(&text, order.draft.clone())
            .map_err(|problems| with_path_kept(problems.into()))?;
        let known = lesson_form::read_form(&before, order.draft.clone());
        let is_same = known.as_ref() == Ok(&draft);
        if order.is_new && !is_ours {
            lesson_form::fill(&mut draft, &order.draft);
        }
        let end = if is_same && !order.is_new {
            FormOutcome::Unchanged
        } else if draft.lesson.is_none() {
            if is_ours && !is_same {
                let (again, path) = (order.again, path.display());
                let message =
                    format!("the form is kept in {path}; go on with {again} --form {path}");
                complain(process.messages, process.name, &message);
                return Ok(FormOutcome::Empty);
            }
            FormOutcome::Empty
        } else if order.is_new {
            let (receipt, kind) =
                self.record_typed(writer, draft, durability, process).map_err(with_path_kept)?;
            FormOutcome::Saved(Box::new(receipt), kind)
        } else {
            let kind = draft.event_type.clone().unwrap_or_default();
            let receipt =
                self.record(writer, draft, durability, process).map_err(with_path_kept)?;
            FormOutcome::Saved(Box::new(receipt), kind)
        };
        if is_ours {
            editor::discard(path);
        }
        Ok(end)
    }

    /// Saves a lesson, with the type that its words suggest if it has none; also returns the type.
    fn record_typed(
        &self,
        writer: &Writer,
        mut draft: Draft,
        durability: Durability,
        process: &mut Process<'_>,
    ) -> Result<(Receipt, String), ApiError> {
        let is_typed = draft.event_type.is_some();
        let guessed = draft.guessed_kind();
        let kind = draft.event_type.get_or_insert_with(|| guessed.to_owned()).clone();
        let receipt = self.record(writer, draft, durability, process)?;
        if !is_typed {
            let message =
                format!("saved as {kind}, which its words suggest, because no --type was given");
            complain(process.messages, process.name, &message);
        }
        Ok((receipt, kind))
    }

    /// Saves a lesson, and prints its notices for the person.
    pub(super) fn record(
        &self,
        writer: &Writer,
        draft: Draft,
        durability: Durability,
        process: &mut Process<'_>,
    ) -> Result<Receipt, ApiError> {
        let is_new = !writer.store.root().exists();
        let among = writer.store.foreign_folder_warning();
        let receipt =
            writer.record(draft, (self.surroundings.clock)(), durability).map_err(|error| {
                match error {
                    RecordError::Invalid(problems) => as_flags(&problems).into(),
                    RecordError::Store(error) => store_error(&error),
                    RecordError::NotSaved { .. } => ApiError::Failed {
                        exit: writer::exit::Exit::of_record(&error),
                        message: error.to_string(),
                    },
                }
            })?;
        let made_notice =
            is_new.then(|| format!("made the store {}", writer.store.root().display()));
        let waits = (receipt.place == Destination::Spool).then(|| WAITS.to_owned());
        for notice in made_notice.into_iter().chain(among).chain(waits).chain(receipt.notices()) {
            complain(process.messages, process.name, &notice);
        }
        Ok(receipt)
    }
}

impl FormOutcome {
    /// Returns the answer about it.
    pub(super) fn reply(&self) -> Reply {
        let nothing = |text: &str| {
            Reply::new(text.to_owned(), json!({ "status": "nothing saved", "id": null }))
        };
        match self {
            Self::Saved(receipt, kind) => receipt_reply(receipt, kind),
            Self::Empty => nothing("nothing is saved: the lesson is empty"),
            Self::Unchanged => nothing("nothing is saved: the text is unchanged"),
        }
    }
}

fn receipt_reply(receipt: &Receipt, kind: &str) -> Reply {
    let mut report = receipt.report();
    report.insert("event_type".to_owned(), kind.into());
    Reply::new(receipt.id.to_string(), Value::Object(report))
}

/// Names the fields of problems as the command line spells them.
fn as_flags(problems: &Problems) -> Problems {
    let mut named = Problems::none();
    problems
        .iter()
        .for_each(|problem| named.add(flag_of(&problem.field), problem.message.as_str()));
    named
}

/// Adds where the form is, so that nobody must write it again.
fn with_form_path(error: ApiError, path: &Path, again: &str) -> ApiError {
    let kept_notice = format!(
        "nothing is saved; the form is kept: correct it, and run {again} --form {}",
        path.display()
    );
    match error {
        ApiError::Invalid(mut problems) => {
            problems.add("--form", kept_notice);
            ApiError::Invalid(problems)
        }
        ApiError::Failed { exit, message } => {
            ApiError::Failed { exit, message: format!("{message}; {kept_notice}") }
        }
        ApiError::NotFound(message) => ApiError::NotFound(format!("{message}; {kept_notice}")),
    }
}
