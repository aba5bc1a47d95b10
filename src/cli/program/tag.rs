//! `tag`: suggests tags for a memory, and adds tags to it as a new version. Not here: which tags suggest themselves (`search`), what
//! becomes of the old version (`edit`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::args::tag::TagMemory;
use crate::command_context::Process;
use crate::judge::ChatModel;
use crate::program::Program;
use crate::program::edit::{draft_of, old_version, replaced};
use event::EventId;
use requests::Request;
use requests::listing::TagsRequest;
use requests::{Api, ApiError, Listing, Reply};
use retriever::options::{GlobalOptions, Need};
use store::{DetectedRepo, Durability};
use writer::exit::Exit;

impl Program<'_> {
    pub(super) fn tag(
        &mut self,
        settings: &GlobalOptions,
        command: &TagMemory,
        process: &mut Process<'_>,
    ) -> Result<(Exit, Reply), ApiError> {
        let api = self.open(settings, Need::Words)?;
        let suggest = || {
            let request = TagsRequest { id: command.id.clone(), limit: usize::from(command.limit) };
            let own = api.ask(&Request::List(Listing::SuggestedTags(request)))?;
            match command.ask {
                true => self.tags_of_model(settings, &*api, command, &suggested_tags(&own.json)),
                false => Ok(own),
            }
        };
        let tags = match (command.tags.is_empty(), command.apply) {
            (true, false) => return Ok((Exit::Done, suggest()?)),
            (true, true) => {
                let suggested = suggest()?;
                let tags = suggested_tags(&suggested.json);
                if tags.is_empty() {
                    return Ok((Exit::Done, suggested));
                }
                tags
            }
            (false, _) => comma_parts(&command.tags),
        };
        self.add_tags(settings, &*api, (&command.id, &tags), process)
    }

    /// Asks the language model of the configuration. `known` are tags that need no model.
    fn tags_of_model(
        &self,
        settings: &GlobalOptions,
        api: &dyn Api,
        command: &TagMemory,
        known: &[String],
    ) -> Result<Reply, ApiError> {
        let config = self.settle(settings)?.config;
        let model = ChatModel::configured(&config, self.surroundings.lookup)?;
        let (id, memory) = old_version(api, &command.id)?;
        let had = draft_of(&memory, "").tags;
        let tags = new_tags(&had, &model.tags(&memory, known)?);
        let tags: Vec<&String> = tags.iter().take(usize::from(command.limit)).collect();
        let cited = EventId::foreign(&id);
        let short = cited.as_ref().map_or(id.as_str(), EventId::short);
        let operand = cited.as_ref().map_or_else(|| id.clone(), |id| reply::operands(&[id]));
        let text = if tags.is_empty() {
            format!("The model suggests no tag for {short}.")
        } else {
            let lines: String = tags.iter().map(|tag| format!("  {tag}\n")).collect();
            let words: Vec<&str> = tags.iter().map(|tag| tag.as_str()).collect();
            format!(
                "Tags that the model suggests for {short}:\n{lines}Add all of them: agent-knowledge tag {operand} {}",
                words.join(" ")
            )
        };
        let suggested: Vec<Value> = tags.iter().map(|tag| json!({ "tag": tag })).collect();
        Ok(Reply::new(text, json!({ "id": id, "suggested": suggested, "by": "model" })))
    }

    fn add_tags(
        &self,
        settings: &GlobalOptions,
        api: &dyn Api,
        (id, tags): (&String, &[String]),
        process: &mut Process<'_>,
    ) -> Result<(Exit, Reply), ApiError> {
        let (old, memory) = old_version(api, id)?;
        let writer = self.lesson_writer(settings)?;
        let here = writer.config.current(&DetectedRepo::of_directory(&writer.directory).key);
        let mut draft = draft_of(&memory, here.as_str());
        let new = new_tags(&draft.tags, tags);
        if new.is_empty() {
            let message = format!("{old} has these tags already: {}", tags.join(", "));
            return Err(ApiError::Failed { exit: Exit::Invalid, message });
        }
        draft.tags.extend(new.iter().cloned());
        let receipt = self.record(&writer, draft, Durability::Written, process)?;
        let reply = replaced(api, &memory, &old, receipt.id.as_str())?;
        let text = format!("{}; it also has {}", reply.text, new.join(", "));
        // The tags are the caller's own words, so they go the way of every answer.
        let reply = Reply::new(text, reply.json);
        let reply = reply.with("id", receipt.id.as_str().into()).with("added", new.into());
        Ok((Exit::Done, reply))
    }
}

/// Returns the tags that a memory does not have yet, each once, whatever its case.
fn new_tags(had: &[String], tags: &[String]) -> Vec<String> {
    let mut seen: BTreeSet<String> = had.iter().map(|tag| tag.to_lowercase()).collect();
    tags.iter().filter(|tag| seen.insert(tag.to_lowercase())).cloned().collect()
}

fn suggested_tags(json: &Value) -> Vec<String> {
    let suggested = json.get("suggested").and_then(Value::as_array).into_iter().flatten();
    let tags = suggested.filter_map(|one| one.get("tag").and_then(Value::as_str));
    tags.map(str::to_owned).collect()
}

/// People write `ci npm` and `ci,npm`.
fn comma_parts(tags: &[String]) -> Vec<String> {
    let parts = tags.iter().flat_map(|tag| tag.split(','));
    let parts = parts.map(str::trim).filter(|tag| !tag.is_empty());
    parts.map(str::to_owned).collect()
}
