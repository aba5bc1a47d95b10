//! The files and names of code that a memory mentions. Pure. Not here: whether they exist.

use std::collections::BTreeSet;
use std::path::Path;

use super::tree::path_in;
use event::Event;

/// Most paths of one memory that are looked up.
const PATHS_MAX: usize = 24;
/// Most names of one memory that are looked for.
const NAMES_MAX: usize = 32;
/// Shorter names stand in most files by chance.
const NAME_CHARS_MIN: usize = 3;
/// The longest ending that makes a word without folders a file.
const ENDING_CHARS_MAX: usize = 6;

/// Returns the files that a memory names, as git names them: those of its field first, then those in its texts.
pub(super) fn paths(event: &Event, top: &Path) -> Vec<String> {
    let texts = [&event.lesson, &event.context, &event.command];
    let in_texts = texts.into_iter().flat_map(|text| words(text)).filter(|word| is_path(word));
    let named = event.files.iter().map(String::as_str).chain(in_texts);
    let mut seen = BTreeSet::new();
    let paths = named.filter_map(|named| path_in(top, named));
    paths.filter(|path| seen.insert(path.clone())).take(PATHS_MAX).collect()
}

/// The words of a text as a path may be one, without the marks around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || "`\"'()[]{}<>,;|=".contains(c);
    text.split(between).map(|word| word.trim_end_matches(['.', ':', '!', '?']))
}

/// Whether a word may be the path of a file. Git looks for exactly this path, so a wrong guess does no harm.
fn is_path(word: &str) -> bool {
    let begins_otherwise = word.starts_with(['-', '$', '~', '@', '/', '%']) || word.contains("://");
    let file = word.split("::").next().unwrap_or_default();
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    !begins_otherwise && (word.contains('/') || ending.is_some_and(is_ending))
}

/// Whether a word without folders is a file by its extension: not a version, and not an abbreviation.
fn is_ending(ending: &str) -> bool {
    let is_plain = ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_number = ending.bytes().all(|byte| byte.is_ascii_digit());
    let is_long = (2..=ENDING_CHARS_MAX).contains(&ending.len()) || matches!(ending, "c" | "h");
    is_plain && !is_number && is_long
}

/// Returns the names of code that stand in backticks or fences of a memory's lesson and context.
pub(super) fn names(event: &Event) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let spans = [&event.lesson, &event.context].into_iter().flat_map(|text| spans(text));
    let names = spans.flat_map(names_in).filter(|name| seen.insert((*name).to_owned()));
    names.take(NAMES_MAX).map(str::to_owned).collect()
}

/// The text in backticks, in a span or a fence.
fn spans(text: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find('`') {
        let inner = rest.get(begin..).unwrap_or_default();
        let ticks = inner.bytes().take_while(|byte| *byte == b'`').count();
        let (mark, inner) = inner.split_at(ticks);
        let Some(end) = inner.find(mark) else { break };
        spans.push(inner.get(..end).unwrap_or_default());
        rest = inner.get(end + ticks..).unwrap_or_default();
    }
    spans
}

/// The names in one span. A span of one word is code in all of its parts; one of several is often a command, and
/// only what is spelled like a name of code is one.
fn names_in(span: &str) -> impl Iterator<Item = &str> {
    let span = span.trim();
    let is_one = !span.contains(char::is_whitespace);
    // A path is looked up itself.
    let words = span.split_whitespace().filter(|word| !is_path(word));
    let names = words.flat_map(|word| word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    names.filter(move |name| {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_name && name.len() >= NAME_CHARS_MIN && (is_one || is_spelled_like_code(name))
    })
}

fn is_spelled_like_code(name: &str) -> bool {
    let inner = name.trim_matches('_').get(1..).unwrap_or_default();
    let has_lower = name.bytes().any(|byte| byte.is_ascii_lowercase());
    inner.contains('_') || (has_lower && inner.bytes().any(|byte| byte.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use event::{DecodedLine, codec};

    fn event(line: &Value) -> Event {
        match codec::decode(line.to_string().as_bytes(), "api") {
            DecodedLine::Event(event) => *event,
            other => panic!("{other:?}"),
        }
    }

    // S-STALE-2
    #[test]
    fn files_are_read_from_their_field_and_from_the_texts() {
        let event = event(&json!({
            "files": ["src/b.rs:12", "../x", "/top/src/c.rs"],
            "context": "after the change in src/store/tail.rs, and/or (see `docs/a.md`):",
            "lesson": "Pin Cargo.toml to 1.2.3; https://example.org/x.html says e.g. nothing. @scope/pkg",
            "command": "cat src/b.rs -- --config=x.toml /etc/hosts",
        }));
        let expected = [
            "src/b.rs",
            "src/c.rs",
            "Cargo.toml",
            "src/store/tail.rs",
            "and/or",
            "docs/a.md",
            "x.toml",
        ];
        assert_eq!(paths(&event, Path::new("/top")), expected);
    }

    // S-STALE-2
    #[test]
    fn names_of_code_come_from_backticks_and_fences() {
        let event = event(&json!({
            "lesson": "`Store::open()` and `cargo test --all-targets` of `src/a.rs`, not Other;\n\
                       ```rust\nlet log_lines = read(path);\nfn openAll() {}\n```\n`id` `unclosed",
            "context": "`MAX_LEN` is `Store`",
        }));
        assert_eq!(names(&event), ["Store", "open", "log_lines", "openAll", "MAX_LEN"]);
    }
}
