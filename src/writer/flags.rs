//! The command line of `log-memory`, parsed with lexopt because a larger parser would take longer than the
//! append. Not here: rules about fields (`event::validate`).

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::{Long, Short, Value};

use event::{Draft, quoted};
use guard::secrets::redacted;
use store::Durability;

/// The action that the command line selects.
#[derive(Debug, PartialEq)]
pub enum Action {
    /// Print the help.
    Help,
    /// Print the version.
    Version,
    /// Write one event given by flags.
    Record(Box<Draft>),
    /// Write the events that a file or standard input (`-`) contains as JSON.
    RecordJson(PathBuf),
}

/// The whole command line.
#[derive(Debug, PartialEq)]
pub struct Args {
    /// The action.
    pub command: Action,
    /// The directory of the logs, if given.
    pub logs: Option<PathBuf>,
    /// What an acknowledged event must survive.
    pub durability: Durability,
}

/// The flags, and the fields they fill.
const FLAGS: [(&str, &str); 17] = [
    ("type", "event_type"),
    ("repo", "repo"),
    ("context", "context"),
    ("command", "command"),
    ("lesson", "lesson"),
    ("tags", "tags"),
    ("success-rate", "success_rate"),
    ("symptom", "symptoms"),
    ("file", "files"),
    ("agent", "agent_id"),
    ("session", "session_id"),
    ("id", "id"),
    ("timestamp", "timestamp"),
    ("source", "source"),
    ("confidence", "confidence"),
    ("expires", "expires"),
    ("scope", "scope"),
];

/// Characters of an unknown flag that the message repeats.
const FLAG_CHARS_SHOWN: usize = 40;

/// The help of `log-memory`.
pub const HELP: &str = "\
Append one lesson to the shared memory of coding agents and print its id.

Usage: log-memory --type TYPE --lesson TEXT [OPTIONS]
       log-memory --json FILE|-

The lesson:
  --type TYPE          error, success or pattern; also fact, decision, principle, procedure,
                       convention, preference, task, or any other short lower-case name
  --lesson TEXT        what to do next time, in one or two sentences
  --context TEXT       what you were doing, and what went wrong
  --command TEXT       the command that helped
  --tags A,B           keywords to find the lesson by
  --symptom TEXT       how the problem would look next time: the error text (repeatable)
  --file PATH          a file that the lesson is about (repeatable)
  --success-rate X/Y   successes/attempts so far, such as 9/10
  --confidence WORD    stated (seen or told) or inferred (concluded)     [default: stated]
  --expires TIME       until when the lesson counts: a day, a time, or an age from now such as 30d

Whom it is for:
  --scope SCOPE        repo, or global: it applies in every repository          [default: repo]
  --private            it never leaves this machine: it is in no export, no sync and no question
                       to a language model

Where and who (detected unless given):
  --repo REPO          the repository: its name, key or URL  [default: this directory's git remote]
  --agent NAME         who learned it  [default: $AGENT_KNOWLEDGE_AGENT, or the agent running this]
  --session ID         the session it was learned in    [default: $AGENT_KNOWLEDGE_SESSION]
  --logs DIR           the directory of the logs        [default: $AGENT_KNOWLEDGE_LOGS]

How:
  --json FILE|-        read events as JSON (one object, an array, or one object per line) and
                       print a report on each
  --durable            return only when the event is on disk. Without this option the event survives
                       the crash of any process (\"written\"); with it, also a power loss (\"synced\").
                       In both cases: if another process holds the log for 2 seconds, the event goes
                       to the spool. Searches find it there, and the next write moves it into the log
  --id ID, --timestamp TIME, --source WHO   for importing lessons from elsewhere
  -h, --help           print this help
  -V, --version        print the version

Exit codes: 0 written, 64 wrong option, 65 wrong field (all problems are listed, nothing is written),
74 a file could not be read or written, 75 busy (too many writes wait), 78 wrong configuration.
Never 2.

Example:
  log-memory --type error --context 'npm install failed with EACCES' \\
    --command 'sudo chown -R $USER . && npm ci' \\
    --lesson 'verify ownership before npm operations' --tags npm,permissions --success-rate 9/10
";

/// Parses the command line, without the program's name.
///
/// # Errors
/// One sentence about the first error.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Args, String> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut draft = Draft::default();
    let mut parsed = Args { command: Action::Help, logs: None, durability: Durability::Written };
    let mut json = None;
    let mut first_field = None;
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Short('h') | Long("help") => return Ok(Args { command: Action::Help, ..parsed }),
            Short('V') | Long("version") => {
                return Ok(Args { command: Action::Version, ..parsed });
            }
            Long("private") => {
                draft.private = true;
                first_field.get_or_insert("private".to_owned());
            }
            Long("durable") => parsed.durability = Durability::Synced,
            Long("logs") => parsed.logs = Some(value(&mut parser)?.into()),
            Long("json") => json = Some(PathBuf::from(value(&mut parser)?)),
            Long(flag) => {
                let flag = flag.to_owned();
                let text = field_value(&flag, &mut parser)?;
                set(&mut draft, &flag, text);
                first_field.get_or_insert(flag);
            }
            Short(letter) => {
                return Err(format!("-{letter}: unknown option; see log-memory --help"));
            }
            Value(word) => {
                let word = word.to_string_lossy().into_owned();
                return Err(format!(
                    "unexpected word {}; put quotes around a text with spaces",
                    quoted(&word)
                ));
            }
        }
    }
    parsed.command = match (json, first_field) {
        (Some(_), Some(flag)) => {
            return Err(format!(
                "--{flag} cannot be combined with --json; put this field into the JSON instead"
            ));
        }
        (Some(source), None) => Action::RecordJson(source),
        (None, _) => Action::Record(Box::new(draft)),
    };
    Ok(parsed)
}

fn field_value(flag: &str, parser: &mut lexopt::Parser) -> Result<String, String> {
    if FLAGS.iter().any(|(known, _)| *known == flag) {
        return Ok(value(parser)?.to_string_lossy().into_owned());
    }
    let meant = match flag {
        "event-type" | "event_type" | "kind" => Some("type"),
        "tag" => Some("tags"),
        "symptoms" | "error" => Some("symptom"),
        "files" => Some("file"),
        "success_rate" | "success" => Some("success-rate"),
        "agent-id" | "agent_id" => Some("agent"),
        "session-id" | "session_id" => Some("session"),
        _ => None,
    };
    // A flag this long is probably a text without quotes.
    let flag: String = redacted(flag).chars().take(FLAG_CHARS_SHOWN).collect();
    Err(match meant {
        Some(meant) => format!("--{flag}: unknown option; did you mean --{meant}?"),
        None => format!("--{flag}: unknown option; see log-memory --help"),
    })
}

/// Takes the next word unchanged, even if it begins with a dash, as many texts do.
fn value(parser: &mut lexopt::Parser) -> Result<OsString, String> {
    parser.value().map_err(|error| error.to_string())
}

fn set(draft: &mut Draft, flag: &str, text: String) {
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
        _ => draft.source = Some(text),
    }
}

/// Returns the flag of a field: `event_type` is `--type`.
#[must_use]
pub fn flag_of(field: &str) -> String {
    let name = field.split('[').next().unwrap_or(field);
    match FLAGS.iter().find(|(_, known)| *known == name) {
        Some((flag, _)) => format!("--{flag}"),
        None => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Args, String> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn the_founding_flags_fill_the_founding_fields() {
        let args = parsed(&[
            "--repo",
            "r",
            "--type",
            "error",
            "--context",
            "c",
            "--command",
            "-x",
            "--lesson=l",
            "--tags",
            "a, b",
            "--symptom",
            "s1",
            "--symptom",
            "s2",
            "--durable",
        ])
        .unwrap();
        let Action::Record(draft) = args.command else { panic!() };
        assert_eq!(draft.command.as_deref(), Some("-x"));
        assert_eq!((draft.tags.len(), draft.symptoms.len()), (2, 2));
        assert_eq!(args.durability, Durability::Synced);
    }

    #[test]
    fn a_wrong_option_is_answered_with_the_right_one() {
        assert!(parsed(&["--event-type", "x"]).unwrap_err().contains("did you mean --type?"));
        assert!(parsed(&["--nonsense"]).unwrap_err().contains("--help"));
        assert!(parsed(&["--lesson"]).unwrap_err().contains("--lesson"));
        assert!(parsed(&["--lesson", "two", "words"]).unwrap_err().contains("\"words\""));
        assert!(parsed(&["--json", "-", "--type", "x"]).unwrap_err().contains("--type cannot"));
    }

    #[test]
    fn every_flag_is_in_the_help_and_is_set_somewhere() {
        for (flag, field) in FLAGS {
            assert!(HELP.contains(&format!("--{flag}")), "{flag}");
            assert_eq!(flag_of(field), format!("--{flag}"));
            let mut draft = Draft::default();
            set(&mut draft, flag, "x".into());
            assert_ne!(draft, Draft::default(), "{flag}");
        }
    }
}
