//! One memory in one line: its day, what happened and what to do, and where it is from.
//! Not here: how many lines a reply has (`hits`, `briefing`, `item`).

use std::fmt::Write;

use super::excerpt::{Interest, excerpt};
use crate::event::{Layout, RepoKey, neutralise};
use crate::retriever::projection::Memory;

/// Returns the day of a memory, as the founding form shows it.
pub(super) fn date(memory: &Memory) -> String {
    memory
        .event
        .timestamp
        .map_or_else(|| "no date".to_owned(), |time| time.strftime("%Y-%m-%d").to_string())
}

/// Longest name shown of an agent or a repository: more is somebody trying to fill the reply.
const NAME_CHARS_MAX: usize = 40;

/// Says what a memory's success was, where it is from, who learned it, and how to cite it.
pub(super) fn after(memory: &Memory, here: Option<&RepoKey>) -> String {
    let event = &memory.event;
    let name = |text: &str| -> String {
        neutralise(text, Layout::Line).chars().take(NAME_CHARS_MAX).collect()
    };
    let mut after = String::new();
    if let Some(rate) = event.success_rate {
        let _ = write!(after, " ({rate} success)");
    }
    let kind = event.event_type.as_str();
    let mut source: Vec<String> = Vec::new();
    if here != Some(&memory.repo) {
        source.push(name(memory.repo.short_name()));
    }
    // The founding kinds show in what is said; any other is worth a word.
    if !matches!(kind, "error" | "success" | "pattern" | "") {
        source.push(name(kind));
    }
    source.push(name(&event.agent_id));
    source.retain(|part| !part.is_empty());
    if !source.is_empty() {
        let _ = write!(after, " · {}", source.join(", "));
    }
    let _ = write!(after, " · {}", event.id.short());
    after
}

/// Says what happened and what to do, in at most `bytes_max` bytes.
pub(super) fn body(memory: &Memory, bytes_max: usize, interest: &Interest<'_>) -> String {
    let event = &memory.event;
    // Of what happened only a third where both are long: what to do is what the reader came for.
    let all_context = excerpt(&event.context, bytes_max, interest);
    let all_lesson = excerpt(&event.lesson, bytes_max, interest);
    let joint = if all_context.is_empty() || all_lesson.is_empty() { "" } else { ": " };
    let third = bytes_max / 3;
    let fits = all_context.len() + joint.len() + all_lesson.len() <= bytes_max;
    let context = if fits || all_lesson.is_empty() {
        all_context
    } else {
        let room = bytes_max.saturating_sub(all_lesson.len() + joint.len()).max(third);
        excerpt(&event.context, room, interest)
    };
    let room = bytes_max.saturating_sub(context.len() + joint.len());
    let mut body = format!("{context}{joint}{}", excerpt(&event.lesson, room, interest));
    let command = format!(" `{}`", neutralise(&event.command, Layout::Line));
    let is_said = event.command.is_empty() || event.lesson.contains(event.command.trim());
    if !is_said && body.len() + command.len() <= bytes_max {
        body.push_str(&command);
    }
    body.truncate(body.floor_char_boundary(bytes_max));
    body
}
