//! The form in which people write a lesson in their editor: each field begins a line with its name, as the flag of
//! `add` names it. Not here: the editor (`editor`), rules about values (`event::validate`).

use event::{Draft, Problems};
use writer::field_flags::{FLAGS, Flag, FlagGroup, set, values};

/// What begins a line that explains. A plain `#` begins headings and comments that people paste.
const COMMENT: &str = "#:";

/// What begins each further line of a text.
const INDENT: &str = "  ";

/// The field of lessons that never leave this machine.
const PRIVATE: &str = "private";

/// How a form is filled in.
const MANUAL: &str = "\
#: Save this file and close the editor. Without a lesson nothing is saved.
#: Lines that begin with #: are left out. Begin each further line of a text with two spaces.
";

/// Returns the fields of the form, the lesson first.
fn fields() -> impl Iterator<Item = &'static Flag> {
    let is_shown = |flag: &&Flag| matches!(flag.group, FlagGroup::Lesson | FlagGroup::Reach);
    let (lesson, others): (Vec<_>, Vec<_>) =
        FLAGS.iter().filter(is_shown).partition(|flag| flag.long == "lesson");
    lesson.into_iter().chain(others)
}

/// Writes a form with the fields of a draft.
pub(super) fn written(draft: &Draft, title: &str) -> String {
    let mut form = format!("{COMMENT} {title}\n{MANUAL}");
    for flag in fields() {
        form.push_str(&format!("\n{COMMENT} {}\n", flag.text()));
        let values = values(draft, flag.long);
        if values.is_empty() {
            form.push_str(&format!("{}:\n", flag.long));
        }
        for value in values {
            let value = value.trim_end().replace('\n', &format!("\n{INDENT}"));
            form.push_str(&format!("{}: {value}\n", flag.long));
        }
    }
    let private = if draft.private { "yes" } else { "no" };
    form.push_str(&format!(
        "\n{COMMENT} yes: it never leaves this machine\n{PRIVATE}: {private}\n"
    ));
    form
}

/// Reads the fields of a form into a draft that has none of them.
///
/// # Errors
/// Every problem, with its line.
pub(super) fn read(form: &str, draft: Draft) -> Result<Draft, Problems> {
    let mut draft = without_fields(draft);
    let mut problems = Problems::none();
    let mut seen: Vec<&str> = Vec::new();
    for FormField { name, line, text } in values_in(form, &mut problems) {
        let text = text.trim();
        let is_repeatable = FLAGS.iter().any(|flag| flag.long == name && flag.is_repeatable());
        if text.is_empty() {
            continue;
        }
        if seen.contains(&name) && !is_repeatable {
            let message = format!(
                "is given a second time in line {line}; if that line is part of a text, begin it with two spaces"
            );
            problems.add(format!("--{name}"), message);
        }
        seen.push(name);
        match (name, text) {
            (PRIVATE, "yes") => draft.private = true,
            (PRIVATE, "no") => {}
            (PRIVATE, _) => problems.add("--private", format!("must be yes or no, in line {line}")),
            _ => set(&mut draft, name, text.to_owned()),
        }
    }
    problems.or(draft)
}

/// A field as it stands in a form.
struct FormField {
    name: &'static str,
    line: usize,
    text: String,
}

fn values_in(form: &str, problems: &mut Problems) -> Vec<FormField> {
    let mut found: Vec<FormField> = Vec::new();
    let lines = form.trim_start_matches('\u{FEFF}').lines();
    for (line, text) in (1..).zip(lines).filter(|(_, text)| !text.starts_with(COMMENT)) {
        if let Some((name, rest)) = beginning(text) {
            found.push(FormField { name, line, text: rest.trim_start().to_owned() });
        } else if let Some(last) = found.last_mut() {
            last.text.push('\n');
            last.text.push_str(text.strip_prefix(INDENT).unwrap_or(text));
        } else if !text.trim().is_empty() {
            let message =
                format!("line {line} belongs to no field; begin it with lesson: for example");
            problems.add("--form", message);
        }
    }
    found
}

/// Returns the field that a line begins.
fn beginning(line: &str) -> Option<(&'static str, &str)> {
    let (name, rest) = line.split_once(':')?;
    let names = fields().map(|flag| flag.long).chain([PRIVATE]);
    names.into_iter().find(|known| *known == name).map(|known| (known, rest))
}

fn without_fields(draft: Draft) -> Draft {
    let Draft { id, timestamp, agent_id, repo, session_id, source, .. } = draft;
    Draft { id, timestamp, agent_id, repo, session_id, source, ..Draft::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> Draft {
        Draft {
            lesson: Some("do this\n\n  - first\n# not a comment\nlesson: of history".to_owned()),
            event_type: Some("error".to_owned()),
            symptoms: vec!["a\nb".to_owned(), "c".to_owned()],
            tags: vec!["x".to_owned(), "y".to_owned()],
            repo: Some("api".to_owned()),
            private: true,
            ..Draft::default()
        }
    }

    // S-ADD-2
    #[test]
    fn a_form_reads_as_it_was_written() {
        let form = written(&draft(), "A memory");
        assert_eq!(read(&form, draft()), Ok(draft()), "{form}");
        let empty = written(&Draft::default(), "A memory");
        assert_eq!(read(&empty, Draft::default()), Ok(Draft::default()), "{empty}");
        assert_eq!(read(&form.replace('\n', "\r\n"), draft()), Ok(draft()));
    }

    #[test]
    fn what_belongs_nowhere_is_refused_with_its_line() {
        let told = |form: &str| read(form, Draft::default()).unwrap_err().to_string();
        assert!(told("#: x\nhello\nlesson: a").contains("line 2 belongs to no field"));
        assert!(told("lesson: a\nlesson: b").contains("second time in line 2"));
        assert!(told("lesson: a\nprivate: maybe").contains("must be yes or no, in line 2"));
    }
}
