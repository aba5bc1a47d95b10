//! What of a rule file is layout and no lesson: tags, badges, tables of contents, trees of folders, templates, done tasks, and
//! sentences about the file itself. By form, not by their words. Pure. Not here: cutting a file into items (`markdown`).

/// Longest label, in words, of a link or a line in bold that is a heading rather than a statement.
pub(super) const LABEL_WORDS_MAX: usize = 4;
/// Longest title of a page, in words.
const LINK_WORDS_MAX: usize = 10;
/// Characters that draw a tree of folders.
const TREE_MARKS: [char; 5] = ['├', '└', '│', '┣', '┗'];

/// A tag of HTML or XML at the beginning of a text: its bytes, its name, and the text of its first attribute.
struct Tag<'a> {
    bytes: usize,
    name: &'a str,
    attribute: Option<&'a str>,
    is_closing: bool,
}

fn tag(text: &str) -> Option<Tag<'_>> {
    let rest = text.strip_prefix('<')?;
    let (is_closing, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
    let end = rest.find('>')?;
    let inside = rest.get(..end)?;
    let name_end = inside.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | ':'));
    let name = inside.get(..name_end.unwrap_or(inside.len()))?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    // `<https://…>` and `<you@example.com>` are links, `<your name>` is a blank to fill in.
    let more = inside.get(name.len()..)?.trim_end_matches('/').trim();
    let is_tag = is_name && !name.contains(':') && (more.is_empty() || more.contains('='));
    let quoted = more.split(['"', '\'']).nth(1);
    let bytes = text.len() - rest.len() + end + 1;
    is_tag.then_some(Tag { bytes, name, attribute: quoted, is_closing })
}

/// A line that is nothing but tags.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TagLine<'a> {
    /// A block begins that counts under this condition: `<important if="you write tests">`.
    Opens(&'a str),
    /// A block ends.
    Closes,
    /// A title in tags: `<summary>More</summary>`, with its level as a heading.
    Title(usize, &'a str),
    /// It only lays out.
    Layout,
}

/// Reads a line that is nothing but tags.
pub(super) fn tag_line(line: &str) -> Option<TagLine<'_>> {
    let mut rest = line.trim();
    if let Some(title) = title_in_tags(rest.strip_prefix("<details>").unwrap_or(rest)) {
        return Some(title);
    }
    let mut found = None;
    while let Some(tag) = tag(rest) {
        rest = rest.get(tag.bytes..)?.trim_start();
        let is_condition =
            |text: &&str| text.split_whitespace().count() > 1 && !text.contains([':', ';', '=']);
        let condition = tag.attribute.filter(is_condition);
        found = Some(match condition {
            _ if tag.is_closing => TagLine::Closes,
            Some(condition) => TagLine::Opens(condition),
            None => found.unwrap_or(TagLine::Layout),
        });
    }
    found.filter(|_| rest.is_empty())
}

/// Reads a line that is a title between tags.
fn title_in_tags(line: &str) -> Option<TagLine<'_>> {
    let opening = tag(line).filter(|tag| !tag.is_closing)?;
    let level = match opening.name {
        "h1" | "title" => 1,
        "h2" => 2,
        "h3" => 3,
        "h4" | "h5" | "h6" | "summary" => 6,
        _ => return None,
    };
    let inside = line.get(opening.bytes..)?.strip_suffix(&format!("</{}>", opening.name))?.trim();
    (!inside.is_empty() && !inside.contains('<')).then_some(TagLine::Title(level, inside))
}

/// Returns an item without the tags around it: `Use fixtures </important>`.
pub(super) fn without_outer_tags(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(start) = text.rfind("</").filter(|_| text.ends_with('>')) {
        let ends_here = |closing: &Tag<'_>| start + closing.bytes == text.len();
        let before = text.get(..start).unwrap_or_default();
        let is_code = !before.matches('`').count().is_multiple_of(2);
        if is_code || !text.get(start..).and_then(tag).is_some_and(|closing| ends_here(&closing)) {
            break;
        }
        text = text.get(..start).unwrap_or_default().trim_end();
    }
    while let Some(opening) = tag(text).filter(|tag| !tag.is_closing) {
        let rest = text.get(opening.bytes..).unwrap_or_default();
        if rest.contains(&format!("</{}>", opening.name)) {
            break;
        }
        text = rest.trim_start();
    }
    text
}

/// Tells whether a line, without the mark of its bullet, is nothing but links, badges and images, or the target of a link.
pub(super) fn is_only_links(line: &str) -> bool {
    let line = line.trim();
    let is_target = line.starts_with('[')
        && line.split_once("]: ").is_some_and(|(name, _)| !name.contains(' '));
    let (mut rest, mut links) = (line, 0);
    loop {
        rest = rest.trim_start_matches(|c: char| {
            !c.is_alphanumeric() && !matches!(c, '[' | '!' | '<' | '`')
        });
        if rest.is_empty() {
            break;
        }
        let Some(bytes) = link(rest).or_else(|| tag(rest).map(|tag| tag.bytes)) else {
            return is_target;
        };
        links += 1;
        rest = rest.get(bytes..).unwrap_or_default();
    }
    links > 0
}

/// Returns the bytes of a link or an image whose label says no more than where it leads.
fn link(text: &str) -> Option<usize> {
    if let Some(address) = text.strip_prefix('<').filter(|rest| rest.starts_with("http")) {
        return Some(address.find('>')? + 2);
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        return Some(text.find(char::is_whitespace).unwrap_or(text.len()));
    }
    let (is_image, label) = match text.strip_prefix("![") {
        Some(label) => (true, label),
        None => (false, text.strip_prefix('[')?),
    };
    // A badge has an image for its label.
    let middle = match label.strip_prefix("![") {
        Some(_) => link(label)? + label.get(link(label)?..)?.find(']')?,
        None => label.find(']')?,
    };
    let after = label.get(middle + 1..)?;
    let close = match after.chars().next()? {
        '(' => after.find(')')?,
        '[' => after.find(']')?,
        _ => return None,
    };
    let is_label = is_image || label.starts_with("![") || after.starts_with("(#");
    let is_label = is_label || !asks(label.get(..middle)?);
    is_label.then(|| text.len() - after.len() + close + 1)
}

/// A link whose label asks for something is a rule.
pub(super) fn asks(label: &str) -> bool {
    let first = label.split_whitespace().next().unwrap_or_default().to_lowercase();
    let begins = "always, never, use, do, don't, prefer, keep, run, avoid, make, write, follow";
    begins.split(", ").any(|word| word == first)
        || label.split_whitespace().count() > LINK_WORDS_MAX
}

/// Nouns for a file, behind `this` and the like, in the languages in which people ask for one to be written.
const ITSELF: &str = "this file, this instruction set, this rule, this ruleset, this document, this doc, this guide, this page, this readme, this section, \
     these guidelines, these instructions, these rules, this rule file, \
     the following guidelines, the following instructions, diese datei, dieses dokument, \
     ce fichier, ce document, este archivo, este documento, este arquivo, este ficheiro, \
     questo file, questo documento, dit bestand, denna fil, ten plik, bu dosya, этот файл, \
     этот документ, данный файл, цей файл, 本文件, 本文档, 此文件, 此文档, 这个文件, 该文件, 本檔案, 此檔案, このファイル, \
     このドキュメント, 本ファイル, 이 파일, 이 문서";

/// Nouns for what a file gives, before `for` and the like: `Guidance for agents that work here.`
const GIVEN: &str = "guidance, guidelines, guide, instructions, context, rules, documentation, notes, \
     project rules, custom instructions, coding guidelines, repository guidelines, \
     development guidelines";

/// Words by which a sentence asks for something, or tells more than what a file is for.
const ASKING: &str = "must, should, shall, always, never, not, don't, keep, update, edit, generated, before, \
     after, if, override, precedence, only";

/// Removes the sentences at the beginning that only say what the file itself is for.
pub(super) fn without_self_description<'a>(text: &'a str, file: &str) -> &'a str {
    let mut rest = text.trim();
    while let Some(end) =
        sentence_end(rest).filter(|end| is_about_itself(rest.get(..*end).unwrap_or_default(), file))
    {
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    rest
}

fn sentence_end(text: &str) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    let ends = text.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '。' | '\n'));
    let mut ends = ends.map(|(at, c)| (at + c.len_utf8(), c));
    let is_end = |(at, c): &(usize, char)| {
        matches!(c, '。' | '\n')
            || text
                .get(*at..)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    };
    Some(ends.find(is_end).map_or(text.len(), |(at, _)| at))
}

fn is_about_itself(sentence: &str, file: &str) -> bool {
    let plain: String =
        sentence.to_lowercase().chars().filter(|c| !matches!(c, '*' | '_' | '`' | '>')).collect();
    let plain = plain.trim();
    let begins = |start: &str| {
        let rest = plain.strip_prefix(start);
        rest.is_some_and(|rest| !start.is_ascii() || rest.starts_with([' ', ',', ':']))
    };
    let asks = plain
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .any(|word| ASKING.split(", ").any(|asking| asking == word));
    let names_file = || {
        let name = file.to_lowercase();
        let rest = plain.strip_prefix(&*name).unwrap_or_default().trim_start();
        ["is ", "provides ", "contains ", "describes ", "gives ", "defines ", "-", "–", "—"]
            .iter()
            .any(|verb| rest.starts_with(verb))
    };
    let gives = || {
        let given = GIVEN.split(", ").find(|noun| begins(noun));
        given.is_some_and(|noun| {
            let rest = plain.get(noun.len()..).unwrap_or_default().trim_start();
            ["for ", "to ", "on "].iter().any(|word| rest.starts_with(word)) && !rest.contains(':')
        })
    };
    // Whom the reader is to play says nothing of the repository.
    let is_role =
        ["you are a ", "you are an ", "act as "].iter().any(|start| plain.starts_with(start));
    // What ends in a colon introduces something.
    !plain.ends_with(':')
        && !asks
        && (is_role || ITSELF.split(", ").any(begins) || names_file() || gives())
}

/// Removes drawings of folders from an item, and the sentence that introduces one.
pub(super) fn without_trees(text: &str) -> String {
    if !text.contains(TREE_MARKS) {
        return text.to_owned();
    }
    let (mut kept, mut fence): (Vec<&str>, Option<Vec<&str>>) = (Vec::new(), None);
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        match (&mut fence, is_fence) {
            (None, true) => fence = Some(vec![line]),
            (None, false) if line.trim_start().starts_with(TREE_MARKS) => {}
            (None, false) => kept.push(line),
            (Some(inside), _) => {
                inside.push(line);
                if is_fence {
                    let inside = fence.take().unwrap_or_default();
                    let draws = inside.iter().any(|line| line.trim_start().starts_with(TREE_MARKS));
                    kept.extend(inside.into_iter().filter(|_| !draws));
                }
            }
        }
    }
    kept.extend(fence.unwrap_or_default());
    kept.join("\n")
}

/// Tells whether an item says nothing: a done task, an empty template, a title, a path alone, a date of the file.
pub(super) fn says_nothing(text: &str, headings_of_file: &[String]) -> bool {
    let text = text.trim();
    let is_one_line = !text.contains('\n');
    let plain =
        text.trim_matches(|c: char| matches!(c, '*' | '_' | '#' | '>' | '-') || c.is_whitespace());
    let is_heading = |line: &str| {
        let line = bare(line.trim_start_matches(['-', '*', '+', ' ']));
        headings_of_file.iter().any(|heading| bare(heading) == line)
    };
    is_done_task(text)
        || is_template(text)
        || text.lines().all(is_heading)
        || (is_one_line
            && (plain.ends_with(':')
                || is_title_in_bold(text)
                || is_path_alone(plain)
                || is_date_of_file(plain)
                || is_blank_word(plain)))
}

/// Tells whether a bullet is a task that is done.
pub(super) fn is_done_task(text: &str) -> bool {
    ["[x] ", "[X] ", "[✓] "].iter().any(|mark| text.starts_with(mark))
        || text.starts_with('✅') && text.ends_with("done")
}

/// The letters and digits of a title, without its number.
fn bare(title: &str) -> String {
    let title =
        title.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    title.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_title_in_bold(text: &str) -> bool {
    let inner = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    let inner = inner.or_else(|| text.strip_prefix("__").and_then(|rest| rest.strip_suffix("__")));
    inner.is_some_and(|inner| {
        !inner.contains("**")
            && !inner.ends_with(['.', '!'])
            && inner.split_whitespace().count() < LABEL_WORDS_MAX
    })
}

fn is_path_alone(text: &str) -> bool {
    let inner = text.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(text);
    let is_path = inner.ends_with('/') || inner.contains('/') || inner.starts_with('.');
    is_path && !inner.contains(char::is_whitespace) && !inner.contains('`') && inner.len() > 1
}

fn is_date_of_file(text: &str) -> bool {
    let lower = text.to_lowercase();
    let label = [
        "last updated",
        "last modified",
        "last reviewed",
        "updated",
        "last update",
        "generated on",
        "created",
    ];
    let is_labelled = label.iter().any(|label| lower.starts_with(label));
    is_labelled
        && lower.chars().any(|c| c.is_ascii_digit())
        && lower.split_whitespace().count() <= 12
}

fn is_blank_word(text: &str) -> bool {
    let word = text.trim_end_matches('.').to_lowercase();
    matches!(
        &*word,
        "n/a"
            | "tbd"
            | "todo"
            | "none"
            | "wip"
            | "coming soon"
            | "to be done"
            | "to be determined"
            | "none yet"
    )
}

/// Tells whether an item is a blank to fill in: in brackets, braces or angles, with no more than a label before it.
pub(super) fn is_template(text: &str) -> bool {
    let mut rest = text.to_owned();
    let mut blanks = 0;
    for (open, close) in
        [("{{", "}}"), ("<%", "%>"), ("[", "]"), ("<", ">"), ("`<", ">`"), ("${", "}")]
    {
        while let Some((start, end)) = blank(&rest, open, close) {
            rest.replace_range(start..end, " ");
            blanks += 1;
        }
    }
    let left = rest.trim_matches(|c: char| !c.is_alphanumeric());
    let is_label = rest
        .trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '`' | '*' | '.'))
        .ends_with([':', '-', '–', '—', '=']);
    blanks > 0
        && (left.is_empty() || (is_label && left.split_whitespace().count() <= LABEL_WORDS_MAX))
}

/// Finds a blank: words between marks, and no link behind them.
fn blank(text: &str, open: &str, close: &str) -> Option<(usize, usize)> {
    let start = text.find(open)?;
    let inner = start + open.len();
    let end = inner + text.get(inner..)?.find(close)?;
    let words = text.get(inner..end)?;
    let after = text.get(end + close.len()..)?;
    let is_link = open == "[" && after.starts_with(['(', '[', ':']);
    let is_box = matches!(words, " " | "x" | "X" | "");
    let is_alert = words.starts_with('!');
    (!is_link && !is_box && !is_alert && !words.contains('\n'))
        .then_some((start, end + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-FILE-10
    #[test]
    fn lines_of_tags_and_links_are_layout() {
        for line in [
            "</details>",
            "<br/>",
            "<p align=\"center\">",
            "<details><summary>",
            "  </important>  ",
        ] {
            assert!(tag_line(line).is_some(), "{line}");
        }
        assert_eq!(
            tag_line("<important if=\"you write tests\">"),
            Some(TagLine::Opens("you write tests"))
        );
        for line in [
            "<your name>",
            "<https://x.example>",
            "a <br>",
            "Vec<String>",
            "",
            "<rule>Use pnpm</rule>",
        ] {
            assert!(tag_line(line).is_none(), "{line}");
        }
        for line in [
            "[Commands](#commands)",
            "[![CI](https://x.example/b.svg)](https://x.example)",
            "![logo](a.png) ![b](c.png)",
            "[a](b) | [c](d) · [e](f)",
            "https://x.example/docs",
            "<https://x.example>",
            "[docs]: https://x.example",
            "<img src=\"a.png\" width=\"200\">",
            "[1. How to build all of the packages](#build)",
        ] {
            assert!(is_only_links(line), "{line}");
        }
        for line in [
            "see [docs](x)",
            "[Always take the colours from tokens.css](docs/x.md)",
            "[ ] write tests",
            "`[a](b)`",
            "",
        ] {
            assert!(!is_only_links(line), "{line}");
        }
    }

    // S-FILE-10
    #[test]
    fn tags_around_an_item_are_removed() {
        for (text, left) in [
            ("Use vitest fixtures </important>", "Use vitest fixtures"),
            ("<rule>Use pnpm</rule>", "Use pnpm"),
            ("Use pnpm </b></rule>", "Use pnpm"),
            ("return `</div>`", "return `</div>`"),
            ("Close with `<a></a>`", "Close with `<a></a>`"),
            ("x < y and y > z", "x < y and y > z"),
        ] {
            assert_eq!(without_outer_tags(text), left, "{text}");
        }
    }

    // S-FILE-10
    #[test]
    fn sentences_about_the_file_itself_are_no_lesson() {
        let left = |text: &'static str| without_self_description(text, "CLAUDE.md");
        for text in [
            "This file provides guidance to Claude Code (claude.ai/code) when working with code in this repository.",
            "This document outlines the conventions of the project.",
            "CLAUDE.md contains what agents need to know.",
            "> **This guide** explains how the service is built.",
            "Guidance for AI agents working in this repository.",
            "Diese Datei enthält Hinweise für Claude Code.",
            "本文件为 Claude Code 提供指导。",
            "You are an expert in TypeScript and React.",
        ] {
            assert_eq!(left(text), "", "{text}");
        }
        assert_eq!(left("This file gives guidance. Use pnpm."), "Use pnpm.");
        for text in [
            "This file must stay below 200 lines.",
            "This file is generated: do not edit it.",
            "Rules for names: snake_case.",
            "This service listens on 4400.",
            "These rules override the ones of the top.",
            "Use pnpm.",
        ] {
            assert_eq!(left(text), text);
        }
    }

    // S-FILE-10
    #[test]
    fn templates_titles_and_done_tasks_say_nothing() {
        let headings = ["Build & Test".to_owned(), "2. Style".to_owned()];
        for text in [
            "[x] done task",
            "[Describe the architecture here]",
            "Project: {{name}}",
            "<your build command>",
            "Build: `<command>`",
            "<% tp.date.now() %>",
            "**Testing**",
            "Before you start:",
            "`src/api/`",
            "Last updated: 2026-01-02",
            "N/A",
            "Build & Test",
            "1. Style",
        ] {
            assert!(says_nothing(text, &headings), "{text}");
        }
        for text in [
            "[ ] write tests first",
            "use `Vec<String>`",
            "**Never push to main!**",
            "run `npm run {{script}}` twice a day",
            "`pnpm test`",
            "Set `<id>` in every request",
            "`src/api/`: handlers",
            "Build fast",
            "see [docs](x)",
            "Tabs, please.",
        ] {
            assert!(!says_nothing(text, &headings), "{text}");
        }
    }

    // S-FILE-10
    #[test]
    fn drawings_of_folders_are_left_out() {
        let tree = "The layout:\n```\napi/\n├── src\n└── tests\n```";
        assert_eq!(without_trees(tree), "The layout:");
        assert_eq!(without_trees("a\n```sh\nls\n```"), "a\n```sh\nls\n```");
        assert_eq!(without_trees("├── src\nUse it"), "Use it");
    }
}
