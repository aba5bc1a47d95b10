//! The flags that fill the fields of a lesson, once for both programs: `log-memory` and `agent-knowledge add`, and for
//! the form that `add` and `edit` open. Not here: parsing a command line (`flags`, and clap's in `cli`).

use event::Draft;

/// A flag, and the field that it fills.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    /// Its name, without the dashes.
    pub long: &'static str,
    /// The field of the draft.
    pub field: &'static str,
    /// The word for the value in the help.
    pub value: &'static str,
    /// What it is, in lines that fit beside the flag.
    pub lines: &'static [&'static str],
    /// Its group in the help.
    pub group: FlagGroup,
}

/// The groups of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagGroup {
    /// What the lesson says.
    Lesson,
    /// Whom it is for.
    Reach,
    /// Where and by whom it was learned.
    Origin,
    /// What only imports set.
    Import,
}

const fn flag(
    group: FlagGroup,
    long: &'static str,
    field: &'static str,
    value: &'static str,
    lines: &'static [&'static str],
) -> Flag {
    Flag { long, field, value, lines, group }
}

const IMPORT: &[&str] = &["for importing lessons from elsewhere"];

/// The flags, in the order of the help.
pub const FLAGS: [Flag; 18] = [
    flag(
        FlagGroup::Lesson,
        "type",
        "event_type",
        "TYPE",
        &[
            "error, success or pattern; also fact, decision, principle, procedure,",
            "convention, preference, task, or any other short lower-case name",
            "[default: what the words of the lesson suggest]",
        ],
    ),
    flag(
        FlagGroup::Lesson,
        "lesson",
        "lesson",
        "TEXT",
        &["what to do next time, in one or two sentences"],
    ),
    flag(
        FlagGroup::Lesson,
        "context",
        "context",
        "TEXT",
        &["what you were doing, and what went wrong"],
    ),
    flag(FlagGroup::Lesson, "command", "command", "TEXT", &["the command that helped"]),
    flag(FlagGroup::Lesson, "tags", "tags", "A,B", &["keywords to find the lesson by"]),
    flag(
        FlagGroup::Lesson,
        "symptom",
        "symptoms",
        "TEXT",
        &["how the problem would look next time: the error text (repeatable)"],
    ),
    flag(
        FlagGroup::Lesson,
        "file",
        "files",
        "PATH",
        &["a file that the lesson is about (repeatable)"],
    ),
    flag(
        FlagGroup::Lesson,
        "success-rate",
        "success_rate",
        "X/Y",
        &["successes/attempts so far, such as 9/10"],
    ),
    flag(
        FlagGroup::Lesson,
        "confidence",
        "confidence",
        "WORD|N",
        &["stated (seen or told), inferred (concluded), or 0 to 1  [default: stated]"],
    ),
    flag(
        FlagGroup::Lesson,
        "expires",
        "expires",
        "TIME",
        &["until when the lesson counts: a day, a time, or an age from now such as 30d"],
    ),
    flag(
        FlagGroup::Reach,
        "scope",
        "scope",
        "SCOPE",
        &["repo, or global: it applies in every repository          [default: repo]"],
    ),
    flag(
        FlagGroup::Origin,
        "repo",
        "repo",
        "REPO",
        &["the repository: name, key or URL  [default: this directory's]"],
    ),
    flag(
        FlagGroup::Origin,
        "folder",
        "folder",
        "PATH",
        &["its package  [default: that of this directory]"],
    ),
    flag(
        FlagGroup::Origin,
        "agent",
        "agent_id",
        "NAME",
        &["who learned it  [default: $AGENT_KNOWLEDGE_AGENT, the agent at work, or you]"],
    ),
    flag(
        FlagGroup::Origin,
        "session",
        "session_id",
        "ID",
        &["the session it was learned in    [default: $AGENT_KNOWLEDGE_SESSION]"],
    ),
    flag(FlagGroup::Import, "id", "id", "ID", IMPORT),
    flag(FlagGroup::Import, "timestamp", "timestamp", "TIME", IMPORT),
    flag(FlagGroup::Import, "source", "source", "WHO", IMPORT),
];

impl Flag {
    /// Returns the flag of this name. Searches have options for the same fields, whose names work here too.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FLAGS.iter().find(|flag| flag.long == name || flag.other_names().contains(&name))
    }

    /// Its other names, which the help does not show.
    #[must_use]
    pub fn other_names(&self) -> &'static [&'static str] {
        match self.long {
            "type" => &["kind"],
            "tags" => &["tag"],
            "symptom" => &["symptoms"],
            "file" => &["files"],
            "folder" => &["package"],
            _ => &[],
        }
    }

    /// Tells whether the flag may be given several times.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        matches!(self.long, "tags" | "symptom" | "file")
    }

    /// Returns what it is, in one line.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.lines.iter().flat_map(|line| line.split_whitespace());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns its lines of the help.
    pub(crate) fn help_lines(&self) -> String {
        let name = format!("--{} {}", self.long, self.value);
        let mut lines = self.lines.iter();
        let first = lines.next().copied().unwrap_or_default();
        let further = lines.map(|line| format!("{:23}{line}\n", ""));
        format!("  {name:<21}{first}\n{}", further.collect::<String>())
    }
}

/// Sets the field of a flag, or adds to it.
pub fn set(draft: &mut Draft, flag: &str, text: String) {
    match flag {
        "type" => draft.event_type = Some(text),
        "repo" => draft.repo = Some(text),
        "context" => draft.context = Some(text),
        "command" => draft.command = Some(text),
        "lesson" => draft.lesson = Some(text),
        "tags" => draft.tags.extend(text.split(',').map(|tag| tag.trim().to_owned())),
        "success-rate" => draft.success_rate = Some(text),
        "symptom" => draft.symptoms.push(text),
        "file" => draft.files.push(text),
        "agent" => draft.agent_id = Some(text),
        "session" => draft.session_id = Some(text),
        "id" => draft.id = Some(text),
        "timestamp" => draft.timestamp = Some(text),
        "confidence" => draft.confidence = Some(text),
        "expires" => draft.expires = Some(text),
        "scope" => draft.scope = Some(text),
        "folder" => draft.folder = Some(text),
        _ => draft.source = Some(text),
    }
}

/// Returns the values of a flag's field, as [`set`] takes them.
#[must_use]
pub fn values(draft: &Draft, flag: &str) -> Vec<String> {
    let value = match flag {
        "tags" => Some(draft.tags.join(", ")).filter(|tags| !tags.is_empty()),
        "symptom" => return draft.symptoms.clone(),
        "file" => return draft.files.clone(),
        "type" => draft.event_type.clone(),
        "repo" => draft.repo.clone(),
        "context" => draft.context.clone(),
        "command" => draft.command.clone(),
        "lesson" => draft.lesson.clone(),
        "success-rate" => draft.success_rate.clone(),
        "agent" => draft.agent_id.clone(),
        "session" => draft.session_id.clone(),
        "id" => draft.id.clone(),
        "timestamp" => draft.timestamp.clone(),
        "confidence" => draft.confidence.clone(),
        "expires" => draft.expires.clone(),
        "scope" => draft.scope.clone(),
        "folder" => draft.folder.clone(),
        _ => draft.source.clone(),
    };
    value.into_iter().collect()
}

/// Returns the flag of a field: `event_type` is `--type`.
#[must_use]
pub fn flag_of(field: &str) -> String {
    let name = field.split('[').next().unwrap_or(field);
    match FLAGS.iter().find(|known| known.field == name) {
        Some(flag) => format!("--{}", flag.long),
        None => field.to_owned(),
    }
}
