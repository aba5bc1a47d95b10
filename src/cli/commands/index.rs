//! `index`: embeds the memories that have no vector yet, and shows the progress. Not here: embedding (`index`).

use clap::Args;
use index::embed::worker::{Progress, WorkerState};
use requests::Reply;
use retriever::failure::unavailable_error;
use retriever::options::MemoryNeed;
use serde_json::json;
use std::time::Duration;

use crate::args::output_format::OutputFormat;
use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult};
use crate::program::progress_bar;

/// How often the progress is checked.
const LOOK_MS: u64 = 50;

/// Embed the memories that have no vector yet
#[derive(Debug, Args)]
pub struct Index {
    /// How to print.
    #[command(flatten)]
    pub form: OutputFormat,
}

/// Runs the command.
pub(super) fn index(context: &mut CommandContext<'_, '_>, command: &Index) -> CommandResult {
    let local = context.program.open_local(context.options, MemoryNeed::Meaning)?;
    let bar = progress_bar("embedding {bar:30} {pos}/{len} {eta}");
    let progress = loop {
        let (embedded, memories) = local.embedded()?;
        bar.set_length(u64::try_from(memories).unwrap_or(u64::MAX));
        bar.set_position(u64::try_from(embedded).unwrap_or(u64::MAX));
        let (progress, next) = (local.engine().embedding(), local.engine().next_embedding());
        // While a model is changed, the next one has the work.
        match next.as_ref().or(progress.as_ref()).map(|progress| &progress.state) {
            None => return Err(unavailable_error("no embedding model in this build".to_owned())),
            Some(WorkerState::Failed(error)) => return Err(unavailable_error(error.to_string())),
            Some(WorkerState::Loading | WorkerState::Ready { .. }) => {}
        }
        // A model that is loading may still fail, also where nothing is left to do.
        let is_whole = |progress: &Progress| {
            let is_loaded = progress.state != WorkerState::Loading;
            is_loaded && next.is_none() && embedded + progress.failed >= memories
        };
        if let Some(progress) = progress.filter(is_whole) {
            break progress;
        }
        std::thread::park_timeout(Duration::from_millis(LOOK_MS));
    };
    bar.finish_and_clear();
    let fresh = progress.done.saturating_sub(progress.from_cache);
    let text = format!(
        "{fresh} memories embedded now, {} from the cache, {} failed",
        progress.from_cache, progress.failed
    );
    let json =
        json!({ "embedded": fresh, "from_cache": progress.from_cache, "failed": progress.failed });
    Ok(CommandEnd::answer(command.form, Reply::new(text, json)))
}
