//! `edit`: a person changes the fields of a memory in their editor. A log is never changed: the new version is a memory
//! that replaces the old one. Not here: the form (`lesson_form`), how it is saved (`add`).

use serde_json::json;

use std::path::PathBuf;

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::add::{FormOrder, FormOutcome, editor};
use event::{Draft, MANUAL, RepoKey, draft_from_json};
use reply::{ShownMemories, ShownMemory};
use requests::change::{ChangeRequest, Voice, WantedChange};
use requests::{Api, ApiError, Reply, Request};
use retriever::options::MemoryNeed;
use store::Durability;
use writer::exit::Exit;
use writer::field_flags::FLAGS;

/// Why the old version was replaced.
const REASON: &str = "edited";

const EDIT_HELP: &str = "\
A log is never changed: saving makes a new memory, which replaces the old one; show tells both.
The editor is that of $VISUAL or $EDITOR, else vi. An editor that returns at once needs its option
to wait: EDITOR='code --wait'. If nothing is changed, nothing is saved.";

/// Change a memory in your editor
#[derive(Debug, Args)]
#[command(after_help = EDIT_HELP)]
pub struct Edit {
    /// The memory: its id, or any unique short form of it
    #[arg(value_name = "ID")]
    pub id: String,
    /// Read a form from this file instead of opening an editor; - is standard input
    #[arg(long, value_name = "FILE")]
    pub form: Option<PathBuf>,
    /// How to print.
    #[command(flatten)]
    pub output: OutputFormat,
}

/// Runs the command.
pub(super) fn edit(context: &mut CommandContext<'_, '_>, command: &Edit) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let form = command.output;
    let api = program.open(options, MemoryNeed::Words)?;
    let (old, memory) = old_version(&*api, &command.id)?;
    if command.form.is_none() && !editor::is_possible() {
        return Err(needs_terminal(&old));
    }
    let writer = program.lesson_writer(options)?;
    let here = writer.store.place_at(&writer.directory, &writer.config).repository;
    let here = here.as_ref().map_or("", RepoKey::as_str);
    let order = FormOrder {
        draft: memory_draft(&memory, here),
        title: &format!("Memory {old}. Saving makes a new memory that replaces it."),
        file: command.form.as_deref(),
        again: &format!("agent-knowledge edit {old}"),
        is_new: false,
    };
    let end = program.fill_in_form(&writer, &order, Durability::Written, process)?;
    let FormOutcome::Saved(receipt, _) = &end else {
        return Ok(CommandEnd::Saved { form, reply: end.reply() });
    };
    let reply = replace_memory(&*api, &memory, &old, receipt.id.as_str())?;
    let reply = Reply { text: reply.text, ..end.reply() };
    Ok(CommandEnd::Saved { form, reply: reply.with_field("replaces", old.into()) })
}

/// Finds a memory that may get a new version; returns its id and its fields.
pub(super) fn old_version(api: &dyn Api, id: &String) -> Result<(String, ShownMemory), ApiError> {
    let shown: ShownMemories = api.ask_for(&Request::Show(std::slice::from_ref(id).to_vec()))?;
    let memory = shown.memories.into_iter().next();
    let memory = memory.ok_or_else(|| ApiError::NotFound(format!("no memory {id}")))?;
    let old = memory.memory.event.id.clone();
    refuse_ended(&memory, &old)?;
    Ok((old, memory))
}

/// Puts a new version in the place of a memory, and says what became of its pin and its links.
pub(super) fn replace_memory(
    api: &dyn Api,
    memory: &ShownMemory,
    old: &str,
    new: &str,
) -> Result<Reply, ApiError> {
    replace(api, old, new)?;
    let mut text = format!("{new} replaces {old}");
    if memory.memory.pinned == Some(true) {
        pin(api, new)?;
        text.push_str(", and is pinned too");
    }
    if has_links(memory) {
        text.push_str("; its links stay with the old memory");
    }
    Ok(Reply::new(text, json!({ "id": new, "replaces": old })))
}

/// Refuses a memory that no longer answers because of what somebody did to it.
fn refuse_ended(memory: &ShownMemory, id: &str) -> Result<(), ApiError> {
    let Some(standing) = &memory.standing else { return Ok(()) };
    let remedy = match standing.state.as_str() {
        "superseded" => {
            let by = standing.replaced_by.as_ref().map_or("", |by| by.id.as_str());
            format!("was replaced by {by}; edit that one: agent-knowledge edit {by}")
        }
        state @ ("retracted" | "archived" | "buried") => {
            let state_word = if state == "archived" { "archived" } else { "forgotten" };
            format!("was {state_word}; bring it back first: agent-knowledge forget --undo {id}")
        }
        _ => return Ok(()),
    };
    Err(ApiError::Failed { exit: Exit::Invalid, message: format!("{id} {remedy}") })
}

fn needs_terminal(id: &str) -> ApiError {
    let message = format!(
        "edit opens an editor, so it needs a terminal; without one, save the new text with agent-knowledge add, \
         and then run agent-knowledge supersede {id} --by NEW"
    );
    ApiError::Failed { exit: Exit::Usage, message }
}

/// Returns the fields of a memory that a person may change. Who wrote it and when belongs to the old version.
pub(super) fn memory_draft(memory: &ShownMemory, own_repo: &str) -> Draft {
    let is_kept = |name: &str| {
        let is_origin = ["agent_id", "session_id", "id", "timestamp", "source"].contains(&name);
        name == "private" || FLAGS.iter().any(|flag| flag.field == name && !is_origin)
    };
    let fields = memory.memory.event.clone().into_map().into_iter();
    let mut draft = draft_from_json(fields.filter(|(name, _)| is_kept(name)).collect());
    draft.kept_files.clone_from(&draft.files);
    draft.is_folder_kept = true;
    // The directory says more than its name: it has the branch and the commit.
    draft.repo = draft.repo.filter(|repo| repo != own_repo);
    draft
}

fn replace(api: &dyn Api, old: &str, new: &str) -> Result<(), ApiError> {
    let request = ChangeRequest {
        ids: vec![old.to_owned()],
        change: WantedChange::Superseded { by: new.to_owned() },
        note: Some(REASON.to_owned()),
    };
    let reply = api.ask_as(&Request::Change(request), &Voice::Caller);
    reply.map(drop).map_err(|error| ApiError::Failed {
        exit: Exit::Io,
        message: format!(
            "the new version is saved as {new}, but {old} was not replaced: {error}; run agent-knowledge supersede {old} --by {new}"
        ),
    })
}

/// Pins the new version, as the old one was.
fn pin(api: &dyn Api, new: &str) -> Result<(), ApiError> {
    let request = ChangeRequest {
        ids: vec![new.to_owned()],
        change: WantedChange::Pinned,
        note: Some(REASON.to_owned()),
    };
    let reply = api.ask_as(&Request::Change(request), &Voice::Caller);
    reply.map(drop).map_err(|error| ApiError::Failed {
        exit: Exit::Io,
        message: format!(
            "the new version is saved as {new}, but was not pinned: {error}; run agent-knowledge pin {new}"
        ),
    })
}

/// Tells whether somebody linked a memory with something else. What is computed from fields holds for the new version too.
fn has_links(memory: &ShownMemory) -> bool {
    let links = memory.standing.iter().flat_map(|standing| &standing.links);
    links.into_iter().any(|link| link.origin == MANUAL && link.relation != "supersedes")
}
