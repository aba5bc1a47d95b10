//! The command line of `log-memory`, parsed with lexopt because a larger parser would take longer than the
//! append. Not here: rules about fields (`event::validate`).

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::{Long, Short, Value};

use super::field_flags::{FLAGS, Flag, FlagGroup, set};
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

/// Characters of an unknown flag that the message repeats.
const FLAG_CHARS_SHOWN: usize = 40;

/// Returns the help of `log-memory`.
#[must_use]
pub fn help() -> String {
    let lines_of =
        |group| FLAGS.iter().filter(move |flag| flag.group == group).map(Flag::help_lines);
    let texts = |group| lines_of(group).collect::<String>();
    let (lesson, reach, origin) =
        (texts(FlagGroup::Lesson), texts(FlagGroup::Reach), texts(FlagGroup::Origin));
    format!(
        "{USAGE}{lesson}\nWhom it is for:\n{reach}{PRIVATE}\nWhere and who (detected unless given):\n{origin}{REST}"
    )
}

const USAGE: &str = "\
Append one lesson to the shared memory of coding agents and print its id.

Usage: log-memory --lesson TEXT [--type TYPE] [OPTIONS]
       log-memory --json FILE|-

The lesson:
";

const PRIVATE: &str = "  --private            it never leaves this machine: it is in no export, no sync and no question
                       to a language model
";

const REST: &str = "  --logs DIR           the directory of the logs        [default: $AGENT_KNOWLEDGE_LOGS]

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
                let (long, text) = field_value(&flag, &mut parser)?;
                set(&mut draft, long, text);
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

/// Takes the value of a flag; returns it with the flag's usual name.
fn field_value(flag: &str, parser: &mut lexopt::Parser) -> Result<(&'static str, String), String> {
    if let Some(known) = Flag::named(flag) {
        return Ok((known.long, value(parser)?.to_string_lossy().into_owned()));
    }
    let meant = match flag {
        "event-type" | "event_type" => Some("type"),
        "error" => Some("symptom"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_flags::{flag_of, values};

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
            "--tag",
            "c",
            "--symptom",
            "s1",
            "--symptom",
            "s2",
            "--durable",
        ])
        .unwrap();
        let Action::Record(draft) = args.command else { panic!() };
        assert_eq!(draft.command.as_deref(), Some("-x"));
        assert_eq!((draft.tags.len(), draft.symptoms.len()), (3, 2));
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
        let help = help();
        for Flag { long, field, .. } in FLAGS {
            assert!(help.contains(&format!("--{long}")), "{long}");
            assert_eq!(flag_of(field), format!("--{long}"));
            let mut draft = Draft::default();
            set(&mut draft, long, "x".into());
            assert_ne!(draft, Draft::default(), "{long}");
            assert_eq!(values(&draft, long), ["x"]);
        }
        assert!(help.lines().all(|line| line.chars().count() <= 101), "{help}");
    }
}
