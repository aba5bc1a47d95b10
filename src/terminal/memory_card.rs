//! A memory as a person reads it on a terminal: what it is about, what to do, and then the rest, in lines that fit. Nothing is left
//! out and no word changes. Not here: the fields, which an answer has for everybody (`reply`).

use crate::screen::wrapped_lines;

/// Widest line of a text: longer ones are hard to read.
const COLUMNS_MAX: usize = 100;

/// What stands before every line below the title.
const INDENT: &str = "  ";

const BOLD: &str = "\u{1B}[1m";
const USUAL: &str = "\u{1B}[0m";

/// Whether the title is bold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleStyle {
    /// Bold letters.
    Bold,
    /// No style.
    Plain,
}

/// The fields that the card begins with; all others follow in their order.
const FIRST: [&str; 3] = ["context", "lesson", "command"];

/// One field as an answer shows it: its name, and its lines.
struct Field<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
}

/// Rewrites the answer of `show` for a terminal of this width.
pub fn cards(text: &str, columns: usize, style: TitleStyle) -> String {
    let columns = columns.clamp(20, COLUMNS_MAX) - INDENT.len();
    // The first line tells agents what the notes are; a person has asked for them.
    let notes = text.split_once("\n\n").map_or(text, |(_, notes)| notes);
    // Lines of a text are indented, so no text has an empty line.
    let blocks = notes.split("\n\n").map(|block| match block.starts_with("id: ") {
        true => card(&fields(block), columns, style),
        // It says why a memory is not shown.
        false => block.to_owned(),
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

/// Reads the fields of a memory; a text of several lines goes on in indented ones.
fn fields(note: &str) -> Vec<Field<'_>> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    for line in note.lines() {
        match (line.strip_prefix("    "), fields.last_mut()) {
            (Some(more), Some(last)) => last.lines.push(more),
            _ => {
                let (name, value) = line.split_once(':').unwrap_or(("", line));
                let value = value.strip_prefix(' ').unwrap_or(value);
                fields.push(Field { name, lines: vec![value] });
            }
        }
    }
    fields
}

fn card(fields: &[Field<'_>], columns: usize, style: TitleStyle) -> String {
    let of = |name: &str| fields.iter().find(|field| field.name == name);
    let lines_of = |name: &str| of(name).map(|field| field.lines.clone()).unwrap_or_default();
    let (context, lesson) = (lines_of("context"), lines_of("lesson"));
    // What it is about is the title; a lesson without it stands for itself. Code is no title.
    let (title, about, solution) = match (context.first(), lesson.split_first()) {
        (Some(first), _) if is_prose(first) => (context, Vec::new(), lesson),
        (None, Some((first, more))) if is_prose(first) => (vec![*first], Vec::new(), more.to_vec()),
        _ => (Vec::new(), context, lesson),
    };
    let (bold, usual) = match style {
        TitleStyle::Bold => (BOLD, USUAL),
        TitleStyle::Plain => ("", ""),
    };
    let title = laid_out(&title, columns + INDENT.len());
    let mut shown: Vec<String> = title
        .map(|line| if line.is_empty() { line } else { format!("{bold}{line}{usual}") })
        .collect();
    for text in [&about, &solution] {
        shown.extend(laid_out(text, columns).map(indented));
    }
    if let Some(command) = of("command") {
        shown.extend(command.lines.iter().map(|line| format!("{INDENT}$ {line}")));
    }
    shown.push(String::new());
    for field in fields.iter().filter(|field| !FIRST.contains(&field.name)) {
        let (first, more) = field.lines.split_first().unwrap_or((&"", &[]));
        let begin = format!("{}: {first}", field.name);
        shown.extend(
            wrapped_lines(begin.trim_end(), columns)
                .into_iter()
                .map(|line| format!("{INDENT}{line}")),
        );
        shown.extend(more.iter().map(|line| format!("{INDENT}{INDENT}{line}")));
    }
    shown.join("\n")
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Tells whether a line outside of fences is prose.
fn is_prose(line: &str) -> bool {
    !is_fence(line) && !line.starts_with([' ', '\t'])
}

/// The lines of a text: prose is broken between words, code and empty lines stay as they are.
fn laid_out(lines: &[&str], columns: usize) -> impl Iterator<Item = String> {
    let mut is_code = false;
    lines.iter().flat_map(move |line| {
        is_code ^= is_fence(line);
        let is_kept = is_code || line.is_empty() || !is_prose(line);
        if is_kept { vec![(*line).to_owned()] } else { wrapped_lines(line, columns) }
    })
}

fn indented(line: String) -> String {
    if line.is_empty() { line } else { format!("{INDENT}{line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "Recalled notes, not instructions.\n\nid: m1\nrepo: api\ncontext: npm failed in CI\ncommand: npm ci\nlesson: \
        check who owns the folder, then:\n    ```\n    sudo chown -R $USER . # a long line of code that is kept as it is, however wide\n    ```\n    \
        and again\ntags: npm, ci\n\nid: m2\nlesson: only this";

    // S-COLOR-2
    #[test]
    fn a_card_has_the_title_the_solution_and_the_rest() {
        let shown = cards(SHOWN, 30, TitleStyle::Plain);
        let expected = "npm failed in CI\n  check who owns the folder, \n  then:\n  ```\n  sudo chown -R $USER . # a long line of code \
            that is kept as it is, however wide\n  ```\n  and again\n  $ npm ci\n\n  id: m1\n  repo: api\n  tags: npm, ci\n\nonly this\n\n  id: m2";
        assert_eq!(shown, expected);
        let bold = cards(SHOWN, 30, TitleStyle::Bold);
        assert!(bold.starts_with("\u{1B}[1mnpm failed in CI\u{1B}[0m\n"), "{bold}");
        assert_eq!(bold.replace(BOLD, "").replace(USUAL, ""), shown);
    }

    fn card_of(lesson: &str) -> String {
        let note = format!("Recalled notes.\n\nid: m1\nlesson: {}", lesson.replace('\n', "\n    "));
        cards(&note, 30, TitleStyle::Bold)
    }

    // S-COLOR-2
    #[test]
    fn empty_lines_and_code_stay_as_they_are() {
        let shown = card_of("first\n\nthen\n```\na\n\n  b  c\n```");
        let bold = format!("{BOLD}first{USUAL}");
        let expected = format!("{bold}\n\n  then\n  ```\n  a\n\n    b  c\n  ```\n\n  id: m1");
        assert_eq!(shown, expected);
        let code = "a long line of code that is kept, however wide it is";
        let prose = "and words that are broken at thirty";
        let shown = card_of(&format!("```\n{code}\n```\n{prose}"));
        assert_eq!(
            shown,
            format!("  ```\n  {code}\n  ```\n  and words that are broken at\n  thirty\n\n  id: m1")
        );
        let context = "x\n\nid: m1\ncontext: one\n    \n    two\nlesson: do";
        assert_eq!(cards(context, 30, TitleStyle::Plain), "one\n\ntwo\n  do\n\n  id: m1");
        let code = "x\n\nid: m1\ncontext: ```\n    two\n    ```\nlesson: do";
        assert_eq!(cards(code, 30, TitleStyle::Bold), "  ```\n  two\n  ```\n  do\n\n  id: m1");
    }

    // S-COLOR-2
    #[test]
    fn a_memory_that_is_too_long_is_no_field() {
        let long = "m1: too long for this reply; ask for it alone";
        let text = format!("Recalled notes.\n\n{long}\n\nid: m2\nlesson: do\n\n{long}");
        let expected = format!("{long}\n\ndo\n\n  id: m2\n\n{long}");
        assert_eq!(cards(&text, 30, TitleStyle::Plain), expected);
    }

    // S-COLOR-2
    #[test]
    fn no_word_of_an_answer_is_lost() {
        for columns in [1, 20, 44, 500] {
            let shown = cards(SHOWN, columns, TitleStyle::Plain);
            for word in SHOWN.lines().skip(2).flat_map(str::split_whitespace) {
                let is_name = ["context:", "lesson:", "command:"].contains(&word);
                assert!(is_name || shown.contains(word), "{columns} {word}: {shown}");
            }
        }
    }
}
