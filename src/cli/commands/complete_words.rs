//! `complete-words`: completes a word for a shell: words of the command line, or values of the store. No failure shows a message:
//! somebody only pressed Tab. Not here: which words are possible (`word_completion`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use requests::browse::{BrowseRequest, PAGE_MAX};
use requests::{Api, CompleteRequest, CompletionSlot, Listing, Request};

use clap::Args;

use crate::command_context::CommandContext;
use crate::command_output::{CommandEnd, CommandResult, print};
use crate::commands::complete_words::word_completion::{WordKind, WordPlace, word_place};
use event::EventId;
use reply::{CompletionsAnswer, PageAnswer};
use retriever::options::{GlobalOptions, MemoryNeed};
use writer::exit::Exit;

mod word_completion;

/// The line that makes a script offer files.
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
        words.into_iter().filter(|(word, _)| begins_with(word, &place.typed) && is_plain(word));
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
    let request = CompleteRequest::read(slot, &place.typed).ok()?;
    let found: CompletionsAnswer = api.ask_for(&Request::Complete(request)).ok()?;
    let found = found.values.into_iter();
    if slot != CompletionSlot::Id {
        return Some(found.map(|value| (value, String::new())).collect());
    }
    let lessons = newest_lessons(&*api);
    let option_value = |id: String| {
        let lesson = lessons.get(&id).cloned().unwrap_or_default();
        let short = EventId::foreign(&id).map(|id| id.short().to_owned());
        // The short form is what answers show; the whole id is for who begins to type it.
        let word = short.filter(|short| begins_with(short, &place.typed));
        (word.unwrap_or(id), lesson)
    };
    Some(found.map(option_value).collect())
}

/// Returns what the newest memories say, by their ids.
fn newest_lessons(api: &dyn Api) -> BTreeMap<String, String> {
    let page =
        Listing::Page(Box::new(BrowseRequest { limit: PAGE_MAX, ..BrowseRequest::default() }));
    let listed = api.ask_for::<PageAnswer>(&Request::List(page));
    let memories = listed.into_iter().flat_map(|page| page.list.memories);
    memories.map(|memory| (memory.event.id, memory.event.lesson)).collect()
}

fn begins_with(word: &str, typed: &str) -> bool {
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
