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

/// The fields whose text may have several lines.
const LONG_TEXTS: [&str; 4] = ["lesson", "context", "command", "symptom"];

/// Most problems that are told: who reads a wrong file by mistake must see what happened.
const PROBLEMS_MAX: usize = 8;

/// How a form is filled in.
const MANUAL: &str = "\
#: Save this file and close the editor. Without a lesson nothing is saved.
#: Lines that begin with #: are left out. Begin each further line of a text with two spaces.
#: Repeat a line, such as symptom:, for another one.
";

/// Returns the fields of the form, the lesson first.
fn fields() -> impl Iterator<Item = &'static Flag> {
    let is_shown = |flag: &&Flag| matches!(flag.group, FlagGroup::Lesson | FlagGroup::Reach);
    let (lesson, others): (Vec<_>, Vec<_>) =
        FLAGS.iter().filter(is_shown).partition(|flag| flag.long == "lesson");
    lesson.into_iter().chain(others)
}

/// Writes a form with the fields of a draft.
pub(crate) fn form_text(draft: &Draft, title: &str) -> String {
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
/// The problems, each with its line.
pub(crate) fn read_form(form: &str, draft: Draft) -> Result<Draft, Problems> {
    let mut draft = without_fields(draft);
    let mut wrong = FormProblems::default();
    let mut seen: Vec<&str> = Vec::new();
    for FormField { name, line, text } in values_in(form, &mut wrong) {
        let text = text.trim();
        let is_repeatable = FLAGS.iter().any(|flag| flag.long == name && flag.is_repeatable());
        if text.is_empty() {
            continue;
        }
        if seen.contains(&name) && !is_repeatable {
            let message = format!(
                "is given a second time in line {line}; if that line is part of a text, begin it with two spaces"
            );
            wrong.add(&format!("--{name}"), message);
        }
        seen.push(name);
        if text.contains('\n') && !LONG_TEXTS.contains(&name) {
            let message = format!("must have one line, in line {line}");
            wrong.add(&format!("--{name}"), message);
        }
        match (name, text) {
            (PRIVATE, "yes") => draft.private = true,
            (PRIVATE, "no") => {}
            (PRIVATE, _) => wrong.add("--private", format!("must be yes or no, in line {line}")),
            _ => set(&mut draft, name, text.to_owned()),
        }
    }
    wrong.problems().or(draft)
}

/// Fills what a form leaves empty.
pub(crate) fn fill(draft: &mut Draft, options: &Draft) {
    for flag in fields() {
        if values(draft, flag.long).is_empty() {
            let values = values(options, flag.long).into_iter();
            values.for_each(|value| set(draft, flag.long, value));
        }
    }
    draft.private |= options.private;
}

/// What is wrong in a form: the first problems, and how many more there are.
#[derive(Default)]
struct FormProblems {
    told: Vec<(String, String)>,
    more: usize,
    /// The first line before all fields, and how many follow it.
    outside: Option<(usize, usize)>,
}

impl FormProblems {
    fn add(&mut self, field: &str, message: String) {
        if self.told.len() < PROBLEMS_MAX {
            self.told.push((field.to_owned(), message));
        } else {
            self.more += 1;
        }
    }

    fn add_outside(&mut self, line: usize) {
        self.outside.get_or_insert((line, 0)).1 += 1;
    }

    fn problems(self) -> Problems {
        let mut problems = Problems::none();
        if let Some((line, count)) = self.outside {
            let lines = match count {
                1 => format!("line {line} belongs"),
                2 => format!("line {line} and 1 other belong"),
                _ => format!("line {line} and {} others belong", count - 1),
            };
            let message = format!("{lines} to no field; a form begins with lesson: and a text");
            problems.add("--form", message);
        }
        for (field, message) in self.told {
            problems.add(field, message);
        }
        if self.more > 0 {
            problems.add("--form", format!("has {} more problems", self.more));
        }
        problems
    }
}

/// A field as it stands in a form.
struct FormField {
    name: &'static str,
    line: usize,
    text: String,
}

fn values_in(form: &str, wrong: &mut FormProblems) -> Vec<FormField> {
    let mut found: Vec<FormField> = Vec::new();
    let lines = form.trim_start_matches('\u{FEFF}').lines();
    for (line, text) in (1..).zip(lines).filter(|(_, text)| !text.starts_with(COMMENT)) {
        if let Some((name, rest)) = beginning(text) {
            found.push(FormField { name, line, text: rest.trim_start().to_owned() });
        } else if let Some((word, remedy)) = misspelt(text) {
            let message = format!(
                "line {line}: {word:?} is no field; {remedy} Text is indented by two spaces"
            );
            wrong.add("--form", message);
        } else if let Some(last) = found.last_mut() {
            last.text.push('\n');
            last.text.push_str(text.strip_prefix(INDENT).unwrap_or(text));
        } else if !text.trim().is_empty() {
            wrong.add_outside(line);
        }
    }
    found
}

/// Returns the word that begins a line where probably a field was meant, and what to write instead.
fn misspelt(line: &str) -> Option<(&str, String)> {
    let (word, _) = line.split_once(':')?;
    let is_letter = |letter: char| letter.is_ascii_lowercase() || "-_".contains(letter);
    if word.is_empty() || !word.chars().all(is_letter) {
        return None;
    }
    let is_it = |flag: &&Flag| flag.field == word || flag.long == word;
    let near = || fields().find(|flag| is_near(flag.long, word)).map(|flag| flag.long);
    let remedy = match fields().find(is_it).map(|flag| flag.long).or_else(near) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("give it as the option --{}.", FLAGS.iter().find(is_it)?.long),
    };
    Some((word, remedy))
}

/// Letters of a beginning, or of a word with one letter too many or too few, that say enough: `con` may be anything.
const NEAR_CHARS_MIN: usize = 4;

/// Tells whether a word is a field's name with one slip, or the beginning of one.
fn is_near(field: &str, word: &str) -> bool {
    if word.len() >= NEAR_CHARS_MIN && field.starts_with(word) {
        return true;
    }
    let same = field.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
    let (field_rest, word_rest) = (field.get(same..).unwrap_or(""), word.get(same..).unwrap_or(""));
    let tails = field_rest.bytes().rev().zip(word_rest.bytes().rev());
    let same_end = tails.take_while(|(a, b)| a == b).count();
    let left = (field_rest.len() - same_end, word_rest.len() - same_end);
    let is_swapped = left == (2, 2) && {
        let mut letters: Vec<char> = word_rest.chars().take(2).collect();
        letters.reverse();
        field_rest.starts_with(letters.iter().collect::<String>().as_str())
    };
    let longer = field.len().max(word.len());
    // Another letter makes another word more easily: a score is no scope.
    matches!(left, (0, 1) | (1, 0)) && longer >= NEAR_CHARS_MIN
        || (left == (1, 1) || is_swapped) && longer > NEAR_CHARS_MIN + 1
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
        let form = form_text(&draft(), "A memory");
        assert_eq!(read_form(&form, draft()), Ok(draft()), "{form}");
        let empty = form_text(&Draft::default(), "A memory");
        assert_eq!(read_form(&empty, Draft::default()), Ok(Draft::default()), "{empty}");
        assert_eq!(read_form(&form.replace('\n', "\r\n"), draft()), Ok(draft()));
    }

    #[test]
    fn what_belongs_nowhere_is_refused_with_its_line() {
        let told = |form: &str| read_form(form, Draft::default()).unwrap_err().to_string();
        assert!(told("#: x\nhello\nlesson: a").contains("line 2 belongs to no field"));
        let many = told(&"hello\n".repeat(3_916));
        assert!(many.contains("line 1 and 3915 others belong to no field"), "{many}");
        assert_eq!(many.lines().count(), 1);
        let many = told(&format!("lesson: a\n{}", "lesson: b\n".repeat(1_000)));
        assert_eq!((many.lines().count(), many.contains("has 992 more")), (9, true), "{many}");
        assert!(told("lesson: a\nlesson: b").contains("second time in line 2"));
        assert!(told("lesson: a\nprivate: maybe").contains("must be yes or no, in line 2"));
    }

    #[test]
    fn a_misspelt_field_is_no_text_of_the_one_before() {
        let told = |form: &str| read_form(form, Draft::default()).unwrap_err().to_string();
        for (word, remedy) in [
            ("symptoms", "did you mean symptom?"),
            ("expire", "did you mean expires?"),
            ("tag", "did you mean tags?"),
            ("lessno", "did you mean lesson?"),
            ("contexts", "did you mean context?"),
            ("event_type", "did you mean type?"),
            ("conf", "did you mean confidence?"),
            ("success_rate", "did you mean success-rate?"),
            ("repo", "give it as the option --repo"),
            ("agent_id", "give it as the option --agent"),
        ] {
            let message = told(&format!("lesson: a\n\n{word}: boom"));
            let expected = format!("line 3: {word:?} is no field; {remedy}");
            assert!(message.contains(&expected), "{message}");
        }
        let kept = "lesson: a\n  symptoms: b\nnote: c\nscore: d\nhttp://x\nerror: e\ncon: f";
        let draft = read_form(kept, Draft::default()).unwrap();
        let lines = draft.lesson.unwrap().lines().count();
        assert_eq!(lines, 7);
        assert!(told("lesson: a\ntags: b\n  c").contains("--tags: must have one line, in line 2"));
        assert!(read_form("lesson: a\nsymptom: b\n  c\ntags: d\n\n", Draft::default()).is_ok());
    }

    // S-ADD-2
    #[test]
    fn options_fill_what_a_form_leaves_empty() {
        let form = "lesson: other\ntags:\n";
        let mut filled = read_form(form, draft()).unwrap();
        fill(&mut filled, &draft());
        let lesson = Some("other".to_owned());
        assert_eq!(filled, Draft { lesson, ..draft() });
    }
}
