//! `tag`: suggests tags for a memory, and adds tags to it as a new version. Not here: finding suggestions (`search`), replacing the old
//! version (`edit`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use clap::Args;

use crate::args::output_format::OutputFormat;
use crate::args::whole_number::whole_number;
use crate::chat_failure::chat_error;
use crate::command_context::{CommandContext, Process};
use crate::command_output::{CommandEnd, CommandResult};
use crate::commands::edit::{memory_draft, old_version, replace_memory};
use crate::program::Program;
use event::{EventId, RepoKey, tag_key};
use providers::chat_model::ChatModel;
use reply::SuggestedTagsAnswer;
use requests::listing::TagsRequest;
use requests::{Api, ApiError, Listing, Reply, Request};
use retriever::options::{GlobalOptions, MemoryNeed};
use store::Durability;
use writer::exit::Exit;

const TAG_HELP: &str = "\
Without tags it only suggests: tags that similar memories have, and those that the memory names.
A log is never changed: adding saves a new version, which replaces the old one, as edit does.

  agent-knowledge tag ZSGJ6E1G           what suggests itself
  agent-knowledge tag ZSGJ6E1G --apply   add all of it
  agent-knowledge tag ZSGJ6E1G --ask     what the language model of [judge] suggests
  agent-knowledge tag ZSGJ6E1G ci npm    add these";

/// Suggest tags for a memory, or add some
#[derive(Debug, Args)]
#[command(after_help = TAG_HELP)]
pub struct Tag {
    /// The memory: its id, or any unique short form of it
    #[arg(value_name = "ID")]
    pub id: String,
    /// Tags to add
    #[arg(value_name = "TAG", conflicts_with = "apply")]
    pub tags: Vec<String>,
    /// Ask the language model of the configuration; a private memory is never shown to it
    #[arg(long, conflicts_with = "tags")]
    pub ask: bool,
    /// Add the suggested tags
    #[arg(long)]
    pub apply: bool,
    /// Most suggestions, 1 to 20
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole_number::<u8>(1..=20, 5))]
    pub limit: u8,
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn tag(context: &mut CommandContext<'_, '_>, command: &Tag) -> CommandResult {
    let CommandContext { program, process, options, .. } = context;
    let api = program.open(options, MemoryNeed::Words)?;
    let suggest = || {
        let request = TagsRequest { id: command.id.clone(), limit: usize::from(command.limit) };
        let own = api.ask(&Request::List(Listing::SuggestedTags(request)))?;
        let tags = own.answer::<SuggestedTagsAnswer>().map(|found| found.suggested);
        let tags: Vec<String> = tags.into_iter().flatten().map(|one| one.tag).collect();
        match command.ask {
            true => program.tags_of_model(options, &*api, command, &tags),
            false => Ok((own, tags)),
        }
    };
    let tags = match (command.tags.is_empty(), command.apply) {
        (true, false) => return Ok(CommandEnd::answer(command.form, suggest()?.0)),
        (true, true) => {
            let (suggested, tags) = suggest()?;
            if tags.is_empty() {
                return Ok(CommandEnd::answer(command.form, suggested));
            }
            tags
        }
        (false, _) => comma_parts(&command.tags),
    };
    let (exit, reply) = program.add_tags(options, &*api, &command.id, &tags, process)?;
    Ok(CommandEnd::Answer { form: command.form, exit, reply })
}

impl Program<'_> {
    /// Asks the language model of the configuration, and returns what it says, and the tags alone. `known` are tags that need no model.
    fn tags_of_model(
        &self,
        settings: &GlobalOptions,
        api: &dyn Api,
        command: &Tag,
        known: &[String],
    ) -> Result<(Reply, Vec<String>), ApiError> {
        let config = self.resolve_settings(settings)?.config;
        let model = ChatModel::configured(&config, self.surroundings.lookup).map_err(chat_error)?;
        let (id, memory) = old_version(api, &command.id)?;
        let had = memory_draft(&memory, "").tags;
        let memory = serde_json::to_value(&memory).unwrap_or_default();
        let suggested = model.tags(&memory, known).map_err(chat_error)?;
        let mut tags = new_tags(&had, &suggested);
        tags.truncate(usize::from(command.limit));
        let cited = EventId::foreign(&id);
        let short = cited.as_ref().map_or(id.as_str(), EventId::short);
        let operand = cited.as_ref().map_or_else(|| id.clone(), |id| reply::operands(&[id]));
        let text = if tags.is_empty() {
            format!("The model suggests no tag for {short}.")
        } else {
            let lines: String = tags.iter().map(|tag| format!("  {tag}\n")).collect();
            format!(
                "Tags that the model suggests for {short}:\n{lines}Add all of them: agent-knowledge tag {operand} {}",
                tags.join(" ")
            )
        };
        let suggested: Vec<Value> = tags.iter().map(|tag| json!({ "tag": tag })).collect();
        let json = json!({ "id": id, "suggested": suggested, "by": "model" });
        Ok((Reply::new(text, json), tags))
    }

    fn add_tags(
        &self,
        settings: &GlobalOptions,
        api: &dyn Api,
        id: &String,
        tags: &[String],
        process: &mut Process<'_>,
    ) -> Result<(Exit, Reply), ApiError> {
        let (old, memory) = old_version(api, id)?;
        let writer = self.lesson_writer(settings)?;
        let here = writer.store.place_at(&writer.directory, &writer.config).repository;
        let here = here.as_ref().map_or("", RepoKey::as_str);
        let mut draft = memory_draft(&memory, here);
        let new = new_tags(&draft.tags, tags);
        if new.is_empty() {
            let message = format!("{old} has these tags already: {}", tags.join(", "));
            return Err(ApiError::Failed { exit: Exit::Invalid, message });
        }
        draft.tags.extend(new.iter().cloned());
        let receipt = self.record(&writer, draft, Durability::Written, process)?;
        let reply = replace_memory(api, &memory, &old, receipt.id.as_str())?;
        let text = format!("{}; it also has {}", reply.text, new.join(", "));
        // The tags are the caller's own words, so they go the way of every answer.
        let reply = Reply::new(text, reply.json);
        let reply =
            reply.with_field("id", receipt.id.as_str().into()).with_field("added", new.into());
        Ok((Exit::Done, reply))
    }
}

/// Returns the tags that a memory does not have yet, each once, whatever its case.
fn new_tags(had: &[String], tags: &[String]) -> Vec<String> {
    let mut seen: BTreeSet<String> = had.iter().map(|tag| tag_key(tag)).collect();
    tags.iter().filter(|tag| seen.insert(tag_key(tag))).cloned().collect()
}

/// People write `ci npm` and `ci,npm`.
fn comma_parts(tags: &[String]) -> Vec<String> {
    let parts = tags.iter().flat_map(|tag| tag.split(','));
    let parts = parts.map(str::trim).filter(|tag| !tag.is_empty());
    parts.map(str::to_owned).collect()
}
