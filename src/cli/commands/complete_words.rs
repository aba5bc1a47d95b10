//! `complete-words`: answers a shell that completes a word: the words of the command line, or values of the store. Whatever goes wrong, there is
//! no message: somebody only pressed Tab. Not here: what may stand at a place (`word_completion`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use requests::browse::{BrowseRequest, PAGE_MAX};
use requests::{Api, CompleteRequest, CompletionSlot, Listing, Request};
use serde_json::Value;

use clap::Args;

use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult, print};
use crate::commands::complete_words::word_completion::{WordKind, WordPlace, word_place};
use event::EventId;
use retriever::options::{GlobalOptions, MemoryNeed};
use writer::exit::Exit;

mod word_completion;

/// What tells a script to offer files.
const FILES: &str = ":files";

/// Longest meaning beside a word, in characters: shells show it on the same line.
const MEANING_CHARS_MAX: usize = 72;

/// Answer the script that completes words in a shell
#[derive(Debug, Args)]
#[command(hide = true)]
pub struct CompleteWords {
    /// The shell.
    pub shell: String,
    /// The words after the name of the program.
    #[arg(last = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// Prints the words that fit, one a line; with what they mean, after a tab, where the shell can show that.
pub(super) fn complete_words(
    context: &mut CommandContext<'_, '_>,
    command: &CompleteWords,
) -> CommandResult {
    let mut line = (context.command_line)();
    line.build();
    let place = word_place(&line, &command.words);
    let words = match &place.kind {
        WordKind::Path => {
            return Ok(CommandEnd::Exit(print(context.process, &format!("{FILES}\n"))));
        }
        WordKind::Free => return Ok(CommandEnd::Exit(Exit::Done)),
        WordKind::Words(words) => words.clone(),
        WordKind::Value(slot) => values(context, &place, *slot).unwrap_or_default(),
    };
    let fitting =
        words.into_iter().filter(|(word, _)| begins(word, &place.typed) && is_plain(word));
    let has_meanings = command.shell != "bash";
    let lines = fitting.map(|(word, meaning)| {
        let meaning = if has_meanings { short(&meaning) } else { String::new() };
        let tab = if meaning.is_empty() { "" } else { "\t" };
        format!("{}{word}{tab}{meaning}\n", place.before)
    });
    let lines: String = lines.collect();
    Ok(CommandEnd::Exit(print(context.process, &lines)))
}

/// Asks the store for values that begin with what was typed.
fn values(
    context: &mut CommandContext<'_, '_>,
    place: &WordPlace,
    slot: CompletionSlot,
) -> Option<Vec<(String, String)>> {
    let logs = place.logs.as_ref().map(PathBuf::from).or_else(|| context.options.logs.clone());
    let options = GlobalOptions { logs, ..context.options.clone() };
    let api = context.program.open(&options, MemoryNeed::Words).ok()?;
    let found =
        api.ask(&Request::Complete(CompleteRequest::read(slot, &place.typed).ok()?)).ok()?.json;
    let found = found.get("values")?.as_array()?.iter().filter_map(Value::as_str);
    if slot != CompletionSlot::Id {
        return Some(found.map(|value| (value.to_owned(), String::new())).collect());
    }
    let lessons = newest_lessons(&*api);
    let of = |id: &str| {
        let lesson = lessons.get(id).cloned().unwrap_or_default();
        let short = EventId::foreign(id).map(|id| id.short().to_owned());
        // The short form is what answers show; the whole id is for who begins to type it.
        let word = short.filter(|short| begins(short, &place.typed));
        (word.unwrap_or_else(|| id.to_owned()), lesson)
    };
    Some(found.map(of).collect())
}

/// Returns what the newest memories say, by their ids.
fn newest_lessons(api: &dyn Api) -> BTreeMap<String, String> {
    let page =
        Listing::Page(Box::new(BrowseRequest { limit: PAGE_MAX, ..BrowseRequest::default() }));
    let listed = api.ask(&Request::List(page)).map(|reply| reply.json).unwrap_or_default();
    let memories = listed.get("memories").and_then(Value::as_array).into_iter().flatten();
    let text = |memory: &Value, name: &str| memory.get(name)?.as_str().map(str::to_owned);
    memories.filter_map(|memory| Some((text(memory, "id")?, text(memory, "lesson")?))).collect()
}

fn begins(word: &str, typed: &str) -> bool {
    word.to_lowercase().starts_with(&typed.to_lowercase())
        // Of a repository the name alone may be typed.
        || word.rsplit('/').next().is_some_and(|name| name.starts_with(typed))
}

/// Anybody may choose an id, a tag or the name of a repository, and a shell would read other letters as its own.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "._:/@+-".contains(c))
}

fn short(meaning: &str) -> String {
    let line = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = line.chars().filter(|c| !c.is_control());
    let short: String = letters.by_ref().take(MEANING_CHARS_MAX).collect();
    if letters.next().is_some() { format!("{short}…") } else { short }
}
